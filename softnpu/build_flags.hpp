// The text that comes with an IR: `--inputs_precisions="0:FP32" ... --config KEY="VALUE"
// KEY2="VALUE2"`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace softnpu {

struct BuildFlags {
  std::map<std::string, std::string> config;
  // The four --inputs_/--outputs_ precisions and layouts, as they came. Types and layouts of an IR
  // v11 are the model's own, so that nothing here changes them: Intel's compiler ignores these as
  // well.
  std::map<std::string, std::string> io;

  bool profiling() const;
  // 0 where the text says nothing.
  uint32_t compilation_threads() const;
};

// Throws INVALID_ARGUMENT for a text that is no such list, for an unknown option and for a value
// that an option cannot have.
BuildFlags parse_build_flags(std::string_view text);

// The options that the compiler knows, separated by blanks.
const std::string& supported_options();
// For a null-like empty value: whether the option is known at all.
bool is_option_supported(std::string_view option, std::string_view value);

}  // namespace softnpu
