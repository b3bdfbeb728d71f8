#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/mapping.hpp"
#include "base/unique_fd.hpp"

namespace softnpu {

/// The pages behind a range of the process's addresses, kept as the kernel's driver keeps those of
/// an import, whatever is mapped at the addresses later.
class PinnedPages {
 public:
  /// Null where the machine cannot: no userfaultfd, no room in pipes, a range that somebody else
  /// watches.
  static std::unique_ptr<PinnedPages> of(std::byte* base, size_t size_bytes);

  /// The addresses no longer have these pages.
  bool unmapped() const;
  /// Copies their content, once; null where memory is short.
  Mapping take_content();

 private:
  PinnedPages(std::byte* base, size_t size_bytes) : base_(base), size_bytes_(size_bytes) {}
  bool watch();
  bool hold();

  std::byte* base_;
  size_t size_bytes_;
  UniqueFd watch_;               // a userfaultfd, which a new mapping is not registered with
  std::vector<UniqueFd> pipes_;  // their buffers refer to the pages, in order
};

}  // namespace softnpu
