#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/mapping.hpp"
#include "base/unique_fd.hpp"

namespace softnpu {

/// The pages behind a range of addresses, kept like an import in the kernel's driver, whatever is
/// mapped there later.
class PinnedPages {
 public:
  /// Null if the machine cannot: no userfaultfd, no room in pipes, or somebody else watches the
  /// range.
  static std::unique_ptr<PinnedPages> of(std::byte* base, size_t size_bytes);

  /// Whether the addresses no longer have these pages.
  bool unmapped() const;
  /// Copies their content, once; null if memory is short.
  Mapping take_content();

 private:
  PinnedPages(std::byte* base, size_t size_bytes) : base_(base), size_bytes_(size_bytes) {}
  bool watch();
  bool hold();

  std::byte* base_;
  size_t size_bytes_;
  UniqueFd watch_;               // a userfaultfd; a new mapping is not registered with it
  std::vector<UniqueFd> pipes_;  // their buffers refer to the pages, in order
};

}  // namespace softnpu
