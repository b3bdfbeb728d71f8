#pragma once

#include <string>

#include <npucore/frame.hpp>

namespace gstnpu {

/// The npu-compile command that compiles `blob` again for frames of `frame`, with everything else
/// as in `preprocess`. Names the IR beside the blob if there is one.
std::string compile_command(const std::string& blob, const npu::Preprocess& preprocess,
                            const npu::FrameLayout& frame);

}  // namespace gstnpu
