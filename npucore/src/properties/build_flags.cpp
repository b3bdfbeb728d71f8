#include "build_flags.hpp"

#include <algorithm>
#include <tuple>

#include <npucore/error.hpp>

#include "base/text.hpp"

namespace npu::internal {
namespace {

using base::text;

bool at_least(ir::CompilerVersion version, int major, int minor) {
  return std::tuple<int, int>(version.major, version.minor) >= std::tuple(major, minor);
}

const char* flag_of(ElementType type) {
  switch (type) {
    case ElementType::kBoolean:
      return "BOOL";
    case ElementType::kBF16:
      return "BF16";
    case ElementType::kF16:
      return "FP16";
    case ElementType::kF32:
      return "FP32";
    case ElementType::kF64:
      return "FP64";
    case ElementType::kI4:
      return "I4";
    case ElementType::kI8:
      return "I8";
    case ElementType::kI16:
      return "I16";
    case ElementType::kI32:
      return "I32";
    case ElementType::kI64:
      return "I64";
    case ElementType::kU1:
      return "BIN";
    case ElementType::kU2:
      return "U2";
    case ElementType::kU4:
      return "U4";
    case ElementType::kU8:
      return "U8";
    case ElementType::kU16:
      return "U16";
    case ElementType::kU32:
      return "U32";
    case ElementType::kU64:
      return "U64";
    case ElementType::kNF4:
      return "NF4";
    case ElementType::kF8E4M3:
      return "FP8_E4M3";
    case ElementType::kF8E5M2:
      return "FP8_E5M2";
    case ElementType::kF8E8M0:
      return "FP8_E8M0";
    default:
      return "UNSPECIFIED";
  }
}

/// The compiler wants a layout per argument, but takes the real order of axes from the model.
const char* layout_name(std::size_t rank) {
  constexpr const char* kByRank[] = {"**SCALAR**", "C", "NC", "CHW", "NCHW", "NCDHW"};
  return rank < std::size(kByRank) ? kByRank[rank] : "BLOCKED";
}

template <class Describe>
std::string io_option(const char* option, const std::vector<ir::FlagPort>& ports, bool by_index,
                      Describe describe) {
  std::vector<std::string> words;
  for (std::size_t index = 0; index < ports.size(); ++index) {
    words.push_back(
        text(by_index ? std::to_string(index) : ports[index].name, ':', describe(ports[index])));
  }
  return text("--", option, "=\"", base::join(words, " "), '"');
}

/// Compilers before 5.4 know tiles as DPU groups; those before 5.0 know NPU_... as VPU_..., those
/// before 4.0 as VPUX_....
std::string spelled_for(std::string key, ir::CompilerVersion compiler) {
  if (key == "NPU_TILES" && !at_least(compiler, 5, 4)) {
    key = "NPU_DPU_GROUPS";
  }
  if (at_least(compiler, 5, 0) || key.rfind("NPU_", 0) != 0) return key;
  return (at_least(compiler, 4, 0) ? "VPU_" : "VPUX_") + key.substr(4);
}

void check_option(const std::string& key, const std::string& value) {
  const bool bad_key = key.empty() || key.find_first_of(" \t\n\"=") != std::string::npos;
  if (bad_key || value.find_first_of("\"\n") != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument,
                text("compiler option ", key, "=", value,
                     " cannot be passed on: names have no blanks and no '=', values no quotes"));
  }
}

}  // namespace

std::string build_flags(const ir::FlagPorts& ports, ir::CompilerVersion compiler,
                        const std::map<std::string, std::string>& config) {
  const bool by_index = at_least(compiler, 5, 9);
  const auto precision = [](const ir::FlagPort& port) { return flag_of(port.type); };
  const auto layout = [](const ir::FlagPort& port) { return layout_name(port.rank); };
  std::string flags = io_option("inputs_precisions", ports.inputs, by_index, precision);
  flags += ' ' + io_option("inputs_layouts", ports.inputs, by_index, layout);
  flags += ' ' + io_option("outputs_precisions", ports.outputs, by_index, precision);
  flags += ' ' + io_option("outputs_layouts", ports.outputs, by_index, layout);
  if (!config.empty()) {
    flags += " --config";
  }
  for (const auto& [key, value] : config) {
    check_option(key, value);
    flags += text(' ', spelled_for(key, compiler), "=\"", value, '"');
  }
  return flags;
}

}  // namespace npu::internal
