#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace npu::base {

/// XXH3 with 64 bits over bytes that come in pieces; how they are cut does not matter.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void add(std::span<const std::byte> bytes);
  void add(std::uint64_t number);  ///< as eight bytes, little-endian
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::uint64_t hash_of(std::span<const std::byte> bytes);

}  // namespace npu::base
