#include "dmabuf_sources.hpp"

#include <array>
#include <utility>

#include <npucore/error.hpp>

#include "base/enum_names.hpp"
#include "base/forked.hpp"
#include "base/log.hpp"
#include "base/mapped_file.hpp"
#include "dmabuf/new_buffer.hpp"

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

dmabuf::NewBuffer new_buffer(DmabufSource source, std::size_t size_bytes) {
  return source == DmabufSource::kUdmabuf ? dmabuf::new_udmabuf(size_bytes)
                                          : dmabuf::new_heap_buffer(size_bytes);
}

}  // namespace

std::shared_ptr<Allocation> DmabufSources::export_new(const Place& place, std::size_t size_bytes,
                                                      Caching caching) {
  auto allocation = imports_.allocate(place, size_bytes, caching, true);
  const base::UniqueFd fd(imports_.export_dmabuf(allocation));
  if (!takes_as_dmabuf(*place.device, fd.get())) {
    throw Error(ErrorCode::kUnsupported, "the memory that the driver exports is not a DMA-BUF");
  }
  allocation->dmabuf_source = DmabufSource::kDriver;
  return allocation;
}

std::shared_ptr<Allocation> DmabufSources::import_new(const Place& place, DmabufSource source,
                                                      std::size_t size_bytes) {
  const dmabuf::NewBuffer made = new_buffer(source, size_bytes);
  if (!made.fd) throw Error(ErrorCode::kUnsupported, made.why_not);
  auto allocation = imports_.import(place, made.fd.get());
  allocation->dmabuf_source = source;
  return allocation;
}

/// Tries one page, outside the import cache, which counts imports.
Finding DmabufSources::try_out(const Place& place, DmabufSource source) {
  Finding result{true, to_string(source), "the NPU reads its DMA-BUFs", ""};
  const std::size_t page = base::page_size_bytes();
  try {
    if (source == DmabufSource::kDriver) {
      export_new(place, page, Caching::kCached);
      return result;
    }
    const dmabuf::NewBuffer made = new_buffer(source, page);
    if (!made.fd) return {false, result.what, made.why_not, made.cure};
    ze::Memory::import_dmabuf(*place.context, made.fd.get(), page);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kDeviceLost) throw;  // says nothing about the next context
    return {false, result.what, error.what(), ""};
  }
  return result;
}

Finding DmabufSources::finding(const std::shared_ptr<Device::Impl>& device, DmabufSource source) {
  base::refuse_after_fork();
  const base::LogsAfterwards logs;
  const std::scoped_lock lock(mutex_);
  if (const auto known = tried_.find(source); known != tried_.end()) return known->second;
  std::optional<Place> place;
  try {
    place = place_on(device);
  } catch (const Error& error) {  // says nothing about the source: not remembered
    return {false, to_string(source), error.what(), ""};
  }
  Finding found = try_out(*place, source);
  if (!found.ok) {
    base::log(LogLevel::kDebug, text("no DMA-BUFs from ", found.what, ": ", found.detail));
  }
  return tried_[source] = std::move(found);
}

DmabufSource DmabufSources::best(const std::shared_ptr<Device::Impl>& device) {
  for (const DmabufSource source : kInOrder) {
    if (finding(device, source).ok) return source;
  }
  return DmabufSource::kNone;
}

std::vector<Finding> DmabufSources::findings(const std::shared_ptr<Device::Impl>& device) {
  std::vector<Finding> all;
  all.reserve(kInOrder.size());
  for (const DmabufSource source : kInOrder) all.push_back(finding(device, source));
  return all;
}

std::shared_ptr<Allocation> DmabufSources::allocate(const std::shared_ptr<Device::Impl>& device,
                                                    std::size_t size_bytes, Caching caching) {
  for (const DmabufSource source : kInOrder) {
    if (!finding(device, source).ok) continue;
    try {
      const Place place = place_on(device);
      return source == DmabufSource::kDriver ? export_new(place, size_bytes, caching)
                                             : import_new(place, source, size_bytes);
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
