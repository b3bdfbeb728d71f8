#pragma once

#include <npuvision/counter.hpp>

#include "answers/frame_answer.hpp"

namespace gstnpu {

/// Adds the counts of the counter's last frame to those of an element in front.
void add_counts(const npu::vision::Counter& counter, FrameCounts* counts);

}  // namespace gstnpu
