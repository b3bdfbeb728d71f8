#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace npu::ir {

/// Reads little-endian numbers from untrusted bytes. Returns nothing after a read past the end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  std::optional<T> number() {
    const auto bytes = take(sizeof(T));
    if (!bytes) return {};
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(T); i > 0; --i) {
      value = value << 8 | std::to_integer<std::uint64_t>((*bytes)[i - 1]);
    }
    return static_cast<T>(value);
  }
  std::optional<std::span<const std::byte>> take(std::uint64_t size_bytes) {
    if (failed_ || size_bytes > rest_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = rest_.first(size_bytes);
    rest_ = rest_.subspan(size_bytes);
    return taken;
  }
  bool failed() const { return failed_; }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

template <std::unsigned_integral T>
void append_number(std::vector<std::byte>& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
  }
}

}  // namespace npu::ir
