#include "serialize.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <npucore/error.hpp>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "ir/graph/constant.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/model_impl.hpp"
#include "ir/graph/ports.hpp"
#include "ir/graph/xml.hpp"

#include "prepare.hpp"

namespace npu::ir {
namespace {

using base::text;

constexpr std::uint32_t kElements = 2;  // XML and weights
constexpr unsigned kWeightlessIr = 11;
constexpr std::size_t kAddressDigits = 20;  // of the largest address

enum class Addresses { kOfThisProcess, kLeftOpen };

/// Writes numbers and bytes one after the other into memory that is large enough for all.
class Writer {
 public:
  explicit Writer(std::byte* place) : place_(place) {}

  template <std::unsigned_integral T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      *place_++ = static_cast<std::byte>(value >> (8 * i) & 0xff);
    }
  }
  void bytes(std::span<const std::byte> source) {
    place_ = std::copy(source.begin(), source.end(), place_);
  }
  std::byte* place() const { return place_; }

 private:
  std::byte* place_;
};

/// The constants to copy, each once, one behind the other.
class CopiedConstants {
 public:
  /// `most_bytes`: of all together.
  explicit CopiedConstants(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  /// Returns the place that the bytes will have.
  std::uint64_t add(DataRange range, std::span<const std::byte> bytes) {
    const auto [place, added] = offsets_.emplace(std::pair(range.offset, range.size_bytes), size_);
    if (added) {
      parts_.push_back(bytes);
      size_ += bytes.size();
      if (size_ > most_bytes_) {
        throw Error(ErrorCode::kInvalidArgument,
                    text("the model's constants overlap: they take more than ", most_bytes_,
                         " bytes, the size of its weights"));
      }
    }
    return place->second;
  }
  std::uint64_t size_bytes() const { return size_; }
  const std::vector<std::span<const std::byte>>& parts() const { return parts_; }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> offsets_;
  std::vector<std::span<const std::byte>> parts_;
  std::uint64_t size_ = 0;
  std::uint64_t most_bytes_;
};

/// The text for an address: the bytes' own address, or their offset in the weights with as many
/// digits as any address has.
std::string address_text(Addresses addresses, DataRange range, std::span<const std::byte> bytes) {
  if (addresses == Addresses::kOfThisProcess) {
    return std::to_string(reinterpret_cast<std::uintptr_t>(bytes.data()));
  }
  std::string digits = std::to_string(range.offset);
  return digits.insert(0, kAddressDigits - digits.size(), '0');
}

void add_address(pugi::xml_node constant, const std::string& address, std::uint64_t size_bytes) {
  auto rt_info = constant.child("rt_info");
  if (!rt_info) {
    rt_info = made(constant.insert_child_after("rt_info", constant.child("data")));
  }
  auto attribute = add(rt_info, "attribute");
  set(attribute, "name", kPointerAttribute);
  set(attribute, "version", "0");
  set(attribute, "mp", address);
  set(attribute, "ms", size_bytes);
}

void place_data(pugi::xml_node constant, std::uint64_t offset, std::uint64_t size) {
  auto data = constant.child("data");
  set(data, "offset", offset);
  set(data, "size", size);
}

/// Gives each constant of the text an address, or a place among the copied ones.
CopiedConstants divide(const PreparedModel& prepared, std::size_t threshold_bytes,
                       Addresses addresses) {
  CopiedConstants copied(prepared.weights.size_bytes());
  for (auto constant : all_constants(prepared.xml.child("net"))) {
    const auto range = data_range(constant).value_or(DataRange{});
    const auto bytes = prepared.weights.view(range.offset, range.size_bytes);
    const bool is_string =
        std::string_view(constant.child("data").attribute("element_type").value()) == "string";
    if (is_string || bytes.empty() || bytes.size() < threshold_bytes) {
      place_data(constant, copied.add(range, bytes), bytes.size());
    } else {
      place_data(constant, 0, 0);
      add_address(constant, address_text(addresses, range, bytes), bytes.size());
    }
  }
  return copied;
}

/// Finds the open addresses. The attributes are ours: those of the file are gone.
std::vector<OpenAddress> find_open_addresses(std::string_view xml) {
  const std::string before =
      text("<attribute name=\"", kPointerAttribute, "\" version=\"0\" mp=\"");
  std::vector<OpenAddress> found;
  for (auto at = xml.find(before); at != xml.npos; at = xml.find(before, at)) {
    at += before.size();
    OpenAddress address{at, 0};
    std::from_chars(xml.data() + at, xml.data() + xml.size(), address.offset);
    found.push_back(address);
  }
  return found;
}

PortableModel pack_weightless(PreparedModel prepared, CompilerVersion version,
                              std::size_t threshold_bytes,
                              Addresses addresses = Addresses::kOfThisProcess) {
  const auto copied = divide(prepared, threshold_bytes, addresses);
  const auto xml = to_text(prepared.xml);
  std::vector<OpenAddress> open;
  if (addresses == Addresses::kLeftOpen) {
    open = find_open_addresses(xml);
  }
  constexpr std::uint64_t kHeaderSize = 6 * sizeof(std::uint64_t), kVersionSize = 4;
  constexpr std::uint64_t kConstantsOffset = kHeaderSize + kVersionSize;
  const std::uint64_t xml_offset = kConstantsOffset + copied.size_bytes();
  const auto size = xml_offset + xml.size();
  auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
  Writer writer(memory.get());
  for (const std::uint64_t number : {kHeaderSize, kVersionSize, kConstantsOffset,
                                     copied.size_bytes(), xml_offset, std::uint64_t{xml.size()}}) {
    writer.number(number);
  }
  writer.number(version.major);
  writer.number(version.minor);
  for (const auto part : copied.parts()) writer.bytes(part);
  writer.bytes(std::as_bytes(std::span(xml)));
  for (auto& address : open) address.place += xml_offset;
  return {{std::move(memory), size, std::move(prepared.weights)}, std::move(open)};
}

PreparedModel parse(PreparedText prepared) {
  PreparedModel parsed;
  const auto result = parsed.xml.load_buffer(prepared.xml.data(), prepared.xml.size());
  if (!result) {
    throw Error(ErrorCode::kInternal, text("the prepared model is no XML: ", result.description(),
                                           " at byte ", result.offset));
  }
  parsed.weights = std::move(prepared.weights);
  return parsed;
}

std::vector<FlagPort> to_flag_ports(const std::vector<Port>& ports) {
  std::vector<FlagPort> flags;
  flags.reserve(ports.size());
  for (const auto& port : ports) flags.push_back({port.name, port.type, port.shape.size()});
  return flags;
}

}  // namespace

PreparedText prepare_text(const Model& model, CompilerVersion version) {
  auto prepared = prepare(impl_of(model), version);
  return {to_text(prepared.xml), std::move(prepared.weights)};
}

SerializedModel serialize(const Model& model, CompilerVersion version) {
  return serialize(prepare_text(model, version), version);
}

SerializedModel serialize(const PreparedText& prepared, CompilerVersion version) {
  const std::string& xml = prepared.xml;
  const auto weights_size = prepared.weights.size_bytes();
  constexpr std::size_t kFixedBytes = 24;
  const auto size = kFixedBytes + xml.size() + weights_size;
  // Uninitialised: zeroing would touch every page of a large model twice.
  auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
  Writer writer(memory.get());
  writer.number(version.major);
  writer.number(version.minor);
  writer.number(kElements);
  writer.number(std::uint64_t{xml.size()});
  writer.bytes(std::as_bytes(std::span(xml)));
  writer.number(std::uint64_t{weights_size});
  prepared.weights.copy_to(writer.place());
  return {std::move(memory), size};
}

bool can_be_weightless(const Model& model) {
  return impl_of(model).document.version() >= kWeightlessIr;
}

void require_weightless(const Model& model) {
  if (can_be_weightless(model)) return;
  throw Error(ErrorCode::kUnsupported,
              text(impl_of(model).document.title(), " is an IR of version ",
                   impl_of(model).document.version(),
                   ", which compilers take only with its weights copied: set the serializer to "
                   "ALL_WEIGHTS_COPY or AUTO, or convert the model with a current OpenVINO"));
}

SerializedModel serialize_weightless(const Model& model, CompilerVersion version,
                                     std::size_t threshold_bytes) {
  require_weightless(model);
  return pack_weightless(prepare(impl_of(model), version), version, threshold_bytes).model;
}

SerializedModel serialize_weightless(PreparedText prepared, CompilerVersion version,
                                     std::size_t threshold_bytes) {
  return pack_weightless(parse(std::move(prepared)), version, threshold_bytes).model;
}

PortableModel serialize_portable(PreparedText prepared, CompilerVersion version,
                                 std::size_t threshold_bytes) {
  return pack_weightless(parse(std::move(prepared)), version, threshold_bytes,
                         Addresses::kLeftOpen);
}

std::uint64_t content_hash(const Model& model) {
  pugi::xml_document copy;
  add_copy(copy, impl_of(model).document.net());
  const auto xml = to_text(copy);
  base::Hasher hasher;
  hasher.add(std::uint64_t{xml.size()});
  hasher.add(std::as_bytes(std::span(xml)));
  hasher.add(impl_of(model).weights.hash());
  return hasher.value();
}

FlagPorts flag_ports(const Model& model, CompilerVersion version) {
  const auto by = drops_identity(version) ? OutputNames::kWithoutIdentity : OutputNames::kAsInFile;
  return {to_flag_ports(model.inputs()), to_flag_ports(read_outputs(impl_of(model).document, by))};
}

}  // namespace npu::ir
