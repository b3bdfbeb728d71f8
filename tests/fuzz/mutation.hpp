#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace npu::fuzz {

/// The choices of one mutation: the same seed makes the same ones.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  /// 0 up to `end`, without it; 0 for an empty range.
  std::size_t below(std::size_t end) { return end == 0 ? 0 : engine_() % end; }
  bool one_in(std::size_t chances) { return below(chances) == 0; }
  template <class Container>
  auto& pick(Container& items) {
    return items[below(std::size(items))];
  }
  /// Small numbers, and those at which sizes and offsets go wrong.
  std::uint64_t number() {
    constexpr std::array<std::uint64_t, 12> kEdges{
        0x7f,       0xff,        0xffff,         0x10000,    0x7fffffff,     0x80000000,
        0xffffffff, 0x100000000, UINT64_MAX / 2, 1ULL << 63, UINT64_MAX - 7, UINT64_MAX};
    return one_in(2) ? below(9) : one_in(2) ? below(5000) : pick(kEdges);
  }

 private:
  std::mt19937 engine_;
};

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// The bytes, as libFuzzer itself would change them.
inline std::string mutate_bytes(std::string bytes, std::size_t room = 64) {
  const auto size = bytes.size();
  bytes.resize(size + room);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
  return bytes;
}

/// Result of a custom mutator: `made`, or a mutation of the old bytes where that is too long.
inline std::size_t give_back(std::string_view made, std::uint8_t* data, std::size_t size,
                             std::size_t max_size) {
  if (made.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(made.begin(), made.end(), data);
  return made.size();
}

/// Little-endian numbers in a text of bytes.
template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value{};
  if (offset <= bytes.size() && sizeof value <= bytes.size() - offset) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}
template <class T>
void put_number(std::string& bytes, std::size_t offset, T value) {
  if (offset > bytes.size() || sizeof value > bytes.size() - offset) return;
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}
template <class T>
void append_number(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace npu::fuzz
