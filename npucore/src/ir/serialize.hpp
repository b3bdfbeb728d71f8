#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "npucore/model.hpp"

namespace npu::ir {

/// Of the driver's compiler, as its graph properties tell it.
struct CompilerVersion {
  std::uint16_t major = 0, minor = 0;
};

/// A model as a driver's compiler takes it with the format NGRAPH_LITE.
class SerializedModel {
 public:
  SerializedModel(std::unique_ptr<std::byte[]> memory, std::size_t size_bytes)
      : memory_(std::move(memory)), size_bytes_(size_bytes) {}
  std::span<const std::byte> bytes() const { return {memory_.get(), size_bytes_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_bytes_;
};

/// Classic layout, all integers little-endian and packed: u16 major, u16 minor, u32 2, u64 size of
/// the XML, XML, u64 size of the weights, weights.
SerializedModel serialize(const Model& model, CompilerVersion version);

/// What the build flags say of one argument.
struct FlagPort {
  std::string name;  ///< for compilers that know arguments by name: the producing layer's
  ElementType type = ElementType::kUnknown;
  std::size_t rank = 0;
};
struct FlagPorts {
  std::vector<FlagPort> inputs, outputs;  ///< in the order of the graph's arguments
};
FlagPorts flag_ports(const Model& model);

}  // namespace npu::ir
