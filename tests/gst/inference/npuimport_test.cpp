// npuimport: blobs with and without a description of their frames.
#include <gtest/gtest.h>
#include <meta/npumeta.h>

#include <cstdlib>
#include <fstream>

#include <npucore/npucore.hpp>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

class NpuImport : public testing::Test {
 protected:
  /// A blob of pixels_ir(8, 8) for frames of `layout`.
  std::string blob_for(const npu::FrameLayout& layout) {
    npu::Model model = npu::Model::read(dir_.write("pixels.xml", pixels_ir(8, 8)));
    npu::Preprocess preprocess = model.default_preprocess(layout);
    preprocess.resize = npu::ResizeMode::kLetterbox;
    model.add_preprocess(preprocess);
    return export_blob(model);
  }

  std::string export_blob(const npu::Model& model) {
    const std::string path = (dir_.path() / "pixels.blob").string();
    npu::CompiledModel::compile(npu::Device::open(npu::DeviceKind::kSoftware), model)
        .export_blob(path);
    return path;
  }

  static std::function<void(GstElement*)> with_blob(const std::string& path) {
    return [path](GstElement* element) {
      g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
    };
  }

  TempDir dir_;
};

TEST_F(NpuImport, RunsABlobOnTheFramesItWasCompiledFor) {
  ElementHarness harness(
      "npuimport", with_blob(blob_for(npu::FrameLayout::tight(npu::PixelFormat::kRGB, 32, 16))));
  harness.set_caps(caps_of("RGB", 32, 16));
  ASSERT_EQ(harness.push(frame_of("RGB", 32, 16, 90)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  const std::vector<float> pixels = first_tensor(out.get());
  ASSERT_EQ(pixels.size(), 192u);
  EXPECT_EQ(pixels[0], 114.f) << "letterbox border";
  EXPECT_EQ(pixels[4 * 8], 90.f);
  const GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta(out.get());
  ASSERT_NE(meta, nullptr);
  EXPECT_DOUBLE_EQ(meta->offset_y, 2);
  EXPECT_DOUBLE_EQ(meta->scale_x, 4);
}

/// Noise, the same each time, in a DMA-BUF or a memfd that plays one.
BufferRef noise_of(const char* format) {
  BufferRef frame = frame_of(format, 32, 16, 0);
  const gsize size = gst_buffer_get_size(frame.get());
  MemoryRef memory = make_dmabuf_memory(size, 0);
  GstMapInfo map;
  EXPECT_TRUE(gst_memory_map(memory.get(), &map, GST_MAP_WRITE));
  for (gsize i = 0; i < size; ++i) map.data[i] = static_cast<guint8>(i * i * 7 + i / 5);
  gst_memory_unmap(memory.get(), &map);
  return frame_in(std::move(memory));
}

class EveryFormat : public NpuImport, public testing::WithParamInterface<const char*> {};

TEST_P(EveryFormat, GivesWhatNpuinferGives) {
  auto layout = npu::FrameLayout::tight(npu::pixel_format_from_string(GetParam()), 32, 16);
  if (std::string(GetParam()).starts_with("GRAY")) {
    layout.range = npu::ColorRange::kFull;
  }
  const std::string model = dir_.write("wanted.xml", pixels_ir(8, 8)).string();
  const auto infer = [model](GstElement* element) {
    g_object_set(element, "model", model.c_str(), "device", "software", nullptr);
    gst_util_set_object_arg(G_OBJECT(element), "resize-mode", "letterbox");
  };
  std::vector<std::vector<float>> seen;
  for (const auto& [factory, configure] :
       {std::pair<const char*, std::function<void(GstElement*)>>{"npuinfer", infer},
        {"npuimport", with_blob(blob_for(layout))}}) {
    ElementHarness harness(factory, configure);
    harness.set_caps(caps_of(GetParam(), 32, 16));
    ASSERT_EQ(harness.push(noise_of(GetParam())), GST_FLOW_OK) << factory;
    seen.push_back(first_tensor(harness.pull().get()));
    EXPECT_EQ(harness.stat("imported"), 1u) << factory;
  }
  ASSERT_EQ(seen[0].size(), 192u);
  for (std::size_t i = 0; i < seen[0].size(); ++i) EXPECT_NEAR(seen[1][i], seen[0][i], 0.01);
}

INSTANTIATE_TEST_SUITE_P(All, EveryFormat,
                         testing::Values("NV12", "I420", "NV21", "YV12", "NV16", "YUY2", "UYVY",
                                         "P010_10LE", "RGB", "BGR", "RGBx", "BGRx", "ARGB", "ABGR",
                                         "GRAY8", "GRAY16_LE"),
                         [](const auto& row) { return std::string(row.param); });

TEST_F(NpuImport, ReadsItsOwnPoolInPlace) {
  ElementHarness harness(
      "npuimport", with_blob(blob_for(npu::FrameLayout::tight(npu::PixelFormat::kNV12, 64, 48))));
  harness.set_caps(caps_of("NV12", 64, 48));
  const gsize size = 64 * 48 * 3 / 2;
  BufferRef frame(gst_harness_create_buffer(harness.get(), size));
  gst_buffer_memset(frame.get(), 0, 128, size);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  EXPECT_NEAR(first_tensor(harness.pull().get()).at(4 * 8), 130.41f, 0.5);
  EXPECT_EQ(harness.stat("offered"), 1u);
  EXPECT_EQ(harness.stat("copied"), 0u);
}

TEST_F(NpuImport, LetsAConverterMakeItsColours) {
  npu::FrameLayout layout = npu::FrameLayout::tight(npu::PixelFormat::kNV12, 64, 48);
  layout.matrix = npu::ColorMatrix::kBT709;  // GStreamer's own choice for this size is BT.601
  const std::string line =
      "videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=64,height=48 ! videoconvert ! "
      "npuimport device=software model=" +
      blob_for(layout) + " ! fakesink name=sink";
  const ObjectRef<GstElement> pipeline(gst_parse_launch(line.c_str(), nullptr));
  ASSERT_TRUE(pipeline);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline.get()));
  GstMessage* end = gst_bus_timed_pop_filtered(
      bus.get(), 30 * GST_SECOND,
      static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(GST_MESSAGE_TYPE(end), GST_MESSAGE_EOS) << "no warning of other colours";
  gst_message_unref(end);
  const ObjectRef<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  const ObjectRef<GstPad> pad(gst_element_get_static_pad(sink.get(), "sink"));
  const CapsRef caps(gst_pad_get_current_caps(pad.get()));
  ASSERT_TRUE(caps);
  EXPECT_STREQ(gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "colorimetry"),
               "bt709");
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

TEST_F(NpuImport, RefusesABufferThatIsCroppedToAnotherSize) {
  ElementHarness harness(
      "npuimport", with_blob(blob_for(npu::FrameLayout::tight(npu::PixelFormat::kRGB, 64, 64))));
  harness.set_caps(caps_of("RGB", 64, 64));
  BufferRef frame = frame_of("RGB", 64, 512, 1);
  gst_buffer_add_video_meta(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB, 64, 512);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
  crop->x = crop->y = 0;
  crop->width = 64;
  crop->height = 512;
  EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_ERROR);
  const std::vector<std::string> errors = harness.messages(GST_MESSAGE_ERROR);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(has(errors[0], "cropped to 64x512"));
}

/// A blob for tight rows of 33 RGB pixels, which have 99 bytes; GStreamer's have 100.
class AnotherLayout : public NpuImport {
 protected:
  AnotherLayout() : blob_(blob_for(npu::FrameLayout::tight(npu::PixelFormat::kRGB, 33, 33))) {}

  std::function<void(GstElement*)> allowing(const char* zero_copy) const {
    return with(with_blob(blob_), {{"convert", "allow"}, {"zero-copy", zero_copy}});
  }

  /// In a DMA-BUF, or a memfd that plays one.
  static BufferRef frame_in_dmabuf() { return frame_in(make_dmabuf_memory(100 * 33, 61)); }

  std::string blob_;
};

TEST_F(AnotherLayout, IsRefusedWithTheCommandThatMakesTheRightBlob) {
  std::string error;
  {
    ElementHarness harness("npuimport", with_blob(blob_), caps_of("RGB", 33, 33));
    EXPECT_EQ(harness.push(frame_in_dmabuf()), GST_FLOW_ERROR);
    EXPECT_EQ(harness.stat("inferred"), 0u);
    const auto errors = harness.messages(GST_MESSAGE_ERROR);
    ASSERT_EQ(errors.size(), 1u);
    error = errors[0];
  }
  const std::size_t begin = error.find("npu-compile "), end = error.find(" (or let");
  ASSERT_LT(begin, end) << error;
  const std::string name = "npu-compile";
  const std::string arguments = error.substr(begin + name.size(), end - begin - name.size());
  ASSERT_EQ(std::system(("\"$NPU_COMPILE\"" + arguments).c_str()), 0) << arguments;
  ElementHarness harness("npuimport", with_blob(blob_), caps_of("RGB", 33, 33));
  ASSERT_EQ(harness.push(frame_in_dmabuf()), GST_FLOW_OK);
  EXPECT_EQ(first_tensor(harness.pull().get()), std::vector<float>(192, 61.f));
  EXPECT_EQ(harness.stat("copied"), 0u);
}

TEST_F(AnotherLayout, IsConvertedWhereTheUserAllowsIt) {
  ElementHarness harness("npuimport", allowing("auto"), caps_of("RGB", 33, 33));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(harness.push(frame_in_dmabuf()), GST_FLOW_OK);
    EXPECT_EQ(first_tensor(harness.pull().get()), std::vector<float>(192, 61.f));
  }
  EXPECT_EQ(harness.stat("copied"), 2u);
  EXPECT_TRUE(has(harness.only_message(GST_MESSAGE_WARNING), "npu-compile"));
}

TEST_F(AnotherLayout, IsACopyThatZeroCopyRefuses) {
  ElementHarness harness("npuimport", allowing("require"), caps_of("RGB", 33, 33));
  EXPECT_EQ(harness.push(frame_in_dmabuf()), GST_FLOW_ERROR);
  EXPECT_TRUE(has(harness.only_message(GST_MESSAGE_ERROR), "zero-copy=require"));
}

TEST_F(AnotherLayout, IsReadByABlobThatWasCompiledForAnyStrides) {
  if (!driver_takes_strides()) {
    GTEST_SKIP() << "the driver takes no strides";
  }
  npu::Model model = npu::Model::read(dir_.write("pixels.xml", pixels_ir(8, 8)));
  model.add_preprocess(
      model.default_preprocess(npu::FrameLayout::tight(npu::PixelFormat::kRGB, 33, 33)));
  npu::CompileOptions options;
  options.properties.set(npu::property::enable_strides_for, "image");
  const std::string path = (dir_.path() / "strides.blob").string();
  npu::CompiledModel::compile(npu::Device::open(npu::DeviceKind::kSoftware), model, options)
      .export_blob(path);
  ElementHarness harness("npuimport", with_blob(path), caps_of("RGB", 33, 33));
  ASSERT_EQ(harness.push(frame_in_dmabuf()), GST_FLOW_OK);
  EXPECT_EQ(first_tensor(harness.pull().get()), std::vector<float>(192, 61.f));
  EXPECT_EQ(harness.stat("copied"), 0u);
}

TEST_F(NpuImport, RepacksIntoABlobWithPaddedRowsAndCrop) {
  npu::FrameLayout padded = npu::FrameLayout::tight(npu::PixelFormat::kNV12, 32, 32);
  padded.crop_left = 4;
  padded.crop_top = 2;
  padded.planes = {{64, 40}, {64, 20}};
  ElementHarness harness("npuimport", with_blob(blob_for(padded)), caps_of("NV12", 32, 32));
  ASSERT_EQ(harness.push(frame_of("NV12", 32, 32, 128)), GST_FLOW_OK);
  for (const float value : first_tensor(harness.pull().get())) EXPECT_NEAR(value, 130.41f, 0.5);
}

TEST_F(NpuImport, TakesTheCapsOfItsBlobOnly) {
  ElementHarness harness(
      "npuimport", with_blob(blob_for(npu::FrameLayout::tight(npu::PixelFormat::kNV12, 64, 48))));
  const CapsRef right(gst_caps_from_string(caps_of("NV12", 64, 48).c_str()));
  const CapsRef other_size(gst_caps_from_string(caps_of("NV12", 66, 48).c_str()));
  const CapsRef other_format(gst_caps_from_string(caps_of("RGB", 64, 48).c_str()));
  GstPad* pad = harness.get()->srcpad;
  EXPECT_TRUE(gst_pad_peer_query_accept_caps(pad, right.get()));
  EXPECT_FALSE(gst_pad_peer_query_accept_caps(pad, other_size.get()));
  EXPECT_FALSE(gst_pad_peer_query_accept_caps(pad, other_format.get()));
}

TEST_F(NpuImport, SaysOnceWhatItTakesWhenUpstreamOffersNoneOfIt) {
  ElementHarness harness(
      "npuimport", with_blob(blob_for(npu::FrameLayout::tight(npu::PixelFormat::kNV12, 64, 48))));
  const CapsRef wrong(gst_caps_from_string(caps_of("NV12", 66, 48).c_str()));
  const CapsRef right(gst_caps_from_string("video/x-raw"));
  for (GstCaps* offered : {right.get(), wrong.get(), wrong.get()}) {
    CapsRef(gst_pad_peer_query_caps(harness.get()->srcpad, offered));
  }
  const std::string warning = harness.only_message(GST_MESSAGE_WARNING);
  EXPECT_TRUE(has(warning, "takes NV12 64x48"));
  EXPECT_TRUE(has(warning, "width=(int)66"));
  EXPECT_TRUE(has(warning, "npu-compile --frame"));
}

TEST_F(NpuImport, CapsOfAnotherSizeEndInOneError) {
  ElementHarness harness(
      "npuimport", with_blob(blob_for(npu::FrameLayout::tight(npu::PixelFormat::kNV12, 64, 48))));
  harness.set_caps(caps_of("NV12", 66, 48));
  const std::string error = harness.only_message(GST_MESSAGE_ERROR);
  EXPECT_TRUE(has(error, "takes NV12 64x48"));
  EXPECT_TRUE(has(error, "NV12 66x48"));
}

TEST_F(NpuImport, WarnsAboutOtherColours) {
  npu::FrameLayout layout = npu::FrameLayout::tight(npu::PixelFormat::kNV12, 64, 48);
  layout.matrix = npu::ColorMatrix::kBT709;
  ElementHarness harness("npuimport", with_blob(blob_for(layout)),
                         caps_of("NV12", 64, 48) + ",colorimetry=bt601");
  EXPECT_TRUE(has(harness.only_message(GST_MESSAGE_WARNING), "bt709"));
}

TEST_F(NpuImport, TakesRgbWhereABlobTellsNothing) {
  const npu::Model model = npu::Model::read(dir_.write("packed.xml", npu::test::packed_ir(8, 16)));
  ElementHarness harness("npuimport", with_blob(export_blob(model)), caps_of("RGB", 16, 8));
  ASSERT_EQ(harness.push(frame_of("RGB", 16, 8, 7)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(out.get(), 0, &tensor));
  EXPECT_EQ(tensor.type, GST_NPU_DATA_U8);
  EXPECT_EQ(tensor.dims[2], 16u);
}

TEST_F(NpuImport, ErrorOfABlobThatTakesNoFramesTellsHowToCompileIt) {
  const npu::Model model = npu::Model::read(dir_.write("pixels.xml", pixels_ir(8, 8)));
  const auto errors = errors_before_ready("npuimport", with_blob(export_blob(model)));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(has(errors[0], "npu-compile --frame"));
}

struct Damage {
  const char* name;
  std::string (*damage)(std::string whole);
};

class DamagedBlobs : public NpuImport, public testing::WithParamInterface<Damage> {};

TEST_P(DamagedBlobs, GiveOneErrorWithTheFile) {
  const std::string path = blob_for(npu::FrameLayout::tight(npu::PixelFormat::kRGB, 8, 8));
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(whole.size(), 1000u);
  dir_.write("damaged.blob", GetParam().damage(whole));
  const auto errors =
      errors_before_ready("npuimport", with_blob((dir_.path() / "damaged.blob").string()));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(has(errors[0], "damaged.blob"));
}

INSTANTIATE_TEST_SUITE_P(
    All, DamagedBlobs,
    testing::Values(Damage{"empty", [](std::string) { return std::string(); }},
                    Damage{"text", [](std::string) { return std::string("hello\n"); }},
                    Damage{"cut_to_a_half",
                           [](std::string whole) { return whole.substr(0, whole.size() / 2); }},
                    Damage{"cut_to_a_header",
                           [](std::string whole) { return whole.substr(0, 100); }},
                    Damage{"an_xml", [](std::string) { return pixels_ir(8, 8); }}),
    by_name);

}  // namespace
}  // namespace gstnpu::test
