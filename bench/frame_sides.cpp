#include "frame_sides.hpp"

#include <gst/allocators/gstdmabuf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <openvino/core/preprocess/pre_post_process.hpp>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::size_t kWidth = 1920, kHeight = 1080;
constexpr std::size_t kFrameBytes = kWidth * kHeight * 3 / 2;
constexpr std::size_t kFrames = 4;
constexpr const char* kCaps =
    "video/x-raw,format=NV12,width=1920,height=1080,framerate=30/1,colorimetry=bt709";

GstBuffer* frame_in_memfd() {
  const int fd = ::memfd_create("frame", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, (kFrameBytes + 4095) / 4096 * 4096) != 0) {
    throw std::runtime_error("no memfd for a frame");
  }
  GstAllocator* allocator = gst_dmabuf_allocator_new();
  GstBuffer* frame = gst_buffer_new();
  gst_buffer_append_memory(frame, gst_dmabuf_allocator_alloc(allocator, fd, kFrameBytes));
  gst_object_unref(allocator);
  return frame;
}

GstBuffer* make_frame(GstHarness* harness, FrameMemory memory) {
  switch (memory) {
    case FrameMemory::kOrdinary:
      return gst_buffer_new_allocate(nullptr, kFrameBytes, nullptr);
    case FrameMemory::kDmabuf:
      return frame_in_memfd();
    case FrameMemory::kOffered:
      return gst_harness_create_buffer(harness, kFrameBytes);
  }
  return nullptr;
}

ov::CompiledModel compile(ov::Core& core, const std::filesystem::path& path, bool converted) {
  const auto model = core.read_model(path.string());
  ov::preprocess::PrePostProcessor steps(model);
  auto& input = steps.input();
  input.model().set_layout("NCHW");
  input.tensor().set_element_type(ov::element::u8);
  if (converted) {
    input.tensor().set_layout("NHWC");
  } else {
    input.tensor()
        .set_color_format(ov::preprocess::ColorFormat::NV12_TWO_PLANES, {"y", "uv"})
        .set_spatial_static_shape(kHeight, kWidth);
    input.preprocess()
        .convert_element_type(ov::element::f32)
        .convert_color(ov::preprocess::ColorFormat::RGB)
        .resize(ov::preprocess::ResizeAlgorithm::RESIZE_LINEAR);
  }
  return core.compile_model(steps.build(), "NPU");
}

std::string converter_to(const ov::CompiledModel& compiled) {
  const ov::Shape shape = compiled.input().get_shape();  // NHWC
  return "videoconvertscale ! video/x-raw,format=RGB,width=" + std::to_string(shape.at(2)) +
         ",height=" + std::to_string(shape.at(1)) + " ! identity";  // a line cannot end with caps
}

}  // namespace

ElementSide::ElementSide(const std::string& launch, FrameMemory memory)
    : harness_(gst_harness_new_parse(launch.c_str())) {
  if (!harness_) throw std::runtime_error("no elements: " + launch);
  gst_harness_set_src_caps_str(harness_.get(), kCaps);
  for (std::size_t i = 0; i < kFrames; ++i) {
    frames_.emplace_back(make_frame(harness_.get(), memory));
    gst_buffer_memset(frames_.back().get(), 0, static_cast<guint8>(60 + 30 * i), kFrameBytes);
  }
}

void ElementSide::run() {
  // Wraps the same memory in another GstBuffer, like a producer's queue.
  GstBuffer* frame = gst_buffer_copy(frames_[next_++ % kFrames].get());
  if (gst_harness_push(harness_.get(), frame) != GST_FLOW_OK) {
    throw std::runtime_error("the elements refused a frame");
  }
  result_.reset(gst_harness_pull(harness_.get()));
  if (!result_) throw std::runtime_error("no result came");
}

PluginFrames::PluginFrames(const std::filesystem::path& model, bool converted)
    : compiled_(compile(core_, model, converted)), request_(compiled_.create_infer_request()) {
  if (converted) {
    converter_ = std::make_unique<ElementSide>(converter_to(compiled_), FrameMemory::kOrdinary);
  }
  for (std::size_t i = 0; i < kFrames; ++i) {
    frames_.emplace_back(kFrameBytes, static_cast<std::uint8_t>(60 + 30 * i));
  }
}

void PluginFrames::run() {
  if (converter_) {
    converter_->run();
    GstMapInfo map;
    if (!gst_buffer_map(converter_->result(), &map, GST_MAP_READ)) {
      throw std::runtime_error("a converted frame cannot be mapped");
    }
    const auto port = compiled_.input();
    request_.set_tensor(port, ov::Tensor(ov::element::u8, port.get_shape(), map.data));
    request_.infer();
    gst_buffer_unmap(converter_->result(), &map);
    return;
  }
  std::uint8_t* frame = frames_[next_++ % kFrames].data();
  request_.set_tensor(compiled_.input(0),
                      ov::Tensor(ov::element::u8, compiled_.input(0).get_shape(), frame));
  request_.set_tensor(
      compiled_.input(1),
      ov::Tensor(ov::element::u8, compiled_.input(1).get_shape(), frame + kWidth * kHeight));
  request_.infer();
}

}  // namespace bench
