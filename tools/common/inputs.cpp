#include "inputs.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "npy.hpp"

namespace {

using npu::ElementType;
using npu::Error;
using npu::ErrorCode;

std::size_t port_named(const std::vector<npu::Port>& ports, const std::string& name) {
  std::string names;
  for (std::size_t index = 0; index < ports.size(); ++index) {
    if (ports[index].answers_to(name)) return index;
    names += (names.empty() ? "" : ", ") + ports[index].name;
  }
  throw Error(ErrorCode::kNotFound,
              "--input: the model has no input '" + name + "'; it has " + names);
}

/// Index of the input, and the file, of one --input.
std::pair<std::size_t, std::filesystem::path> parse(const std::vector<npu::Port>& ports,
                                                    const std::string& spec) {
  const auto equals = spec.find('=');
  if (equals != std::string::npos) {
    return {port_named(ports, spec.substr(0, equals)), spec.substr(equals + 1)};
  }
  if (ports.size() == 1) return {0, spec};
  throw Error(ErrorCode::kInvalidArgument, "--input needs NAME=FILE for a model with " +
                                               std::to_string(ports.size()) + " inputs, not '" +
                                               spec + "'");
}

[[noreturn]] void refuse_size(const npu::Port& port, const std::filesystem::path& file,
                              const std::string& found) {
  throw Error(ErrorCode::kInvalidArgument,
              "--input: " + file.string() + " has " + found + ", '" + port.name + "' " +
                  npu::to_string(port.type) + npu::to_string(port.shape) + " needs " +
                  std::to_string(port.size_bytes()) + " of raw data, or such an array of NumPy");
}

/// The bytes of a tensor, from a raw file or from NumPy's file of an array.
std::string tensor_bytes(const npu::Port& port, const std::filesystem::path& file) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(file, failed);
  if (failed) {
    throw Error(ErrorCode::kNotFound,
                "--input: cannot read " + file.string() + ": " + failed.message());
  }
  constexpr std::size_t kMostHeaderBytes = std::size_t{64} << 10;
  const auto found = std::to_string(bytes) + " bytes";
  if (bytes > port.size_bytes() + kMostHeaderBytes) {
    refuse_size(port, file, found);
  }
  std::string content = npu::read_input(file, port.size_bytes() + kMostHeaderBytes);
  if (content.size() == port.size_bytes()) return content;
  const auto array = parse_npy(content, file);
  if (!array) {
    refuse_size(port, file, found);
  }
  if (array->type != port.type || array->shape != port.shape ||
      content.size() - array->data_offset != port.size_bytes()) {
    refuse_size(
        port, file,
        std::string("an array ") + npu::to_string(array->type) + npu::to_string(array->shape));
  }
  return content.substr(array->data_offset);
}

template <class T, class Make>
void fill_with(std::span<std::byte> bytes, const Make& make) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const T value = make();
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
}

void fill_random(ElementType type, std::span<std::byte> bytes, unsigned seed) {
  std::mt19937 random(seed);
  const auto bits = [&random](unsigned mask) { return static_cast<unsigned>(random()) & mask; };
  switch (type) {
    case ElementType::kF32:
      return fill_with<float>(bytes, [&] { return static_cast<float>(bits(0xffffff)) / 0x1p24F; });
    case ElementType::kF64:
      return fill_with<double>(bytes, [&] { return bits(0xffffff) / 0x1p24; });
    case ElementType::kF16:  // [0.5,1)
      return fill_with<std::uint16_t>(bytes, [&] { return std::uint16_t(0x3800U | bits(0x3ff)); });
    case ElementType::kBF16:  // [0.5,1)
      return fill_with<std::uint16_t>(bytes, [&] { return std::uint16_t(0x3f00U | bits(0x7f)); });
    case ElementType::kBoolean:
      return fill_with<std::uint8_t>(bytes, [&] { return std::uint8_t(bits(1)); });
    case ElementType::kI16:
    case ElementType::kU16:
      return fill_with<std::uint16_t>(bytes, [&] { return std::uint16_t(bits(1)); });
    case ElementType::kI32:
    case ElementType::kU32:
      return fill_with<std::uint32_t>(bytes, [&] { return bits(1); });
    case ElementType::kI64:
    case ElementType::kU64:
      return fill_with<std::uint64_t>(bytes, [&] { return std::uint64_t(bits(1)); });
    default:
      return fill_with<std::uint8_t>(bytes, [&] { return std::uint8_t(bits(0xff)); });
  }
}

}  // namespace

InputSource::InputSource(const std::vector<npu::Port>& ports, const std::vector<std::string>& specs,
                         unsigned seed)
    : ports_(ports), seed_(seed) {
  for (const auto& spec : specs) {
    const auto [index, file] = parse(ports, spec);
    tensor_bytes(ports[index], file);
    files_[index].push_back(file);
    frames_ = std::max(frames_, files_[index].size());
  }
}

void InputSource::fill(std::size_t index, std::span<std::byte> bytes, std::size_t frame) const {
  bytes = bytes.first(ports_[index].size_bytes());
  const auto files = files_.find(index);
  if (files == files_.end()) {
    const auto salt = static_cast<unsigned>(index + frame * ports_.size());
    return fill_random(ports_[index].type, bytes, seed_ + salt);
  }
  const auto text = tensor_bytes(ports_[index], files->second[frame % files->second.size()]);
  std::memcpy(bytes.data(), text.data(), text.size());
}
