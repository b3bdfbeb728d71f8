#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <npucore/device.hpp>
#include <npucore/frame.hpp>
#include <npucore/types.hpp>

#include "states.hpp"

namespace npu::ir {

/// The tools and versions that made a blob; zero or empty if unknown.
struct BuiltWith {
  std::string platform;
  Version compiler, elf, runtime;
  std::uint32_t driver_version = 0;
  std::uint32_t tiles = 0;  ///< of the NPU; not in npucore's own description
  bool operator==(const BuiltWith&) const = default;
};
/// "platform=4000 tiles=4 compiler=7.5 elf=1.2.7 runtime=11.13.0 driver=17301592", without unknown
/// parts.
std::string describe(const BuiltWith& built);

/// npucore's own description of a blob, written beside the driver's blob.
struct BlobDescription {
  std::string model_name;
  std::optional<FrameInput> frame_input;
  std::map<std::string, std::string> model_info;
  std::vector<Port> inputs, outputs;  ///< in argument order
  std::vector<StateValue> states;
  BuiltWith built_with;
};

/// Converts the description to XML text. `compiler_version` is only for people who read the file.
std::string write_description(const BlobDescription& description, std::uint32_t compiler_version);
/// The description in the text. Throws std::invalid_argument that says what is wrong with it.
BlobDescription read_description(std::string_view text);

}  // namespace npu::ir
