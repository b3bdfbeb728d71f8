#include "bridges.hpp"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "analytics.hpp"
#include "dlstreamer.hpp"
#include "draft.hpp"

namespace gstnpu {
namespace {

using npu::vision::FrameSize;

FrameAnswer empty_answer(GstBuffer* buffer, std::optional<FrameSize> size) {
  FrameAnswer answer;
  answer.frame = size.value_or(FrameSize{});
  if (const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer)) {
    answer.crop_x = crop->x;
    answer.crop_y = crop->y;
  }
  return answer;
}

/// A GstVideoCropMeta that came since, as videocrop adds it where downstream takes it.
Draft followed_crop(GstBuffer* buffer, std::shared_ptr<const FrameAnswer> answer,
                    std::optional<FrameSize> size) {
  const FrameMove move = move_of_crop(buffer, answer->crop_x, answer->crop_y);
  if (move.is_identity()) return Draft(std::move(answer));
  FrameAnswer result = moved(*answer, move, size.value_or(answer->frame));
  const FrameAnswer now = empty_answer(buffer, size);
  result.crop_x = now.crop_x;
  result.crop_y = now.crop_y;
  return Draft(std::move(result));
}

bool is_of_another_frame(const FrameAnswer& answer, std::optional<FrameSize> size) {
  return size && answer.frame.width > 0 &&
         (answer.frame.width != size->width || answer.frame.height != size->height);
}

Draft draft_of(GstBuffer* buffer, std::shared_ptr<const FrameAnswer> answer,
               std::optional<FrameSize> size) {
  if (!answer && gst_npu_buffer_has_lost_answer(buffer)) return Draft(empty_answer(buffer, size));
  Draft draft =
      answer ? followed_crop(buffer, std::move(answer), size) : Draft(empty_answer(buffer, size));
  if (is_of_another_frame(draft.get(), size)) return Draft(empty_answer(buffer, size));
  from_dlstreamer(buffer, size, &draft);
  from_analytics(buffer, &draft);
  return draft;
}

}  // namespace

std::shared_ptr<const FrameAnswer> read_answer(GstBuffer* buffer, std::optional<FrameSize> size) {
  return draft_of(buffer, answer_on(buffer), size).share();
}

/// Where the buffer alone has the answer, it is changed in place.
FrameAnswer take_answer(GstBuffer* buffer, FrameSize size) {
  std::shared_ptr<const FrameAnswer> answer = answer_on(buffer);
  if (!answer) return draft_of(buffer, nullptr, size).take();
  put_answer(buffer, nullptr);
  if (answer.use_count() > 1) return draft_of(buffer, std::move(answer), size).take();
  std::atomic_thread_fence(std::memory_order_acquire);  // others have read it before they let it go
  FrameAnswer own = std::move(const_cast<FrameAnswer&>(*answer));
  return draft_of(buffer, std::make_shared<FrameAnswer>(std::move(own)), size).take();
}

void write_answer(GstBuffer* buffer, FrameAnswer answer) {
  to_analytics(buffer, &answer);
  to_dlstreamer(buffer, &answer);
  put_answer(buffer, std::make_shared<FrameAnswer>(std::move(answer)));
}

}  // namespace gstnpu
