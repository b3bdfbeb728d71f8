// The text that comes with an IR: `--inputs_precisions="0:FP32" ... --config KEY="VALUE"
// KEY2="VALUE2"`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/version.hpp"

namespace softnpu {

struct BuildFlags {
  /// Options under today's names, whatever prefix they had.
  std::map<std::string, std::string> config;
  /// The four --inputs_/--outputs_ precisions and layouts, as written.
  std::map<std::string, std::string> io;

  bool profiling() const;
  /// The constants come by address: NPU_MODEL_SERIALIZER_VERSION="NO_WEIGHTS_COPY".
  bool weights_by_address() const;
  /// AUTO, PLUGIN or COMPILER; empty if not given.
  std::string batch_mode() const;
  /// Names, separated by commas; empty for none.
  std::string strides_for() const;
};

/// Platform for which every option is known.
constexpr uint32_t kEveryPlatform = UINT32_MAX;

/// Throws INVALID_ARGUMENT for a malformed text, for an option that this compiler does not know for
/// the platform, and for a value that an option cannot have.
BuildFlags parse_build_flags(std::string_view text, CompilerVersion compiler = kDefaultCompiler,
                             uint32_t platform = kEveryPlatform);

/// Parses the flags of a native binary: accepts all that any compiler ever accepted.
BuildFlags parse_recorded_flags(std::string_view text);

/// The options that the compiler knows under today's names, separated by blanks.
std::string supported_options(CompilerVersion compiler = kDefaultCompiler,
                              uint32_t platform = kEveryPlatform);
/// Empty `value`: whether the option is known at all.
bool is_option_supported(std::string_view option, std::string_view value,
                         CompilerVersion compiler = kDefaultCompiler,
                         uint32_t platform = kEveryPlatform);

/// Changes ASCII letters only.
std::string in_capitals(std::string_view text);

}  // namespace softnpu
