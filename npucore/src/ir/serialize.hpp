#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <npucore/model.hpp>

#include "ir/graph/weights.hpp"

#include "compiler_version.hpp"

namespace npu::ir {

/// A model as a driver's compiler takes it with the format NGRAPH_LITE.
class SerializedModel {
 public:
  SerializedModel(std::unique_ptr<std::byte[]> memory, std::size_t size_bytes,
                  Weights addressed = {})
      : memory_(std::move(memory)), size_bytes_(size_bytes), addressed_(std::move(addressed)) {}
  std::span<const std::byte> bytes() const { return {memory_.get(), size_bytes_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_bytes_;
  Weights addressed_;  ///< target of the addresses in the bytes: the mapping, not a copy
};

/// Classic layout, all integers little-endian and packed: u16 major, u16 minor, u32 2, u64 size of
/// the XML, XML, u64 size of the weights, weights.
SerializedModel serialize(const Model& model, CompilerVersion version);

/// Whether the model can be serialised without its weights: an IR of version 11.
bool can_be_weightless(const Model& model);
/// Throws Error(kUnsupported) if it cannot.
void require_weightless(const Model& model);

/// Weightless layout, for compilers that take NPU_MODEL_SERIALIZER_VERSION="NO_WEIGHTS_COPY": six
/// u64 (offset and size of the version, of the copied constants, of the XML), u16 major, u16 minor,
/// copied constants, XML. Constants of at least `threshold_bytes` stay in place: the XML has their
/// address, which is valid as long as the result lives. Strings and smaller constants are copied.
/// Throws like require_weightless().
SerializedModel serialize_weightless(const Model& model, CompilerVersion version,
                                     std::size_t threshold_bytes = 0);

/// A model's text as a compiler of one version takes it, and the bytes of its constants: all that a
/// serializer in another process needs.
struct PreparedText {
  std::string xml;
  Weights weights;
};
PreparedText prepare_text(const Model& model, CompilerVersion version);
/// Serializes like the calls above. Memory that `prepared.weights` borrows must outlive the result.
SerializedModel serialize(const PreparedText& prepared, CompilerVersion version);
SerializedModel serialize_weightless(PreparedText prepared, CompilerVersion version,
                                     std::size_t threshold_bytes);

/// Room for 20 digits in a model's bytes, to be filled with the address of a constant.
struct OpenAddress {
  std::uint64_t place = 0;   ///< in the bytes
  std::uint64_t offset = 0;  ///< of the constant in the weights
};
/// The weightless layout for a process that has the weights elsewhere, and writes the addresses.
struct PortableModel {
  SerializedModel model;
  std::vector<OpenAddress> addresses;
};
PortableModel serialize_portable(PreparedText prepared, CompilerVersion version,
                                 std::size_t threshold_bytes);

/// XXH3 over the model's text, as edited, and its weights: for the driver's input hash and for
/// caches. Reads the .bin once per Model::read, however often the model is copied, edited or asked.
std::uint64_t content_hash(const Model& model);

/// One argument as the build flags describe it.
struct FlagPort {
  std::string name;  ///< for compilers that know arguments by name: the producing layer's
  ElementType type = ElementType::kUnknown;
  std::size_t rank = 0;
};
struct FlagPorts {
  std::vector<FlagPort> inputs, outputs;  ///< in the order of the graph's arguments
};
FlagPorts flag_ports(const Model& model, CompilerVersion version = {});

}  // namespace npu::ir
