#include "plugin/allocator.hpp"

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

// ---- The pool

const gchar** pool_options(GstBufferPool*) {
  static const gchar* options[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
  return options;
}

void npu_pool_class_init(gpointer klass, gpointer) {
  GST_BUFFER_POOL_CLASS(klass)->get_options = pool_options;
}

GType npu_pool_get_type() {
  static const GType type = g_type_register_static_simple(
      GST_TYPE_VIDEO_BUFFER_POOL, g_intern_static_string("GstNpuBufferPool"),
      sizeof(GstVideoBufferPoolClass), npu_pool_class_init, sizeof(GstVideoBufferPool), nullptr,
      static_cast<GTypeFlags>(0));
  return type;
}

}  // namespace

ObjectRef<GstAllocator> make_allocator(const npu::Device& device) {
  auto* allocator = static_cast<NpuAllocator*>(g_object_new(npu_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  // kOutput: cached by the CPU. Decoders read their reference frames back, and what follows the
  // element reads the frame too; memory for inputs only may be write-combined.
  allocator->recycler = std::make_unique<std::shared_ptr<TensorRecycler>>(
                            std::make_shared<TensorRecycler>(device, npu::MemoryUse::kOutput))
                            .release();
  return ObjectRef<GstAllocator>(GST_ALLOCATOR_CAST(allocator));
}

bool is_npu_memory(GstMemory* memory) {
  return memory->allocator &&
         G_TYPE_CHECK_INSTANCE_TYPE(memory->allocator, npu_allocator_get_type());
}

npu::Tensor npu_memory_tensor(GstMemory* memory, const npu::Device& device) {
  if (!is_npu_memory(memory)) return {};
  const auto& recycler = **reinterpret_cast<NpuAllocator*>(memory->allocator)->recycler;
  if (recycler.device().state() != device.state()) return {};
  return **reinterpret_cast<NpuMemory*>(memory)->tensor;
}

ObjectRef<GstBufferPool> make_pool(GstCaps* caps, const GstVideoInfo& info, guint min_buffers,
                                   GstAllocator* allocator) {
  ObjectRef<GstBufferPool> pool(
      GST_BUFFER_POOL(gst_object_ref_sink(g_object_new(npu_pool_get_type(), nullptr))));
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)),
                                    min_buffers, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool.get(), config)) return nullptr;
  return pool;
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
