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

/// One piece of device memory, shared by the tensors in it. Members are in the order in which they
/// must be made, and unmade the other way round.
struct Allocation {
  enum class Origin { kDriver, kDmabuf, kHost };

  Place place;  ///< that the memory was made in
  /// Where it is a mapped file's: the pages, with what the same memory is in later contexts.
  std::shared_ptr<const base::MappedFile> file;
  ze::Memory memory;
  std::size_t size_bytes = 0;
  Origin origin = Origin::kDriver;
  DmabufSource dmabuf_source = DmabufSource::kNone;
  bool exportable = false;
  bool read_only = false;  ///< for CPU and device
  /// Of the buffer, when it was imported or has been exported: keeps the buffer, and with it its
  /// identity, from being given to another one.
  base::UniqueFd fd;
  std::atomic<bool> exported = false;        ///< it is exportable and has its descriptor now
  std::optional<dmabuf::Identity> identity;  ///< as the import cache knows it

  std::mutex successor_mutex;             // guards successor
  std::shared_ptr<Allocation> successor;  ///< the same memory in a later context

  /// The buffer's descriptor for everybody who shares the allocation; -1: none so far.
  int buffer_fd() const { return !exportable || exported.load() ? fd.get() : -1; }
  std::byte* base() const { return static_cast<std::byte*>(memory.address()); }
};

}  // namespace npu::internal
