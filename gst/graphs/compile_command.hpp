#pragma once

#include <string>

#include <npucore/frame.hpp>

namespace gstnpu {

/// The call of npu-compile that makes `blob` anew for frames of `frame`, with everything else as
/// `preprocess` has it. The IR is looked for beside the blob, where npu-compile takes it from.
std::string compile_command(const std::string& blob, const npu::Preprocess& preprocess,
                            const npu::FrameLayout& frame);

}  // namespace gstnpu
