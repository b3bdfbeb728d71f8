#include "weights.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace npu::ir {
namespace {

constexpr std::uint64_t kConstantAlignment = 64;

}  // namespace

Weights::Weights(base::MappedFile file) : mapping_(std::make_shared<Mapping>(std::move(file))) {}

Weights::Weights(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : mapping_(std::make_shared<Mapping>(bytes, std::move(owner))) {}

std::span<const std::byte> Weights::all_file_bytes() const {
  return mapping_ ? mapping_->bytes : borrowed_;
}

std::span<const std::byte> Weights::file_bytes() const {
  if (mapping_) {
    mapping_->file.check_unchanged();
  }
  return all_file_bytes();
}

std::uint64_t Weights::append(std::span<const std::byte> constant) {
  const auto padding =
      (kConstantAlignment - size_bytes() % kConstantAlignment) % kConstantAlignment;
  tail_.resize(tail_.size() + padding);
  const auto offset = size_bytes();
  tail_.insert(tail_.end(), constant.begin(), constant.end());
  return offset;
}

std::span<const std::byte> Weights::view(std::uint64_t offset, std::uint64_t size_bytes) const {
  const auto file = file_bytes();
  const auto inside = [&](std::span<const std::byte> bytes, std::uint64_t start) {
    return start <= bytes.size() && size_bytes <= bytes.size() - start;
  };
  if (inside(file, offset)) return file.subspan(offset, size_bytes);
  if (offset < file.size() || !inside(tail_, offset - file.size())) return {};
  return std::span(tail_).subspan(offset - file.size(), size_bytes);
}

void Weights::copy_to(std::byte* target) const {
  const auto file = file_bytes();
  std::copy(file.begin(), file.end(), target);
  std::copy(tail_.begin(), tail_.end(), target + file.size());
}

std::uint64_t Weights::hash() const {
  base::Hasher hasher;
  if (mapping_) {
    const auto file = file_bytes();
    std::call_once(mapping_->hash_once, [&] { mapping_->hash = base::hash_of(file); });
    hasher.add(mapping_->hash);
  }
  hasher.add(tail_);
  return hasher.value();
}

}  // namespace npu::ir
