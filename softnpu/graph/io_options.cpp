#include "io_options.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr std::array<std::string_view, 24> kPrecisions = {
    "FP64", "FP32", "FP16", "BF16", "FP8_E4M3", "FP8_E5M2", "FP8_E8M0", "NF4",
    "I64",  "I32",  "I16",  "I8",   "I4",       "U64",      "U32",      "U16",
    "U8",   "U4",   "U2",   "BIN",  "BOOL",     "DYNAMIC",  "BOOLEAN",  "UNSPECIFIED"};
constexpr std::array<std::string_view, 10> kLayoutNames = {
    "NCDHW", "NDHWC", "NCHW", "NHWC", "CHW", "HWC", "NC", "C", "**SCALAR**", "BLOCKED"};

struct IoOption {
  const char* name;
  ze_graph_argument_type_t type;
  bool layout;
};

constexpr std::array<IoOption, 4> kIoOptions = {{
    {"--inputs_precisions", ZE_GRAPH_ARGUMENT_TYPE_INPUT, false},
    {"--inputs_layouts", ZE_GRAPH_ARGUMENT_TYPE_INPUT, true},
    {"--outputs_precisions", ZE_GRAPH_ARGUMENT_TYPE_OUTPUT, false},
    {"--outputs_layouts", ZE_GRAPH_ARGUMENT_TYPE_OUTPUT, true},
}};

[[noreturn]] void refuse_ports(const std::string& reason) {
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT, "build flags: " + reason);
}

template <size_t kSize>
bool is_one_of(std::string_view text, const std::array<std::string_view, kSize>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_layout(std::string_view text) {
  return is_one_of(text, kLayoutNames) || text.find_first_of("?.") != std::string_view::npos;
}

// The valid names of the arguments of one type. Clients name a producer of several results with or
// without the number of the output.
std::vector<std::string> names_of(const std::vector<Argument>& arguments,
                                  ze_graph_argument_type_t type, bool by_index) {
  std::vector<std::string> names;
  uint32_t index = 0;
  for (const Argument& argument : arguments) {
    if (argument.type != type) continue;
    names.push_back(by_index ? std::to_string(index++) : argument.producer_name);
    if (by_index || type == ZE_GRAPH_ARGUMENT_TYPE_INPUT) continue;
    const std::string& name = argument.producer_name;
    const size_t number = name.find_last_not_of("0123456789") + 1;
    if (number > 1 && number < name.size() && name[number - 1] == '.') {
      names.push_back(name.substr(0, number - 1));
    }
  }
  return names;
}

// `names`: empty if any will do.
void check_entry(const IoOption& option, std::string_view entry,
                 const std::vector<std::string>& names) {
  const size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos) {
    refuse_ports(std::string(option.name) + " has \"" + std::string(entry) +
                 "\", NAME:VALUE is needed");
  }
  const std::string name(entry.substr(0, colon));
  const std::string_view value = entry.substr(colon + 1);
  if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
    refuse_ports(std::string(option.name) + " names \"" + name +
                 "\", which the model does not have");
  }
  if (!(option.layout ? is_layout(value) : is_one_of(in_capitals(value), kPrecisions))) {
    refuse_ports(std::string(option.name) + " has \"" + std::string(value) + "\" for \"" + name +
                 "\"");
  }
}

}  // namespace

void check_io_options(const BuildFlags& flags, const std::vector<Argument>& arguments,
                      bool by_index, CompilerVersion compiler) {
  for (const IoOption& option : kIoOptions) {
    const auto given = flags.io.find(option.name);
    if (given == flags.io.end()) {
      if (!compiler.at_least(7, 4)) {
        refuse_ports("mandatory ioInfo options are missing: " + std::string(option.name));
      }
      continue;
    }
    const auto names = compiler.at_least(8, 4) ? std::vector<std::string>()
                                               : names_of(arguments, option.type, by_index);
    std::string_view rest = given->second;
    while (true) {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
      if (rest.empty()) break;
      const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
      check_entry(option, rest.substr(0, end), names);
      rest.remove_prefix(end);
    }
  }
}

}  // namespace softnpu
