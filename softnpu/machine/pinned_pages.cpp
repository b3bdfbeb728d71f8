#include "pinned_pages.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "device.hpp"

namespace softnpu {
namespace {

constexpr size_t kPipeBytes = size_t{1} << 20;  // the limit for unprivileged users
constexpr size_t kMostPinnedBytes = size_t{64} << 20;

// Used only to ask whether a range is registered: nothing is ever made to fault.
UniqueFd open_userfaultfd(uint64_t features) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)));
  uffdio_api api{UFFD_API, features, 0};
  if (!fd || ::ioctl(fd.get(), UFFDIO_API, &api) != 0) return {};
  return fd;
}

uffdio_range range_of(const std::byte* base, size_t size_bytes) {
  return {reinterpret_cast<uintptr_t>(base), size_bytes};
}

bool splice_all(std::byte* base, size_t size_bytes, int pipe) {
  size_t done = 0;
  while (done < size_bytes) {
    const iovec rest{base + done, size_bytes - done};
    const ssize_t spliced = ::vmsplice(pipe, &rest, 1, SPLICE_F_NONBLOCK);
    if (spliced <= 0) return false;
    done += static_cast<size_t>(spliced);
  }
  return true;
}

bool read_all(int pipe, std::byte* target, size_t size_bytes) {
  size_t done = 0;
  while (done < size_bytes) {
    const ssize_t got = ::read(pipe, target + done, size_bytes - done);
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

std::unique_ptr<PinnedPages> PinnedPages::of(std::byte* base, size_t size_bytes) {
  if (size_bytes > kMostPinnedBytes) return nullptr;
  std::unique_ptr<PinnedPages> pages(new PinnedPages(base, size_bytes));
  return pages->watch() && pages->hold() ? std::move(pages) : nullptr;
}

// Watches any memory if the kernel can, else anonymous memory.
bool PinnedPages::watch() {
  constexpr uint64_t kAsyncWriteProtection = uint64_t{1} << 15;
  for (const uint64_t features : {kAsyncWriteProtection, uint64_t{0}}) {
    watch_ = open_userfaultfd(features);
    uffdio_register range{range_of(base_, size_bytes_), UFFDIO_REGISTER_MODE_WP, 0};
    if (watch_ && ::ioctl(watch_.get(), UFFDIO_REGISTER, &range) == 0) return true;
  }
  return false;
}

bool PinnedPages::hold() {
  for (size_t at = 0; at < size_bytes_; at += kPipeBytes) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    UniqueFd out(ends[0]);
    const UniqueFd in(ends[1]);
    pipes_.push_back(std::move(out));
    const size_t part = std::min(kPipeBytes, size_bytes_ - at);
    const bool large_enough = ::fcntl(in.get(), F_SETPIPE_SZ, static_cast<int>(part)) > 0;
    if (!large_enough || !splice_all(base_ + at, part, in.get())) return false;
  }
  return true;
}

// Lifting a write protection that was never set fails if nobody watches the page; watching it again
// fails if another import watches a new mapping. The first and the last page stand for all, because
// the call's time grows with the pages.
bool PinnedPages::unmapped() const {
  const auto watched = [this](const std::byte* page) {
    const uffdio_range range = range_of(page, kPageSize);
    uffdio_writeprotect nothing{range, UFFDIO_WRITEPROTECT_MODE_DONTWAKE};
    uffdio_register again{range, UFFDIO_REGISTER_MODE_WP, 0};
    return ::ioctl(watch_.get(), UFFDIO_WRITEPROTECT, &nothing) == 0 &&
           ::ioctl(watch_.get(), UFFDIO_REGISTER, &again) == 0;
  };
  return !watched(base_) || !watched(base_ + size_bytes_ - kPageSize);
}

Mapping PinnedPages::take_content() {
  Mapping content = Mapping::map(size_bytes_, -1);
  for (size_t i = 0; content && i < pipes_.size(); ++i) {
    const size_t at = i * kPipeBytes;
    const size_t part = std::min(kPipeBytes, size_bytes_ - at);
    if (!read_all(pipes_[i].get(), content.base() + at, part)) return {};
  }
  return content;
}

}  // namespace softnpu
