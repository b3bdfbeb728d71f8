#include "core/dmabuf_sources.hpp"

#include <array>
#include <utility>

#include "base/enum_names.hpp"
#include "base/log.hpp"
#include "base/mapped_file.hpp"
#include "core/device_state.hpp"
#include "dmabuf/new_buffer.hpp"
#include "npucore/error.hpp"

namespace npu {
namespace {

using base::EnumName;

constexpr std::array kSourceNames = {
    EnumName<DmabufSource>{DmabufSource::kNone, "none"},
    EnumName<DmabufSource>{DmabufSource::kDriver, "driver"},
    EnumName<DmabufSource>{DmabufSource::kUdmabuf, "udmabuf"},
    EnumName<DmabufSource>{DmabufSource::kDmaHeap, "dma-heap"},
    EnumName<DmabufSource>{DmabufSource::kProducer, "producer"},
};

}  // namespace

const char* to_string(DmabufSource source) {
  return base::name_of(kSourceNames, source);
}

namespace internal {
namespace {

using base::text;
using Caching = ze::Memory::CpuCaching;

constexpr std::array kInOrder = {DmabufSource::kDriver, DmabufSource::kUdmabuf,
                                 DmabufSource::kDmaHeap};

std::shared_ptr<Allocation> export_new(const std::shared_ptr<DeviceState>& device,
                                       std::size_t size_bytes, Caching caching) {
  auto allocation = allocate(device, device->ze(), size_bytes, caching, true);
  const base::UniqueFd fd(device->imports.export_dmabuf(allocation));
  if (!takes_as_dmabuf(*device, fd.get()))
    throw Error(ErrorCode::kUnsupported, "the driver exports memory that is no DMA-BUF");
  allocation->dmabuf_source = DmabufSource::kDriver;
  return allocation;
}

dmabuf::NewBuffer new_buffer(DmabufSource source, std::size_t size_bytes) {
  return source == DmabufSource::kUdmabuf ? dmabuf::new_udmabuf(size_bytes)
                                          : dmabuf::new_heap_buffer(size_bytes);
}

std::shared_ptr<Allocation> import_new(const std::shared_ptr<DeviceState>& device,
                                       DmabufSource source, std::size_t size_bytes) {
  const dmabuf::NewBuffer made = new_buffer(source, size_bytes);
  if (!made.fd) throw Error(ErrorCode::kUnsupported, made.why_not);
  auto allocation = device->imports.import(device, device->ze(), made.fd.get());
  allocation->dmabuf_source = source;
  return allocation;
}

std::shared_ptr<Allocation> make(const std::shared_ptr<DeviceState>& device, DmabufSource source,
                                 std::size_t size_bytes, Caching caching) {
  return source == DmabufSource::kDriver ? export_new(device, size_bytes, caching)
                                         : import_new(device, source, size_bytes);
}

/// One page, outside the import cache, which counts.
Finding try_out(const std::shared_ptr<DeviceState>& device, DmabufSource source) {
  Finding result{true, to_string(source), "the NPU reads its DMA-BUFs", ""};
  const std::size_t page = base::page_size_bytes();
  try {
    if (source == DmabufSource::kDriver) {
      export_new(device, page, Caching::kCached);
      return result;
    }
    const dmabuf::NewBuffer made = new_buffer(source, page);
    if (!made.fd) return {false, result.what, made.why_not, made.cure};
    ze::Memory::import_dmabuf(*device->ze(), made.fd.get(), page);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kDeviceLost) throw;  // says nothing about the next context
    return {false, result.what, error.what(), ""};
  }
  return result;
}

}  // namespace

Finding DmabufSources::finding(const std::shared_ptr<DeviceState>& device, DmabufSource source) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = tried_.find(source); known != tried_.end()) return known->second;
  Finding found = try_out(device, source);
  if (!found.ok)
    base::log(LogLevel::kDebug, text("no DMA-BUFs from ", found.what, ": ", found.detail));
  return tried_[source] = std::move(found);
}

DmabufSource DmabufSources::best(const std::shared_ptr<DeviceState>& device) {
  for (const DmabufSource source : kInOrder)
    if (finding(device, source).ok) return source;
  return DmabufSource::kNone;
}

std::vector<Finding> DmabufSources::findings(const std::shared_ptr<DeviceState>& device) {
  std::vector<Finding> all;
  all.reserve(kInOrder.size());
  for (const DmabufSource source : kInOrder) all.push_back(finding(device, source));
  return all;
}

std::shared_ptr<Allocation> DmabufSources::allocate(const std::shared_ptr<DeviceState>& device,
                                                    std::size_t size_bytes, Caching caching) {
  for (const DmabufSource source : kInOrder) {
    if (!finding(device, source).ok) continue;
    try {
      return make(device, source, size_bytes, caching);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kDeviceLost) throw;
      base::log(LogLevel::kDebug, text("no DMA-BUF of ", size_bytes, " bytes from ",
                                       to_string(source), ": ", error.what()));
    }
  }
  return nullptr;
}

}  // namespace internal
}  // namespace npu
