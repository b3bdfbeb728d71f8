// Parts of frames are what Python's tools would cut out and resize: a classifier that was trained
// on such crops sees the pixels that it knows.
#include <gtest/gtest.h>
#include <meta/npumeta.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

struct Part {
  guint x, y, width, height;
  std::vector<int> pillow;  // RGB, row after row, of Pillow's crop() and resize(BILINEAR)
  std::vector<int> linear;  // the same, interpolated between two pixels each way
};

/// Output of crops.py.
struct Reference {
  int width = 0, height = 0, size = 0;
  std::vector<int> pixels;
  std::vector<Part> parts;
};

std::vector<int> read_pixels(std::istream& file, int width, int height) {
  std::vector<int> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  for (int& value : pixels) file >> value;
  return pixels;
}

Reference read_reference(const char* path) {
  std::ifstream file(path);
  Reference all;
  std::size_t count = 0;
  file >> all.width >> all.height;
  all.pixels = read_pixels(file, all.width, all.height);
  file >> all.size >> count;
  for (std::size_t i = 0; i < count && file; ++i) {
    Part part{};
    file >> part.x >> part.y >> part.width >> part.height;
    part.pillow = read_pixels(file, all.size, all.size);
    part.linear = read_pixels(file, all.size, all.size);
    all.parts.push_back(std::move(part));
  }
  EXPECT_TRUE(file && count > 0) << path << " is not what crops.py writes";
  return all;
}

/// In levels of 255.
struct Accuracy {
  double mean, worst;
};

/// `seen`: planes of R, G and B.
void expect_near(const std::vector<float>& seen, const std::vector<int>& pixels,
                 const Accuracy& accuracy) {
  const std::size_t plane = pixels.size() / 3;
  double mean = 0, worst = 0;
  ASSERT_EQ(seen.size(), pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const double off = std::abs(seen[i] - pixels[i % plane * 3 + i / plane]);
    mean += off / static_cast<double>(pixels.size());
    worst = std::max(worst, off);
  }
  EXPECT_LE(mean, accuracy.mean);
  EXPECT_LE(worst, accuracy.worst);
}

std::string name_of(const Part& part) {
  return std::to_string(part.width) + "x" + std::to_string(part.height);
}

class CropPixels : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("NPU_CROPS");
    if (path == nullptr) {
      GTEST_SKIP() << "the build found no NumPy";
    }
    reference_ = read_reference(path);
    model_ = folder_.write("pixels.xml", pixels_ir(reference_.size, reference_.size)).string();
  }

  BufferRef frame() const {
    BufferRef buffer = frame_of("RGB", reference_.width, reference_.height, 0);
    GstMapInfo map;
    gst_buffer_map(buffer.get(), &map, GST_MAP_WRITE);
    std::transform(reference_.pixels.begin(), reference_.pixels.end(), map.data,
                   [](int value) { return static_cast<guint8>(value); });
    gst_buffer_unmap(buffer.get(), &map);
    return buffer;
  }

  TempDir folder_;
  std::string model_;
  Reference reference_;
};

std::vector<float> tensor_of(GstBuffer* buffer, guint index) {
  GstNpuTensor tensor = {};
  if (!gst_npu_buffer_get_tensor(buffer, index, &tensor)) return {};
  GstMapInfo map;
  gst_memory_map(tensor.memory, &map, GST_MAP_READ);
  const auto* values = reinterpret_cast<const float*>(map.data);
  std::vector<float> copy(values, values + map.size / sizeof(float));
  gst_memory_unmap(tensor.memory, &map);
  return copy;
}

// docs/elements.md tells the accuracies.
constexpr Accuracy kOfObjects{1, 6}, kOfTheGraph{0.5, 2};

TEST_F(CropPixels, OfObjectsArePillows) {
  ElementHarness harness("npuinfer", [this](GstElement* element) {
    g_object_set(element, "model", model_.c_str(), "device", "software", nullptr);
    gst_util_set_object_arg(G_OBJECT(element), "inference-region", "roi-list");
  });
  harness.set_caps(caps_of("RGB", reference_.width, reference_.height));
  BufferRef in = frame();
  for (const Part& part : reference_.parts) {
    gst_buffer_add_video_region_of_interest_meta(in.get(), "thing", part.x, part.y, part.width,
                                                 part.height);
  }
  ASSERT_EQ(harness.push(std::move(in)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  for (guint i = 0; i < reference_.parts.size(); ++i) {
    const Part& part = reference_.parts[i];
    SCOPED_TRACE(name_of(part));
    expect_near(tensor_of(out.get(), i), part.pillow, kOfObjects);
  }
}

/// The tensor of a frame that goes through `line`, which ends with an inference.
std::vector<float> seen_behind(const std::string& line, const std::string& caps, BufferRef frame) {
  GstHarness* harness = gst_harness_new_parse(line.c_str());
  gst_harness_set_src_caps_str(harness, caps.c_str());
  EXPECT_EQ(gst_harness_push(harness, frame.release()), GST_FLOW_OK) << line;
  const BufferRef out(gst_harness_pull(harness));
  std::vector<float> tensor = out ? tensor_of(out.get(), 0) : std::vector<float>();
  gst_harness_teardown(harness);
  return tensor;
}

TEST_F(CropPixels, OfVideocropAreInterpolated) {
  const auto width = static_cast<guint>(reference_.width);
  const auto height = static_cast<guint>(reference_.height);
  for (const Part& part : reference_.parts) {
    SCOPED_TRACE(name_of(part));
    const std::string line = "videocrop left=" + std::to_string(part.x) +
                             " top=" + std::to_string(part.y) +
                             " right=" + std::to_string(width - part.x - part.width) +
                             " bottom=" + std::to_string(height - part.y - part.height) +
                             " ! npuinfer device=software model=" + model_;
    const std::vector<float> seen =
        seen_behind(line, caps_of("RGB", reference_.width, reference_.height), frame());
    expect_near(seen, part.linear, kOfTheGraph);
    const auto size = static_cast<guint>(reference_.size);
    if (part.width <= size && part.height <= size) {
      expect_near(seen, part.pillow, kOfTheGraph);
    }
  }
}

}  // namespace
}  // namespace gstnpu::test
