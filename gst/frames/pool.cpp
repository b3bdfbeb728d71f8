#include "pool.hpp"

#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>

#include <algorithm>
#include <memory>

#include "common/gtype.hpp"
#include "common/log.hpp"

#include "allocator.hpp"
#include "caps.hpp"

namespace gstnpu {
namespace {

/// The last configuration, and what never changes.
struct PoolState {
  ObjectRef<GstAllocator> allocator;
  PoolLayout layout;
  GstVideoInfo info{};
  GstVideoAlignment alignment{};
  GstAllocationParams params{};
  gsize size_bytes = 0;
  bool has_meta = false;
  bool must_be_dmabufs = false;
};

using Pool = ObjectType<GstBufferPool, GstBufferPoolClass, PoolState>;

PoolState& state_of(GstBufferPool* pool) {
  return Pool::state_of(pool);
}

const gchar** pool_options(GstBufferPool* pool) {
  static const gchar* strict[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
  static const gchar* any[] = {GST_BUFFER_POOL_OPTION_VIDEO_META,
                               GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT, nullptr};
  return state_of(pool).layout.takes_alignment ? any : strict;
}

/// Writes the alignment that frames get to `config`. False where GStreamer cannot align them so.
bool apply_alignment(PoolState& state, GstStructure* config) {
  gst_video_alignment_reset(&state.alignment);
  const bool asked =
      state.layout.takes_alignment && state.has_meta &&
      gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT) &&
      gst_buffer_pool_config_get_video_alignment(config, &state.alignment);
  if (!asked) return true;
  if (!gst_video_info_align(&state.info, &state.alignment)) return false;
  gst_buffer_pool_config_set_video_alignment(config, &state.alignment);
  return true;
}

/// Keeps the pool's own allocator whatever the configuration asks for: the pool exists for its
/// memory.
void apply_params(PoolState& state, GstStructure* config) {
  GstAllocator* asked = nullptr;
  gst_allocation_params_init(&state.params);
  gst_buffer_pool_config_get_allocator(config, &asked, &state.params);
  if (asked != state.allocator.get()) {
    gst_buffer_pool_config_set_allocator(config, state.allocator.get(), &state.params);
  }
}

gboolean configure(GstBufferPool* pool, GstStructure* config) {
  PoolState& state = state_of(pool);
  GstCaps* caps = nullptr;
  guint size = 0, min_buffers = 0, max_buffers = 0;
  if (!gst_buffer_pool_config_get_params(config, &caps, &size, &min_buffers, &max_buffers) ||
      !caps) {
    return FALSE;
  }
  const std::optional<GstVideoInfo> info = parse_caps(caps);
  if (!info) return FALSE;
  state.info = *info;
  state.must_be_dmabufs = has_dmabuf_feature(caps);
  state.has_meta = gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (state.layout.fixed && state.has_meta) {
    state.info = *state.layout.fixed;
  }
  if (!apply_alignment(state, config)) return FALSE;
  apply_params(state, config);
  state.size_bytes = std::max<gsize>(size, GST_VIDEO_INFO_SIZE(&state.info));
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(state.size_bytes), min_buffers,
                                    max_buffers);
  return Pool::parent_class()->set_config(pool, config);
}

/// Falls back to ordinary memory when the device is lost or full, so that frames can still pass,
/// unless upstream was promised DMA-BUFs. Null where there is none.
MemoryRef allocate_memory(PoolState& state) {
  MemoryRef memory(gst_allocator_alloc(state.allocator.get(), state.size_bytes, &state.params));
  if (!memory && !state.must_be_dmabufs) {
    memory.reset(gst_allocator_alloc(nullptr, state.size_bytes, &state.params));
  }
  return memory;
}

GstFlowReturn allocate_buffer(GstBufferPool* pool, GstBuffer** buffer,
                              GstBufferPoolAcquireParams*) {
  PoolState& state = state_of(pool);
  MemoryRef memory = allocate_memory(state);
  if (!memory) {
    GST_CAT_WARNING(gstnpu_debug, "no memory for a frame of %" G_GSIZE_FORMAT " bytes",
                    state.size_bytes);
    return GST_FLOW_ERROR;
  }
  *buffer = gst_buffer_new();
  gst_buffer_append_memory(*buffer, memory.release());
  if (!state.has_meta) return GST_FLOW_OK;
  GstVideoInfo& info = state.info;
  GstVideoMeta* meta = gst_buffer_add_video_meta_full(
      *buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
      static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
      static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)), GST_VIDEO_INFO_N_PLANES(&info), info.offset,
      info.stride);
  gst_video_meta_set_alignment(meta, state.alignment);
  return GST_FLOW_OK;
}

/// Discards a buffer in ordinary memory, so that the next one may be the NPU's again.
void release_buffer(GstBufferPool* pool, GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) > 0 && !is_npu_memory(gst_buffer_peek_memory(buffer, 0))) {
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_TAG_MEMORY);
  }
  Pool::parent_class()->release_buffer(pool, buffer);
}

void class_init(GstBufferPoolClass* klass) {
  klass->get_options = pool_options;
  klass->set_config = configure;
  klass->alloc_buffer = allocate_buffer;
  klass->release_buffer = release_buffer;
}

GType pool_type() {
  return Pool::get<class_init>("NpuBufferPool", GST_TYPE_BUFFER_POOL);
}

bool has_layout(const GstVideoInfo& one, const GstVideoInfo& other) {
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&one); ++p) {
    if (one.stride[p] != other.stride[p] || one.offset[p] != other.offset[p]) return false;
  }
  return true;
}

}  // namespace

std::optional<GstVideoInfo> info_of_layout(const GstVideoInfo& info,
                                           const npu::FrameLayout& layout) {
  if (layout.crop_left != 0 || layout.crop_top != 0 ||
      layout.planes.size() != GST_VIDEO_INFO_N_PLANES(&info)) {
    return std::nullopt;
  }
  GstVideoInfo laid_out = info;
  gsize offset = 0;
  for (std::size_t p = 0; p < layout.planes.size(); ++p) {
    laid_out.stride[p] = static_cast<gint>(layout.planes[p].stride_bytes);
    laid_out.offset[p] = offset;
    offset += layout.plane_size_bytes(p);
  }
  laid_out.size = offset;
  return laid_out;
}

std::optional<GstVideoAlignment> alignment_of(const GstVideoInfo& info,
                                              const GstVideoInfo& wanted) {
  const gint pixel_bytes = GST_VIDEO_FORMAT_INFO_PSTRIDE(info.finfo, 0);
  const gint width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  if (pixel_bytes <= 0 || wanted.stride[0] % pixel_bytes != 0) return std::nullopt;
  const gsize first_plane_bytes =
      GST_VIDEO_INFO_N_PLANES(&info) > 1 ? wanted.offset[1] : wanted.size;
  const auto rows = static_cast<gint>(first_plane_bytes / static_cast<gsize>(wanted.stride[0]));
  GstVideoAlignment alignment;
  gst_video_alignment_reset(&alignment);
  alignment.padding_right = static_cast<guint>(wanted.stride[0] / pixel_bytes - width);
  alignment.padding_bottom = static_cast<guint>(rows - height);
  GstVideoInfo aligned = info;
  GstVideoAlignment used = alignment;
  if (!gst_video_info_align(&aligned, &used) || !has_layout(aligned, wanted)) return std::nullopt;
  return alignment;
}

ObjectRef<GstBufferPool> make_pool(GstCaps* caps, const PoolLayout& layout, guint size_bytes,
                                   guint min_buffers, GstAllocator* allocator) {
  ObjectRef<GstBufferPool> pool(
      GST_BUFFER_POOL(gst_object_ref_sink(g_object_new(pool_type(), nullptr))));
  PoolState& state = state_of(pool.get());
  state.allocator.reset(GST_ALLOCATOR_CAST(gst_object_ref(allocator)));
  state.layout = layout;
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, size_bytes, min_buffers, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool.get(), config)) return nullptr;
  return pool;
}

}  // namespace gstnpu
