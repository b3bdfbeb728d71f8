#include "gst/frames.hpp"

#include <gst/allocators/gstdmabuf.h>
#include <meta/npumeta.h>

#include "support/test_dmabuf.hpp"

namespace gstnpu::test {

MemoryRef wrap_dmabuf(int fd, gsize size) {
  const ObjectRef<GstAllocator> allocator(gst_dmabuf_allocator_new());
  return MemoryRef(gst_dmabuf_allocator_alloc(allocator.get(), fd, size));
}

MemoryRef make_dmabuf_memory(gsize size, guint8 fill) {
  const int fd = npu::test::make_dmabuf(size);
  npu::test::fill_dmabuf(fd, 0, size, fill);
  return wrap_dmabuf(fd, size);
}

BufferRef frame_in(MemoryRef memory) {
  BufferRef frame(gst_buffer_new());
  gst_buffer_append_memory(frame.get(), memory.release());
  return frame;
}

BufferRef frame_in(GstMemory* memory) {
  return frame_in(MemoryRef(gst_memory_ref(memory)));
}

std::vector<float> first_tensor(GstBuffer* buffer) {
  GstNpuTensor tensor = {};
  if (!gst_npu_buffer_get_tensor(buffer, 0, &tensor)) return {};
  GstMapInfo map;
  if (!gst_memory_map(tensor.memory, &map, GST_MAP_READ)) return {};
  const auto* values = reinterpret_cast<const float*>(map.data);
  std::vector<float> copy(values, values + map.size / sizeof(float));
  gst_memory_unmap(tensor.memory, &map);
  return copy;
}

}  // namespace gstnpu::test
