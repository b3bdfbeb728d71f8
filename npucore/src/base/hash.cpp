#include "hash.hpp"

// Compiles xxhash's functions into this file: no library is needed at run time.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>

namespace npu::base {

struct Hasher::State {
  XXH3_state_t xxh3;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh3);
}

Hasher::~Hasher() = default;

void Hasher::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

void Hasher::add(std::uint64_t number) {
  std::array<std::byte, sizeof number> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(number >> 8 * i);
  add(bytes);
}

std::uint64_t Hasher::value() const {
  return XXH3_64bits_digest(&state_->xxh3);
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace npu::base
