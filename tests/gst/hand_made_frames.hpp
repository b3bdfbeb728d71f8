// Frames with tensors that no NPU has made, and what tests of nputensordec and npupublish share.
#pragma once

#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "meta/npumeta.h"
#include "support/expect.hpp"
#include "support/temp_dir.hpp"

namespace gstnpu_test {

struct Unref {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstMemory* memory) const { gst_memory_unref(memory); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
  void operator()(GstHarness* harness) const { gst_harness_teardown(harness); }
  void operator()(GstElement* element) const { gst_object_unref(element); }
  void operator()(GstBus* bus) const { gst_object_unref(bus); }
  void operator()(GstPad* pad) const { gst_object_unref(pad); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};
template <typename T>
using Owned = std::unique_ptr<T, Unref>;

/// A model's output. Values past the shape's are there as padding of the memory.
struct HandMadeTensor {
  std::string name = "output0";
  std::vector<gsize> shape;
  std::vector<float> values;
  GstNpuDataType type = GST_NPU_DATA_F32;
};

/// [1, 4 + classes, boxes] of rows {x, y, w, h, score, score, ...}, with boxes that score 0 up
/// to 16.
inline HandMadeTensor yolo_tensor(std::vector<std::vector<float>> boxes) {
  HandMadeTensor tensor;
  const std::size_t channels = boxes.at(0).size();
  boxes.resize(16, std::vector<float>(channels));
  tensor.shape = {1, channels, boxes.size()};
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (const auto& box : boxes) tensor.values.push_back(box[channel]);
  }
  return tensor;
}

/// Beside what the inference has already.
inline void attach_to(GstBuffer* buffer, guint inference, const HandMadeTensor& made) {
  const gsize bytes = made.values.size() * sizeof(float);
  Owned<GstMemory> memory(gst_allocator_alloc(nullptr, bytes, nullptr));
  GstMapInfo map;
  ASSERT_TRUE(gst_memory_map(memory.get(), &map, GST_MAP_WRITE));
  std::copy(made.values.begin(), made.values.end(), reinterpret_cast<float*>(map.data));
  gst_memory_unmap(memory.get(), &map);
  GstNpuTensor tensor = {};
  tensor.name = made.name.c_str();
  tensor.type = made.type;
  tensor.num_dims = static_cast<guint>(made.shape.size());
  std::copy(made.shape.begin(), made.shape.end(), tensor.dims);
  tensor.memory = memory.get();
  gst_npu_buffer_add_inference_tensors(buffer, inference, &tensor, 1);
}

inline void attach(GstBuffer* buffer, const HandMadeTensor& made) {
  attach_to(buffer, gst_npu_buffer_next_inference_id(buffer), made);
}

/// A frame with the outputs of one inference.
inline Owned<GstBuffer> frame_with(const std::vector<HandMadeTensor>& tensors,
                                   GstClockTime pts = 0) {
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, 16, nullptr));
  GST_BUFFER_PTS(buffer.get()) = pts;
  for (const HandMadeTensor& tensor : tensors) attach_to(buffer.get(), 0, tensor);
  return buffer;
}

/// Leaves an inference as an element does that drops what depends on the frame's size.
inline void lose_inference(GstBuffer* buffer, bool was_decoded) {
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer, "net.xml");
  meta->is_decoded = was_decoded;
  gst_buffer_keep_npu_inference_origin(buffer, meta);
  gst_buffer_remove_meta(buffer, &meta->meta);
}

/// A folder that goes with the test, in plain strings.
class TempFolder {
 public:
  std::string file(const std::string& name) const { return folder_.path() / name; }
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(file(name), std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  npu::test::TempDir folder_;
};

/// No regular file of the process may grow past `bytes` while this lives; write() then fails.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_limit_{};
  void (*old_handler_)(int);
};

/// How many of the process's file descriptors are of this file.
inline std::size_t open_files(const std::string& file) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the iterator's own descriptor
    if (std::filesystem::read_symlink(entry.path(), gone) == file) {
      ++count;
    }
  }
  return count;
}

/// A harness around one element, with a bus.
class ElementHarness {
 public:
  /// Has its bus before it starts.
  explicit ElementHarness(const std::string& launch, const std::string& caps)
      : bus_(gst_bus_new()), harness_(new_harness(launch, bus_.get())) {
    gst_harness_set_src_caps_str(harness_.get(), caps.c_str());
    gst_harness_set_sink_caps_str(harness_.get(), caps.c_str());
  }
  ~ElementHarness() { gst_element_set_bus(harness_->element, nullptr); }

  GstHarness* get() const { return harness_.get(); }
  GstElement* element() const { return harness_->element; }
  GstBus* bus() const { return bus_.get(); }
  GstFlowReturn push(Owned<GstBuffer> buffer) {
    return gst_harness_push(harness_.get(), buffer.release());
  }
  Owned<GstBuffer> pull() { return Owned<GstBuffer>(gst_harness_try_pull(harness_.get())); }

  /// The text of the oldest message of this type; empty when there is none.
  std::string message(GstMessageType type) const {
    const Owned<GstMessage> found(gst_bus_pop_filtered(bus_.get(), type));
    if (!found) return {};
    if (type == GST_MESSAGE_ELEMENT) return text_of(gst_message_get_structure(found.get()));
    GError* error = nullptr;
    if (type == GST_MESSAGE_WARNING) {
      gst_message_parse_warning(found.get(), &error, nullptr);
    } else {
      gst_message_parse_error(found.get(), &error, nullptr);
    }
    const std::string text = error->message;
    g_error_free(error);
    return text;
  }

 private:
  static std::string text_of(const GstStructure* structure) {
    gchar* text = gst_structure_to_string(structure);
    const std::string copy = text;
    g_free(text);
    return copy;
  }

  static GstHarness* new_harness(const std::string& launch, GstBus* bus) {
    const Owned<GstElement> bin(GST_ELEMENT(
        gst_object_ref_sink(gst_parse_bin_from_description(launch.c_str(), TRUE, nullptr))));
    gst_element_set_bus(bin.get(), bus);
    const auto name_of_pad = [&](const char* name) {
      const Owned<GstPad> pad(gst_element_get_static_pad(bin.get(), name));
      return pad ? name : nullptr;
    };
    return gst_harness_new_with_element(bin.get(), name_of_pad("sink"), name_of_pad("src"));
  }

  Owned<GstBus> bus_;
  Owned<GstHarness> harness_;
};

}  // namespace gstnpu_test
