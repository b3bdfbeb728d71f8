#include "plugin/allocator.hpp"

#include <gst/allocators/gstdmabuf.h>

#include <npucore/error.hpp>

#include "plugin/log.hpp"
#include "plugin/tensor_recycler.hpp"

namespace gstnpu {
namespace {

constexpr const char* kMemoryType = "NpuMemory";

struct NpuAllocator {
  GstAllocator parent;
  std::shared_ptr<TensorRecycler>* recycler;  // owned
};

struct NpuMemory {
  GstMemory parent;
  std::shared_ptr<const npu::Tensor>* tensor;  // owned; the whole allocation, also in a shared part
};

GType npu_allocator_get_type();

NpuMemory* make_memory(GstAllocator* allocator, GstMemory* parent, GstMemoryFlags flags,
                       const std::shared_ptr<const npu::Tensor>& tensor, gsize align, gsize offset,
                       gsize size) {
  auto* memory = g_new0(NpuMemory, 1);
  const gsize maxsize = tensor->size_bytes();
  memory->tensor = std::make_unique<std::shared_ptr<const npu::Tensor>>(tensor).release();
  gst_memory_init(GST_MEMORY_CAST(memory), flags, allocator, parent, maxsize, align, offset, size);
  return memory;
}

GstMemory* allocate(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  auto& recycler = **reinterpret_cast<NpuAllocator*>(allocator)->recycler;
  try {
    const auto tensor = recycler.take(params->prefix + size + params->padding);
    return GST_MEMORY_CAST(make_memory(allocator, nullptr, params->flags, tensor, params->align,
                                       params->prefix, size));
  } catch (const npu::Error& error) {
    GST_CAT_ERROR(gstnpu_debug, "no NPU memory of %" G_GSIZE_FORMAT " bytes: %s", size,
                  error.what());
    return nullptr;
  }
}

void free_memory(GstAllocator*, GstMemory* base) {
  auto* memory = reinterpret_cast<NpuMemory*>(base);
  const std::unique_ptr<std::shared_ptr<const npu::Tensor>> tensor(memory->tensor);
  g_free(memory);
}

gpointer map_memory(GstMemory* base, gsize, GstMapFlags) {
  return (*reinterpret_cast<NpuMemory*>(base)->tensor)->data();
}

void unmap_memory(GstMemory*) {}

GstMemory* share_memory(GstMemory* base, gssize offset, gssize size) {
  GstMemory* parent = base->parent ? base->parent : base;
  const gsize shared_size =
      size == -1 ? base->size - static_cast<gsize>(offset) : static_cast<gsize>(size);
  const auto flags = static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(parent) |
                                                 GST_MINI_OBJECT_FLAG_LOCK_READONLY);
  return GST_MEMORY_CAST(make_memory(base->allocator, parent, flags,
                                     *reinterpret_cast<NpuMemory*>(base)->tensor, base->align,
                                     base->offset + static_cast<gsize>(offset), shared_size));
}

void npu_allocator_finalize(GObject* object) {
  const std::unique_ptr<std::shared_ptr<TensorRecycler>> recycler(
      reinterpret_cast<NpuAllocator*>(object)->recycler);
  G_OBJECT_CLASS(g_type_class_peek(GST_TYPE_ALLOCATOR))->finalize(object);
}

void npu_allocator_class_init(gpointer klass, gpointer) {
  G_OBJECT_CLASS(klass)->finalize = npu_allocator_finalize;
  GST_ALLOCATOR_CLASS(klass)->alloc = allocate;
  GST_ALLOCATOR_CLASS(klass)->free = free_memory;
}

void npu_allocator_init(GTypeInstance* instance, gpointer) {
  auto* allocator = reinterpret_cast<GstAllocator*>(instance);
  allocator->mem_type = kMemoryType;
  allocator->mem_map = map_memory;
  allocator->mem_unmap = unmap_memory;
  allocator->mem_share = share_memory;
}

GType npu_allocator_get_type() {
  static const GType type = g_type_register_static_simple(
      GST_TYPE_ALLOCATOR, g_intern_static_string("GstNpuAllocator"), sizeof(GstAllocatorClass),
      npu_allocator_class_init, sizeof(NpuAllocator), npu_allocator_init,
      static_cast<GTypeFlags>(0));
  return type;
}

// ---- DMA-BUFs, mapped and bracketed as GStreamer does it

struct NpuDmabufAllocator {
  GstDmaBufAllocator parent;
  GstAllocator* fallback;                     // owned: for what no DMA-BUF has room for
  std::shared_ptr<TensorRecycler>* recycler;  // owned
};

using HeldTensor = std::shared_ptr<const npu::Tensor>;

GQuark held_tensor_key() {
  static const GQuark key = g_quark_from_static_string("gst-npu-tensor");
  return key;
}

/// The descriptor is the tensor's, which the memory holds.
GstMemory* make_dmabuf_memory(GstAllocator* allocator, const HeldTensor& tensor,
                              const GstAllocationParams& params, gsize size) {
  constexpr auto kFlags =
      static_cast<GstFdMemoryFlags>(GST_FD_MEMORY_FLAG_KEEP_MAPPED | GST_FD_MEMORY_FLAG_DONT_CLOSE);
  GstMemory* memory = gst_dmabuf_allocator_alloc_with_flags(allocator, tensor->dmabuf_fd(),
                                                            tensor->size_bytes(), kFlags);
  memory->align = params.align;
  memory->offset = params.prefix;
  memory->size = size;
  GST_MINI_OBJECT_FLAG_SET(memory, params.flags);
  gst_mini_object_set_qdata(
      GST_MINI_OBJECT_CAST(memory), held_tensor_key(),
      std::make_unique<HeldTensor>(tensor).release(), [](gpointer held) {
        const std::unique_ptr<HeldTensor> last(static_cast<HeldTensor*>(held));
      });
  return memory;
}

GstMemory* allocate_dmabuf(GstAllocator* base, gsize size, GstAllocationParams* params) {
  auto* allocator = reinterpret_cast<NpuDmabufAllocator*>(base);
  try {
    const auto tensor = (*allocator->recycler)->take(params->prefix + size + params->padding);
    if (tensor->dmabuf_fd() >= 0) return make_dmabuf_memory(base, tensor, *params, size);
    return GST_MEMORY_CAST(make_memory(allocator->fallback, nullptr, params->flags, tensor,
                                       params->align, params->prefix, size));
  } catch (const npu::Error& error) {
    GST_CAT_ERROR(gstnpu_debug, "no NPU memory of %" G_GSIZE_FORMAT " bytes: %s", size,
                  error.what());
    return nullptr;
  }
}

void npu_dmabuf_allocator_finalize(GObject* object) {
  auto* allocator = reinterpret_cast<NpuDmabufAllocator*>(object);
  const std::unique_ptr<std::shared_ptr<TensorRecycler>> recycler(allocator->recycler);
  const ObjectRef<GstAllocator> fallback(allocator->fallback);
  G_OBJECT_CLASS(g_type_class_peek(GST_TYPE_DMABUF_ALLOCATOR))->finalize(object);
}

void npu_dmabuf_allocator_class_init(gpointer klass, gpointer) {
  G_OBJECT_CLASS(klass)->finalize = npu_dmabuf_allocator_finalize;
  GST_ALLOCATOR_CLASS(klass)->alloc = allocate_dmabuf;
}

void npu_dmabuf_allocator_init(GTypeInstance* instance, gpointer) {
  // GstDmaBufAllocator only wraps descriptors; this one allocates.
  GST_OBJECT_FLAG_UNSET(instance, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

GType npu_dmabuf_allocator_get_type() {
  static const GType type = g_type_register_static_simple(
      GST_TYPE_DMABUF_ALLOCATOR, g_intern_static_string("GstNpuDmaBufAllocator"),
      sizeof(GstDmaBufAllocatorClass), npu_dmabuf_allocator_class_init, sizeof(NpuDmabufAllocator),
      npu_dmabuf_allocator_init, static_cast<GTypeFlags>(0));
  return type;
}

ObjectRef<GstAllocator> make_plain_allocator(const std::shared_ptr<TensorRecycler>& recycler) {
  auto* allocator = static_cast<NpuAllocator*>(g_object_new(npu_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  allocator->recycler = std::make_unique<std::shared_ptr<TensorRecycler>>(recycler).release();
  return ObjectRef<GstAllocator>(GST_ALLOCATOR_CAST(allocator));
}

}  // namespace

ObjectRef<GstAllocator> make_allocator(const npu::Device& device) {
  // kOutput: cached by the CPU. Decoders read their reference frames back, and what follows the
  // element reads the frame too; memory for inputs only may be write-combined.
  auto recycler = std::make_shared<TensorRecycler>(device, npu::MemoryUse::kOutput,
                                                   TensorRecycler::Sharing::kShareable);
  ObjectRef<GstAllocator> plain = make_plain_allocator(recycler);
  if (device.shareable_memory() == npu::DmabufSource::kNone) return plain;
  auto* allocator =
      static_cast<NpuDmabufAllocator*>(g_object_new(npu_dmabuf_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  allocator->fallback = plain.release();
  allocator->recycler =
      std::make_unique<std::shared_ptr<TensorRecycler>>(std::move(recycler)).release();
  return ObjectRef<GstAllocator>(GST_ALLOCATOR_CAST(allocator));
}

bool makes_dmabufs(GstAllocator* allocator) {
  return G_TYPE_CHECK_INSTANCE_TYPE(allocator, npu_dmabuf_allocator_get_type());
}

bool is_npu_allocator(GstAllocator* allocator) {
  return allocator && (makes_dmabufs(allocator) ||
                       G_TYPE_CHECK_INSTANCE_TYPE(allocator, npu_allocator_get_type()));
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
  const auto& recycler = is_dmabuf
                             ? **reinterpret_cast<NpuDmabufAllocator*>(memory->allocator)->recycler
                             : **reinterpret_cast<NpuAllocator*>(memory->allocator)->recycler;
  if (recycler.device().state() != device.state()) return {};
  if (!is_dmabuf) return **reinterpret_cast<NpuMemory*>(memory)->tensor;
  const auto* held = static_cast<const HeldTensor*>(
      gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(root_of(memory)), held_tensor_key()));
  return held ? **held : npu::Tensor();
}

MemoryRef wrap_output(std::shared_ptr<const npu::Tensor> tensor, gsize size_bytes) {
  using Holder = std::shared_ptr<const npu::Tensor>;
  std::byte* data = tensor->data();
  const gsize maxsize = tensor->size_bytes();
  auto holder = std::make_unique<Holder>(std::move(tensor));
  return MemoryRef(gst_memory_new_wrapped(
      GST_MEMORY_FLAG_READONLY, data, maxsize, 0, size_bytes, holder.release(),
      [](gpointer held) { const std::unique_ptr<Holder> last(static_cast<Holder*>(held)); }));
}

}  // namespace gstnpu
