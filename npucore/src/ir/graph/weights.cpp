#include "weights.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/hash.hpp"
#include "base/open_input.hpp"

namespace npu::ir {
namespace {

constexpr std::uint64_t kConstantAlignment = 64;

std::optional<FileIdentity> identity_of(const struct stat& status,
                                        const std::filesystem::path& path) {
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return FileIdentity{path, status.st_dev, status.st_ino,
                      static_cast<std::uint64_t>(status.st_size),
                      status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec};
}

}  // namespace

std::optional<FileIdentity> FileIdentity::of(const std::filesystem::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return identity_of(status, path);
}

base::UniqueFd FileIdentity::reopen() const {
  base::UniqueFd fd(::open(path.c_str(), base::kInputFlags));
  struct stat status = {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || identity_of(status, path) != *this) return {};
  return fd;
}

Weights::Weights(base::MappedFile file, std::optional<FileIdentity> identity)
    : mapping_(std::make_shared<Mapping>(std::move(file), std::move(identity))) {}

std::span<const std::byte> Weights::all_file_bytes() const {
  return mapping_ ? mapping_->file.bytes() : borrowed_;
}

base::UniqueFd Weights::reopen_file() const {
  if (!mapping_ || !mapping_->identity) return {};
  return mapping_->identity->reopen();
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
