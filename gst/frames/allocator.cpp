#include "allocator.hpp"

#include <gst/allocators/gstdmabuf.h>

#include <npucore/error.hpp>

#include "common/gtype.hpp"
#include "common/log.hpp"

#include "tensor_recycler.hpp"

namespace gstnpu {
namespace {

constexpr const char* kMemoryType = "NpuMemory";

/// State of both allocators.
struct Source {
  std::shared_ptr<TensorRecycler> recycler;
  ObjectRef<GstAllocator> fallback;  // DMA-BUF allocator only: for memory without a descriptor
};

struct NpuMemory {
  GstMemory parent;
  DeviceMemoryRef* memory;  // owned; a shared part holds the whole allocation too
};

/// States of the allocators for plain memory and for DMA-BUFs.
struct PlainState : Source {
  PlainState(GstAllocator* allocator, GstAllocatorClass*);
};
struct DmabufState : Source {
  DmabufState(GstDmaBufAllocator* allocator, GstDmaBufAllocatorClass*);
};
using PlainAllocator = ObjectType<GstAllocator, GstAllocatorClass, PlainState>;
using DmabufAllocator = ObjectType<GstDmaBufAllocator, GstDmaBufAllocatorClass, DmabufState>;

NpuMemory* make_memory(GstAllocator* allocator, GstMemory* parent, GstMemoryFlags flags,
                       const DeviceMemoryRef& held, gsize align, gsize offset, gsize size) {
  auto* memory = g_new0(NpuMemory, 1);
  const gsize maxsize = held->tensor.size_bytes();
  memory->memory = hand_over(held);
  gst_memory_init(GST_MEMORY_CAST(memory), flags, allocator, parent, maxsize, align, offset, size);
  return memory;
}

GstMemory* allocate(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  try {
    const auto held =
        PlainAllocator::state_of(allocator).recycler->take(params->prefix + size + params->padding);
    return GST_MEMORY_CAST(
        make_memory(allocator, nullptr, params->flags, held, params->align, params->prefix, size));
  } catch (const npu::Error& error) {
    GST_CAT_ERROR(gstnpu_debug, "no NPU memory of %" G_GSIZE_FORMAT " bytes: %s", size,
                  error.what());
    return nullptr;
  }
}

void free_memory(GstAllocator*, GstMemory* base) {
  auto* memory = reinterpret_cast<NpuMemory*>(base);
  end_of<DeviceMemoryRef>(memory->memory);
  g_free(memory);
}

gpointer map_memory(GstMemory* base, gsize, GstMapFlags) {
  return (*reinterpret_cast<NpuMemory*>(base)->memory)->data;
}

void unmap_memory(GstMemory*) {}

GstMemory* share_memory(GstMemory* base, gssize offset, gssize size) {
  GstMemory* parent = base->parent ? base->parent : base;
  const gsize shared_size =
      size == -1 ? base->size - static_cast<gsize>(offset) : static_cast<gsize>(size);
  const auto flags = static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(parent) |
                                                 GST_MINI_OBJECT_FLAG_LOCK_READONLY);
  return GST_MEMORY_CAST(make_memory(base->allocator, parent, flags,
                                     *reinterpret_cast<NpuMemory*>(base)->memory, base->align,
                                     base->offset + static_cast<gsize>(offset), shared_size));
}

void plain_class_init(GstAllocatorClass* klass) {
  klass->alloc = allocate;
  klass->free = free_memory;
}

PlainState::PlainState(GstAllocator* allocator, GstAllocatorClass*) {
  allocator->mem_type = kMemoryType;
  allocator->mem_map = map_memory;
  allocator->mem_unmap = unmap_memory;
  allocator->mem_share = share_memory;
}

GType plain_type() {
  return PlainAllocator::get<plain_class_init>("NpuAllocator", GST_TYPE_ALLOCATOR);
}

// ---- DMA-BUFs, mapped and bracketed as GStreamer does it

GQuark held_tensor_key() {
  static const GQuark key = g_quark_from_static_string("gst-npu-tensor");
  return key;
}

/// The memory holds the tensor, which owns the descriptor.
GstMemory* make_dmabuf_memory(GstAllocator* allocator, const DeviceMemoryRef& held,
                              const GstAllocationParams& params, gsize size) {
  constexpr auto kFlags =
      static_cast<GstFdMemoryFlags>(GST_FD_MEMORY_FLAG_KEEP_MAPPED | GST_FD_MEMORY_FLAG_DONT_CLOSE);
  GstMemory* memory = gst_dmabuf_allocator_alloc_with_flags(allocator, held->tensor.dmabuf_fd(),
                                                            held->tensor.size_bytes(), kFlags);
  memory->align = params.align;
  memory->offset = params.prefix;
  memory->size = size;
  GST_MINI_OBJECT_FLAG_SET(memory, params.flags);
  gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(memory), held_tensor_key(), hand_over(held),
                            end_of<DeviceMemoryRef>);
  return memory;
}

GstMemory* allocate_dmabuf(GstAllocator* base, gsize size, GstAllocationParams* params) {
  const Source& source = DmabufAllocator::state_of(base);
  try {
    const auto held = source.recycler->take(params->prefix + size + params->padding);
    if (held->tensor.dmabuf_fd() >= 0) return make_dmabuf_memory(base, held, *params, size);
    return GST_MEMORY_CAST(make_memory(source.fallback.get(), nullptr, params->flags, held,
                                       params->align, params->prefix, size));
  } catch (const npu::Error& error) {
    GST_CAT_ERROR(gstnpu_debug, "no NPU memory of %" G_GSIZE_FORMAT " bytes: %s", size,
                  error.what());
    return nullptr;
  }
}

void dmabuf_class_init(GstDmaBufAllocatorClass* klass) {
  GST_ALLOCATOR_CLASS(klass)->alloc = allocate_dmabuf;
}

DmabufState::DmabufState(GstDmaBufAllocator* allocator, GstDmaBufAllocatorClass*) {
  // GstDmaBufAllocator only wraps descriptors; this one allocates.
  GST_OBJECT_FLAG_UNSET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

GType dmabuf_type() {
  return DmabufAllocator::get<dmabuf_class_init>("NpuDmaBufAllocator", GST_TYPE_DMABUF_ALLOCATOR);
}

ObjectRef<GstAllocator> make(GType type) {
  return ObjectRef<GstAllocator>(
      GST_ALLOCATOR_CAST(gst_object_ref_sink(g_object_new(type, nullptr))));
}

}  // namespace

ObjectRef<GstAllocator> make_allocator(const npu::Device& device) {
  // kOutput memory is cached by the CPU; memory for inputs may be write-combined. Decoders read
  // their reference frames back, and elements behind this one read the frame too.
  auto recycler = std::make_shared<TensorRecycler>(device, npu::MemoryUse::kOutput,
                                                   TensorRecycler::Sharing::kShareable);
  ObjectRef<GstAllocator> plain = make(plain_type());
  PlainAllocator::state_of(plain.get()).recycler = recycler;
  if (device.shareable_memory() == npu::DmabufSource::kNone) return plain;
  ObjectRef<GstAllocator> dmabufs = make(dmabuf_type());
  Source& source = DmabufAllocator::state_of(dmabufs.get());
  source.recycler = std::move(recycler);
  source.fallback = std::move(plain);
  return dmabufs;
}

bool makes_dmabufs(GstAllocator* allocator) {
  return G_TYPE_CHECK_INSTANCE_TYPE(allocator, dmabuf_type());
}

bool is_npu_allocator(GstAllocator* allocator) {
  return allocator &&
         (makes_dmabufs(allocator) || G_TYPE_CHECK_INSTANCE_TYPE(allocator, plain_type()));
}

GstMemory* root_of(GstMemory* memory) {
  while (memory->parent) memory = memory->parent;
  return memory;
}

bool is_npu_memory(GstMemory* memory) {
  return is_npu_allocator(memory->allocator);
}

npu::Tensor npu_memory_tensor(GstMemory* memory, const npu::Device& device) {
  if (!is_npu_memory(memory)) return {};
  const bool is_dmabuf = makes_dmabufs(memory->allocator);
  const Source& source = is_dmabuf
                             ? static_cast<Source&>(DmabufAllocator::state_of(memory->allocator))
                             : PlainAllocator::state_of(memory->allocator);
  if (source.recycler->device() != device) return {};
  if (!is_dmabuf) return (*reinterpret_cast<NpuMemory*>(memory)->memory)->tensor;
  const auto* held = static_cast<const DeviceMemoryRef*>(
      gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(root_of(memory)), held_tensor_key()));
  return held ? (*held)->tensor : npu::Tensor();
}

MemoryRef wrap_output(DeviceMemoryRef memory, gsize size_bytes) {
  std::byte* data = memory->data;
  const gsize maxsize = memory->tensor.size_bytes();
  return MemoryRef(gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, data, maxsize, 0, size_bytes,
                                          memory.release(), DeviceMemoryRef::end));
}

}  // namespace gstnpu
