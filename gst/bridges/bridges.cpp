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
void follow_crop(GstBuffer* buffer, std::optional<FrameSize> size, Draft* draft) {
  const FrameAnswer& answer = draft->get();
  const FrameMove move = move_of_crop(buffer, answer.crop_x, answer.crop_y);
  if (move.is_identity()) return;
  FrameAnswer result = moved(answer, move, size.value_or(answer.frame));
  const FrameAnswer now = empty_answer(buffer, size);
  result.crop_x = now.crop_x;
  result.crop_y = now.crop_y;
  *draft = Draft(std::move(result));
}

bool is_of_another_frame(const FrameAnswer& answer, std::optional<FrameSize> size) {
  return size && answer.frame.width > 0 &&
         (answer.frame.width != size->width || answer.frame.height != size->height);
}

/// With the contents of others' metas.
Draft completed(GstBuffer* buffer, Draft draft, std::optional<FrameSize> size) {
  follow_crop(buffer, size, &draft);
  if (is_of_another_frame(draft.get(), size)) return Draft(empty_answer(buffer, size));
  from_dlstreamer(buffer, size, &draft);
  from_analytics(buffer, &draft);
  return draft;
}

/// The answer for a frame that has none.
Draft new_answer(GstBuffer* buffer, std::optional<FrameSize> size) {
  Draft draft(empty_answer(buffer, size));
  if (gst_npu_buffer_has_lost_answer(buffer)) return draft;
  return completed(buffer, std::move(draft), size);
}

}  // namespace

std::shared_ptr<const FrameAnswer> read_answer(GstBuffer* buffer, std::optional<FrameSize> size) {
  auto answer = answer_on(buffer);
  if (!answer) return new_answer(buffer, size).share();
  return completed(buffer, Draft(std::move(answer)), size).share();
}

/// Where the buffer alone has the answer, it is moved out, not copied.
FrameAnswer take_answer(GstBuffer* buffer, FrameSize size) {
  std::shared_ptr<const FrameAnswer> answer = answer_on(buffer);
  if (!answer) return new_answer(buffer, size).take();
  put_answer(buffer, nullptr);
  if (answer.use_count() > 1) return completed(buffer, Draft(std::move(answer)), size).take();
  std::atomic_thread_fence(std::memory_order_acquire);  // others have read it before they let it go
  return completed(buffer, Draft(std::move(const_cast<FrameAnswer&>(*answer))), size).take();
}

void write_answer(GstBuffer* buffer, FrameAnswer answer) {
  to_analytics(buffer, &answer);
  to_dlstreamer(buffer, &answer);
  put_answer(buffer, std::make_shared<FrameAnswer>(std::move(answer)));
}

}  // namespace gstnpu
