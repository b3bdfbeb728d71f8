#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include <npucore/device.hpp>

#include "base/mapped_file.hpp"
#include "base/unique_fd.hpp"
#include "device/place.hpp"
#include "dmabuf/dmabuf.hpp"
#include "ze/memory.hpp"

namespace npu::internal {

/// One piece of device memory, shared by the tensors in it. The members are made in this order and
/// destroyed in reverse.
struct Allocation {
  enum class Origin { kDriver, kDmabuf, kHost };

  Place place;  ///< the memory was made in it
  /// The pages of a mapped file, and the same memory in later contexts; null for other memory.
  std::shared_ptr<const base::MappedFile> file;
  ze::Memory memory;
  std::size_t size_bytes = 0;
  Origin origin = Origin::kDriver;
  DmabufSource dmabuf_source = DmabufSource::kNone;
  bool exportable = false;
  bool read_only = false;  ///< for CPU and device
  /// The buffer's descriptor, if it was imported or exported. It keeps the buffer, so that its
  /// identity does not pass to another one.
  base::UniqueFd fd;
  std::atomic<bool> exported = false;        ///< exportable, and has its descriptor now
  std::optional<dmabuf::Identity> identity;  ///< its key in the import cache

  std::mutex successor_mutex;             // guards successor
  std::shared_ptr<Allocation> successor;  ///< the same memory in a later context

  /// The buffer's descriptor, lent to everybody who shares the allocation; -1: none so far.
  int buffer_fd() const { return !exportable || exported.load() ? fd.get() : -1; }
  std::byte* base() const { return static_cast<std::byte*>(memory.address()); }
};

}  // namespace npu::internal
