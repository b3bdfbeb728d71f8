#include <algorithm>
#include <utility>

#include <npucore/error.hpp>
#include <npucore/tensor.hpp>

#include "base/api.hpp"
#include "base/log.hpp"
#include "base/mapped_file.hpp"
#include "base/pimpl.hpp"
#include "base/text.hpp"
#include "device/place.hpp"

#include "buffers.hpp"

namespace npu {
namespace {

ze::Memory::CpuCaching caching_of(MemoryUse use) {
  using Caching = ze::Memory::CpuCaching;
  return use == MemoryUse::kInput ? Caching::kWriteCombined : Caching::kCached;
}

void require_bytes(std::size_t size_bytes) {
  if (size_bytes == 0) {
    throw Error(ErrorCode::kInvalidArgument, "Tensor::allocate: a tensor needs at least one byte");
  }
}

}  // namespace

Tensor::Tensor(std::shared_ptr<internal::Allocation> allocation, std::size_t offset,
               std::size_t size, bool read_only, ElementType type, bool is_dense)
    : impl_(std::move(allocation)),
      offset_(offset),
      size_bytes_(size),
      type_(type),
      is_dense_(is_dense),
      read_only_(read_only) {}

Tensor Tensor::allocate(const Device& device, std::size_t size_bytes, MemoryUse use,
                        bool exportable) try {
  require_bytes(size_bytes);
  const internal::Place place = internal::place_on(device);
  auto allocation = internal::buffers_of(place.device)
                        .imports.allocate(place, size_bytes, caching_of(use), exportable);
  return {std::move(allocation), 0, size_bytes};
} catch (...) {
  base::rethrow_as_error();
}

Tensor Tensor::allocate_shareable(const Device& device, std::size_t size_bytes, MemoryUse use) try {
  require_bytes(size_bytes);
  const std::size_t pages_bytes = base::round_up_to_page(size_bytes);
  auto allocation =
      internal::buffers_of(internal::Pimpl::live(device, "Device"))
          .sources.allocate(internal::Pimpl::of(device), pages_bytes, caching_of(use));
  if (!allocation) return allocate(device, pages_bytes, use);
  return {std::move(allocation), 0, pages_bytes};
} catch (...) {
  base::rethrow_as_error();
}

Tensor Tensor::import_dmabuf(const Device& device, int fd, std::size_t offset,
                             std::size_t size) try {
  const internal::Place place = internal::place_on(device);
  auto allocation = internal::buffers_of(place.device).imports.import(place, fd);
  const std::size_t all = allocation->size_bytes;
  if (offset >= all || size > all - offset) {
    throw Error(ErrorCode::kInvalidArgument,
                base::text("Tensor::import_dmabuf: the buffer of fd ", fd, " has ", all,
                           " bytes, not ", size, " at ", offset));
  }
  return {std::move(allocation), offset, size == 0 ? all - offset : size};
} catch (...) {
  base::rethrow_as_error();
}

Tensor Tensor::import_host(const Device& device, HostMemory memory, MemoryUse use) try {
  if (!memory.data || memory.size_bytes == 0) {
    throw Error(ErrorCode::kInvalidArgument, "Tensor::import_host: the memory is null or empty");
  }
  std::string why_not;
  auto* data = static_cast<std::byte*>(memory.data);
  const internal::Place place = internal::place_on(device);
  auto allocation =
      internal::buffers_of(place.device)
          .imports.import_host(place, {data, memory.size_bytes}, use == MemoryUse::kInput, why_not);
  if (!allocation) {
    throw Error(ErrorCode::kUnsupported,
                base::text("Tensor::import_host: ", memory.size_bytes,
                           " bytes of host memory cannot be imported: ", why_not,
                           "; allocate a tensor, or let Request::set_input copy"));
  }
  const auto offset = static_cast<std::size_t>(data - allocation->base());
  return {std::move(allocation), offset, memory.size_bytes};
} catch (...) {
  base::rethrow_as_error();
}

Tensor Tensor::from_file(const Device& device, const std::filesystem::path& path,
                         std::size_t offset, std::size_t size) try {
  const auto file =
      std::make_shared<const base::MappedFile>(base::MappedFile::open_region(path, offset, size));
  const std::size_t lead = offset % base::page_size_bytes();
  const internal::Place place = internal::place_on(device);
  internal::ImportCache& imports = internal::buffers_of(place.device).imports;
  std::string why_not;
  if (auto mapped = imports.import_file(place, file, why_not)) {
    return {std::move(mapped), lead, size};
  }
  base::log(LogLevel::kInfo, base::text(size, " bytes of ", path.string(),
                                        " are copied into driver memory: ", why_not));
  Tensor copy = allocate(device, size, MemoryUse::kInput);
  // Not out of the mapping: a file that is cut meanwhile would end the process.
  base::read_exactly(base::open_input(path), {copy.data(), size}, offset);
  copy.impl_->read_only = true;
  imports.count_copy();
  return copy;
} catch (...) {
  base::rethrow_as_error();
}

std::byte* Tensor::data() const {
  return impl_ ? impl_->base() + offset_ : nullptr;
}

/// The first one. Throws if the tensor does not hold elements of this type, one behind the other.
std::byte* Tensor::elements(ElementType type, std::size_t bytes) const try {
  const auto refuse = [&](const char* why, const char* cure) {
    const bool is_bytes = type_ == ElementType::kUnknown;
    throw Error(ErrorCode::kInvalidArgument,
                base::text("Tensor::as: a tensor of ", size_bytes(), " bytes, ",
                           is_bytes ? "of no type" : base::text("elements of ", to_string(type_)),
                           ", is no span of ", to_string(type), " (", bytes, " bytes each): ", why,
                           "; ", cure));
  };
  if (type_ != ElementType::kUnknown && type_ != type) {
    refuse("its type is another", "ask for its own and convert() f16 and bf16, or read data()");
  }
  if (!is_dense_) {
    refuse("it has strides", "read data() by the strides that it was bound with");
  }
  if (size_bytes() % bytes != 0) {
    refuse("its end cuts one in two", "slice() a whole number of them");
  }
  if (reinterpret_cast<std::uintptr_t>(data()) % bytes != 0) {
    refuse("its address is no multiple of their size", "slice() at a multiple of it");
  }
  return data();
} catch (...) {
  base::rethrow_as_error();
}

Tensor Tensor::slice(std::size_t offset, std::size_t size) const try {
  if (offset > size_bytes() || size > size_bytes() - offset) {
    throw Error(ErrorCode::kInvalidArgument,
                base::text("Tensor::slice: bytes ", offset, " to ", offset, '+', size,
                           " are not inside a tensor of ", size_bytes(), " bytes"));
  }
  return {impl_, offset_ + offset, size, read_only_, type_, is_dense_};
} catch (...) {
  base::rethrow_as_error();
}

int Tensor::export_dmabuf() const try {
  if (!impl_ || !impl_->exportable) {
    throw Error(ErrorCode::kInvalidArgument,
                "Tensor::export_dmabuf: only memory that was allocated as exportable can become a "
                "DMA-BUF");
  }
  return internal::buffers_of(impl_->place.device).imports.export_dmabuf(impl_);
} catch (...) {
  base::rethrow_as_error();
}

DmabufSource Tensor::dmabuf_source() const {
  return impl_ ? impl_->dmabuf_source : DmabufSource::kNone;
}

int Tensor::dmabuf_fd() const {
  return dmabuf_source() == DmabufSource::kNone ? -1 : impl_->fd.get();
}

bool Tensor::is_imported() const {
  return impl_ && impl_->origin == internal::Allocation::Origin::kDmabuf;
}

bool Tensor::is_reachable() const {
  return impl_ && (!impl_->place.context->lost || impl_->fd ||
                   impl_->origin != internal::Allocation::Origin::kDriver);
}

bool Tensor::is_read_only() const {
  return impl_ && (read_only_ || impl_->read_only);
}

struct CpuAccess::Bracket : dmabuf::CpuAccess {
  using dmabuf::CpuAccess::CpuAccess;
};

CpuAccess::CpuAccess(const Tensor& tensor, Kind kind) : tensor_(tensor) {
  const int fd = tensor.dmabuf_fd();
  if (fd < 0 || !dmabuf::is_dmabuf(fd)) return;
  bracket_ = std::make_unique<Bracket>(fd, static_cast<dmabuf::CpuAccess::Kind>(kind));
}

CpuAccess::~CpuAccess() = default;

}  // namespace npu
