// Decoders' answers on buffers, as nputensordec puts them there.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analytics/decoded_answer.hpp"
#include "bridges/bridges.hpp"

namespace gstnpu {

inline Answering answering(const npu::vision::ModelCard& card, const GstNpuInferenceMeta* meta) {
  return {card, std::make_shared<const std::vector<std::string>>(card.labels), meta};
}

inline void attach_to_frame(GstBuffer* buffer, GstNpuInferenceMeta* meta,
                            const npu::vision::Answer& said, const npu::vision::ModelCard& card,
                            npu::vision::FrameSize frame) {
  FrameAnswer answer = take_answer(buffer, frame);
  add_to_frame(answer_of(said, answering(card, meta), frame), &answer);
  write_answer(buffer, std::move(answer));
}

/// Says it of the object that `meta` is of.
inline void attach_to_object(GstBuffer* buffer, GstNpuInferenceMeta* meta,
                             const npu::vision::Answer& said, const npu::vision::ModelCard& card,
                             npu::vision::FrameSize frame) {
  FrameAnswer answer = take_answer(buffer, frame);
  add_to_object(answer_of(said, answering(card, meta), frame), meta->object_id, &answer);
  write_answer(buffer, std::move(answer));
}

inline std::vector<FoundObject> objects_on(GstBuffer* buffer, npu::vision::FrameSize frame) {
  return read_answer(buffer, frame)->objects;
}

}  // namespace gstnpu
