// Models small enough to read, as text of an OpenVINO IR.
#pragma once

#include <string>

#include "support/bare/ir_writer.hpp"

namespace npu::test {

/// Gives the pixels of its input "image" [1,3,height,width] back as f32.
std::string pixels_ir(int height, int width);

/// pixels_ir of grey pictures, [1,1,height,width]. Height and width other than 3.
std::string grey_ir(int height, int width);

/// Gives its input "image", packed u8 [1,height,width,3], back.
std::string packed_ir(int height, int width);

/// pixels_ir with a height that is not known.
std::string dynamic_ir(int width);

/// A picture of any even size, and blocks of 2x2 of it.
std::string even_ir();

/// pixels_ir with a height that is not known, a second input and output: orig_target_sizes, as
/// RT-DETR's exports have it.
std::string sized_ir(int width);

/// pixels_ir with an operator that no compiler knows between input and output.
std::string unknown_operator_ir(int height, int width);

/// Adds a number that lies in a .bin of 4 bytes.
std::string weighted_ir(int height, int width);

}  // namespace npu::test
