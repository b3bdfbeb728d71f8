// Memory that npuinfer and npuimport offer upstream: its kind, its layouts, its price, and whose
// frames end up in it.
#include <gst/allocators/gstdmabuf.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <vector>

#include <npucore/npucore.hpp>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

/// Every driver call of this process is written there.
const std::string& trace_path() {
  static const TempDir dir;
  static const std::string path = (dir.path() / "trace.jsonl").string();
  return path;
}

const bool kTraced = setenv("SOFTNPU_TRACE", trace_path().c_str(), 1) == 0;

std::size_t driver_calls() {
  std::ifstream trace(trace_path());
  std::size_t lines = 0;
  for (std::string line; std::getline(trace, line);) ++lines;
  return lines;
}

npu::DmabufSource source_of_dmabufs() {
  return npu::Device::open(npu::DeviceKind::kSoftware).shareable_memory();
}

bool has_dmabufs() {
  return source_of_dmabufs() != npu::DmabufSource::kNone;
}

QueryRef ask(GstPad* pad, const std::string& caps_text, bool need_pool = true) {
  const CapsRef caps(gst_caps_from_string(caps_text.c_str()));
  QueryRef query(gst_query_new_allocation(caps.get(), need_pool));
  EXPECT_TRUE(gst_pad_peer_query(pad, query.get()));
  return query;
}

ObjectRef<GstBufferPool> pool_of(GstQuery* query) {
  GstBufferPool* pool = nullptr;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, nullptr, nullptr, nullptr);
  return ObjectRef<GstBufferPool>(pool);
}

/// An active pool; inactive again at the end.
class Active {
 public:
  explicit Active(GstBufferPool* pool) : pool_(pool) {
    EXPECT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
  }
  ~Active() { gst_buffer_pool_set_active(pool_, FALSE); }
  BufferRef take() {
    GstBuffer* buffer = nullptr;
    EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr), GST_FLOW_OK);
    return BufferRef(buffer);
  }

 private:
  GstBufferPool* pool_;
};

class Offers : public testing::Test {
 protected:
  Offers() { EXPECT_TRUE(kTraced); }

  std::function<void(GstElement*)> with_model() {
    const std::string path = dir_.write("pixels.xml", pixels_ir(8, 8)).string();
    return [path](GstElement* element) {
      g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
    };
  }

  std::function<void(GstElement*)> with_blob_for(const npu::FrameLayout& layout) {
    npu::Model model = npu::Model::read(dir_.write("pixels.xml", pixels_ir(8, 8)));
    model.add_preprocess(model.default_preprocess(layout));
    const std::string path = (dir_.path() / "pixels.blob").string();
    npu::CompiledModel::compile(npu::Device::open(npu::DeviceKind::kSoftware), model)
        .export_blob(path);
    return [path](GstElement* element) {
      g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
    };
  }

  TempDir dir_;
};

TEST_F(Offers, AreOfTheKindThatTheMachineMakes) {
  ElementHarness harness("npuinfer", with_model());
  const auto pool = pool_of(ask(harness.get()->srcpad, caps_of("NV12", 64, 48)).get());
  const BufferRef buffer = Active(pool.get()).take();
  GstMemory* memory = gst_buffer_peek_memory(buffer.get(), 0);
  EXPECT_EQ(gst_is_dmabuf_memory(memory), has_dmabufs());
  EXPECT_EQ(g_strcmp0(memory->allocator->mem_type, "NpuMemory") == 0, !has_dmabufs());
  EXPECT_EQ(harness.stat_text("offered-memory"), npu::to_string(source_of_dmabufs()));
}

TEST_F(Offers, GoToProducersOfDmabufsWhereTheyAreDmabufs) {
  ElementHarness harness("npuinfer", with_model());
  const QueryRef query =
      ask(harness.get()->srcpad,
          "video/x-raw(memory:DMABuf),format=NV12,width=64,height=48,framerate=30/1");
  EXPECT_EQ(pool_of(query.get()) != nullptr, has_dmabufs());
  EXPECT_EQ(gst_query_get_n_allocation_params(query.get()), has_dmabufs() ? 1u : 0u);
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
}

#if GST_CHECK_VERSION(1, 24, 0)
TEST_F(Offers, HaveTheLinearLayoutOfDrmFormats) {
  if (!has_dmabufs()) {
    GTEST_SKIP() << "nothing here makes DMA-BUFs";
  }
  ElementHarness harness("npuinfer", with_model());
  const auto pool = pool_of(ask(harness.get()->srcpad,
                                "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,"
                                "width=64,height=48,framerate=30/1")
                                .get());
  ASSERT_NE(pool, nullptr);
  const BufferRef buffer = Active(pool.get()).take();
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer.get());
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->format, GST_VIDEO_FORMAT_NV12);
  EXPECT_EQ(meta->offset[1], 64u * 48u);
}
#endif

TEST_F(Offers, CostNoDriverCallHoweverOftenTheyAreAskedFor) {
  ElementHarness harness("npuinfer", with_model());
  const std::size_t before = driver_calls();
  ASSERT_GT(before, 0u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_NE(pool_of(ask(harness.get()->srcpad, caps_of("NV12", 64, 48)).get()), nullptr);
  }
  EXPECT_EQ(driver_calls(), before);
}

TEST_F(Offers, AreMadeOfRecycledMemoryAlsoInAnotherPool) {
  ElementHarness harness("npuinfer", with_model());
  const auto use_a_pool = [&] {
    const auto pool = pool_of(ask(harness.get()->srcpad, caps_of("NV12", 64, 48)).get());
    EXPECT_NE(Active(pool.get()).take(), nullptr);
  };
  use_a_pool();
  const std::size_t before = driver_calls();
  for (int i = 0; i < 20; ++i) use_a_pool();
  EXPECT_EQ(driver_calls(), before);
}

// After what the element tried out at its start no export succeeds any more (SOFTNPU_FAULT).
TEST_F(Offers, HaveOtherMemoryWhereTheirSourceHasNoRoom) {
  if (!std::getenv("SOFTNPU_FAULT")) {
    GTEST_SKIP() << "another run of this program has the fault";
  }
  ElementHarness harness("npuinfer", with_model(), caps_of("NV12", 64, 48));
  EXPECT_EQ(harness.stat_text("offered-memory"), "driver");
  const auto pool = pool_of(ask(harness.get()->srcpad, caps_of("NV12", 64, 48)).get());
  Active active(pool.get());
  BufferRef buffer = active.take();
  gst_buffer_memset(buffer.get(), 0, 128, gst_buffer_get_size(buffer.get()));
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  EXPECT_NEAR(first_tensor(harness.pull().get()).at(0), 130.41f, 0.5);
  EXPECT_EQ(harness.stat("offered"), 1u);
}

// ---- Layouts

/// Reconfigures `pool` as decoders do.
bool set_alignment(GstBufferPool* pool, const GstVideoAlignment& alignment) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  gst_buffer_pool_config_set_video_alignment(config, &alignment);
  return gst_buffer_pool_set_config(pool, config);
}

TEST_F(Offers, TakeTheAlignmentThatAProducerAsksForAndReadItInPlace) {
  ElementHarness harness("npuinfer", with_model(), caps_of("NV12", 64, 48));
  const auto pool = pool_of(ask(harness.get()->srcpad, caps_of("NV12", 64, 48)).get());
  ASSERT_TRUE(gst_buffer_pool_has_option(pool.get(), GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT));
  GstVideoAlignment alignment;
  gst_video_alignment_reset(&alignment);
  alignment.padding_left = 16;
  alignment.padding_right = 48;
  alignment.padding_top = 2;
  alignment.padding_bottom = 16;
  ASSERT_TRUE(set_alignment(pool.get(), alignment));
  Active active(pool.get());
  BufferRef buffer = active.take();
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer.get());
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->stride[0], 128);
  EXPECT_EQ(meta->offset[0], 2u * 128u + 16u);
  EXPECT_EQ(meta->alignment.padding_bottom, 16u);
  gst_buffer_memset(buffer.get(), 0, 128, gst_buffer_get_size(buffer.get()));
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  EXPECT_NEAR(first_tensor(harness.pull().get()).at(0), 130.41f, 0.5);
  EXPECT_EQ(harness.stat("offered"), 1u);
  EXPECT_EQ(harness.stat("copied"), 0u);
}

npu::FrameLayout padded_nv12() {
  npu::FrameLayout layout = npu::FrameLayout::tight(npu::PixelFormat::kNV12, 60, 44);
  layout.planes = {{64, 48}, {64, 24}};
  return layout;
}

TEST_F(Offers, OfABlobHaveItsLayoutAndNoOther) {
  ElementHarness harness("npuimport", with_blob_for(padded_nv12()), caps_of("NV12", 60, 44));
  const auto pool = pool_of(ask(harness.get()->srcpad, caps_of("NV12", 60, 44)).get());
  EXPECT_FALSE(gst_buffer_pool_has_option(pool.get(), GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT));
  GstVideoAlignment alignment;
  gst_video_alignment_reset(&alignment);
  alignment.padding_right = 100;
  ASSERT_TRUE(set_alignment(pool.get(), alignment)) << "what a pool does not know, it ignores";
  Active active(pool.get());
  BufferRef buffer = active.take();
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer.get());
  EXPECT_EQ(meta->stride[0], 64);
  EXPECT_EQ(meta->offset[1], 64u * 48u);
  EXPECT_EQ(gst_buffer_get_size(buffer.get()), 64u * 72u);
  gst_buffer_memset(buffer.get(), 0, 128, gst_buffer_get_size(buffer.get()));
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  EXPECT_NEAR(first_tensor(harness.pull().get()).at(0), 130.41f, 0.5);
  EXPECT_EQ(harness.stat("offered"), 1u);
}

TEST_F(Offers, OfABlobTellItsPaddingToProducersWithBuffersOfTheirOwn) {
  ElementHarness harness("npuimport", with_blob_for(padded_nv12()));
  const QueryRef query = ask(harness.get()->srcpad, caps_of("NV12", 60, 44));
  guint index = 0;
  ASSERT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, &index));
  const GstStructure* params = nullptr;
  gst_query_parse_nth_allocation_meta(query.get(), index, &params);
  ASSERT_NE(params, nullptr);
  EXPECT_TRUE(gst_structure_has_name(params, "video-meta"));
  guint right = 0, bottom = 0;
  EXPECT_TRUE(gst_structure_get(params, "padding-right", G_TYPE_UINT, &right, "padding-bottom",
                                G_TYPE_UINT, &bottom, nullptr));
  EXPECT_EQ(right, 4u);
  EXPECT_EQ(bottom, 4u);
}

// ---- Crops: frames pass as they are, and downstream has to know what is cut off.

bool takes_crops(GstQuery* query) {
  return gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
}

TEST_F(Offers, TakeCropsWhereDownstreamDoes) {
  ElementHarness harness("npuinfer", with_model());
  const std::string caps = caps_of("NV12", 64, 48);
  EXPECT_FALSE(takes_crops(ask(harness.get()->srcpad, caps).get()));
  gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_CROP_META_API_TYPE, nullptr);
  EXPECT_TRUE(takes_crops(ask(harness.get()->srcpad, caps).get()));
}

TEST_F(Offers, TakeCropsOfDmabufsWhereNobodyAnswers) {
  ElementHarness harness("npuinfer", with_model());
  gst_pad_unlink(ObjectRef<GstPad>(gst_element_get_static_pad(harness.element(), "src")).get(),
                 harness.get()->sinkpad);
  EXPECT_FALSE(takes_crops(ask(harness.get()->srcpad, caps_of("NV12", 64, 48)).get()));
  EXPECT_TRUE(takes_crops(
      ask(harness.get()->srcpad, "video/x-raw(memory:DMABuf),format=NV12,width=64,height=48")
          .get()));
}

TEST_F(Offers, TakeCropsWhereOnlyTensorsGoOut) {
  ElementHarness harness("npuinfer", [this](GstElement* element) {
    with_model()(element);
    gst_util_set_object_arg(G_OBJECT(element), "output-format", "nnstreamer");
  });
  EXPECT_TRUE(takes_crops(ask(harness.get()->srcpad, caps_of("NV12", 64, 48)).get()));
}

GstPadProbeReturn note_bytes(GstPad*, GstPadProbeInfo* info, gpointer user) {
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  auto& bytes = *static_cast<std::vector<guint8>*>(user);
  bytes.resize(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return GST_PAD_PROBE_OK;
}

/// A cropped frame behind the element, converted by videoconvert.
std::vector<guint8> converted_behind(const std::string& element,
                                     const std::function<void(GstElement*)>& configure) {
  const std::string line =
      "videotestsrc num-buffers=1 ! video/x-raw,format=NV12,width=64,height=48 ! "
      "videocrop left=20 top=8 ! " +
      element + " name=e ! videoconvert ! video/x-raw,format=RGB ! fakesink name=sink";
  const ObjectRef<GstElement> pipeline(gst_parse_launch(line.c_str(), nullptr));
  configure(ObjectRef<GstElement>(gst_bin_get_by_name(GST_BIN(pipeline.get()), "e")).get());
  const ObjectRef<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  const ObjectRef<GstPad> pad(gst_element_get_static_pad(sink.get(), "sink"));
  std::vector<guint8> bytes;
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, note_bytes, &bytes, nullptr);
  const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  GstMessage* end =
      gst_bus_timed_pop_filtered(bus.get(), GST_CLOCK_TIME_NONE,
                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  EXPECT_EQ(GST_MESSAGE_TYPE(end), GST_MESSAGE_EOS);
  gst_message_unref(end);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return bytes;
}

TEST_F(Offers, LeaveWhatWasCutOffOutBehindTheInference) {
  if (!gst_registry_check_feature_version(gst_registry_get(), "videocrop", 1, 0, 0)) {
    GTEST_SKIP() << "there is no videocrop";
  }
  const std::vector<guint8> cropped = converted_behind("identity", [](GstElement*) {});
  EXPECT_FALSE(cropped.empty());
  EXPECT_EQ(converted_behind("npuinfer", with_model()), cropped);
}

// ---- Real producers

/// Memory that arrives at npuinfer.
struct Arrived {
  std::set<std::uintptr_t> memories;  ///< inode of a DMA-BUF, else the mapped address
};

GstPadProbeReturn note_memory(GstPad*, GstPadProbeInfo* info, gpointer user) {
  GstMemory* memory = gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
  auto& arrived = *static_cast<Arrived*>(user);
  if (gst_is_dmabuf_memory(memory)) {
    struct stat status {};
    EXPECT_EQ(fstat(gst_dmabuf_memory_get_fd(memory), &status), 0);
    arrived.memories.insert(status.st_ino);
    return GST_PAD_PROBE_OK;
  }
  while (memory->parent) memory = memory->parent;
  GstMapInfo map;
  EXPECT_TRUE(gst_memory_map(memory, &map, GST_MAP_READ));
  arrived.memories.insert(reinterpret_cast<std::uintptr_t>(map.data));
  gst_memory_unmap(memory, &map);
  return GST_PAD_PROBE_OK;
}

struct Producer {
  const char* name;
  const char* line;      ///< makes 20 frames
  const char* elements;  ///< that may be missing, separated by blanks
  guint64 offered = 20;
  guint memories = 10;  ///< at most so many
};

bool is_installed(const std::string& name) {
  GstElementFactory* factory = gst_element_factory_find(name.c_str());
  if (factory) {
    gst_object_unref(factory);
  }
  return factory;
}

std::string first_missing(const std::string& elements) {
  std::istringstream names(elements);
  for (std::string name; names >> name;) {
    if (!is_installed(name)) return name;
  }
  return {};
}

class Producers : public Offers, public testing::WithParamInterface<Producer> {
 protected:
  /// Runs the line into npuinfer until its end and gives npuinfer.
  ObjectRef<GstElement> run(const std::string& line) {
    GError* error = nullptr;
    const std::string whole = line + " ! npuinfer name=npu ! fakesink";
    const ObjectRef<GstElement> pipeline(gst_parse_launch(whole.c_str(), &error));
    EXPECT_EQ(error, nullptr) << error->message;
    ObjectRef<GstElement> npu(gst_bin_get_by_name(GST_BIN(pipeline.get()), "npu"));
    with_model()(npu.get());
    const ObjectRef<GstPad> pad(gst_element_get_static_pad(npu.get(), "sink"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, note_memory, &arrived_, nullptr);
    const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline.get()));
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    GstMessage* end = gst_bus_timed_pop_filtered(
        bus.get(), GST_CLOCK_TIME_NONE,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    EXPECT_EQ(GST_MESSAGE_TYPE(end), GST_MESSAGE_EOS);
    gst_message_unref(end);
    g_object_get(npu.get(), "stats", &stats_, nullptr);
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    return npu;
  }
  ~Producers() override {
    if (stats_) {
      gst_structure_free(stats_);
    }
  }
  guint64 stat(const char* field) const {
    guint64 value = G_MAXUINT64;
    gst_structure_get_uint64(stats_, field, &value);
    return value;
  }

  Arrived arrived_;
  GstStructure* stats_ = nullptr;
};

TEST_P(Producers, FillTheMemoryThatTheyAreOffered) {
  const std::string missing = first_missing(GetParam().elements);
  if (!missing.empty()) {
    GTEST_SKIP() << "there is no " << missing;
  }
  run(GetParam().line);
  EXPECT_EQ(stat("frames"), 20u);
  EXPECT_EQ(stat("offered"), GetParam().offered)
      << gst_structure_get_string(stats_, "copy-reasons");
  EXPECT_EQ(stat("copied"), 20u - GetParam().offered);
  EXPECT_LE(arrived_.memories.size(), GetParam().memories);
}

#define PICTURE "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=320,height=240 ! "
#define NV12 "videotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=320,height=240"

INSTANTIATE_TEST_SUITE_P(
    Renderers, Producers,
    testing::Values(
        Producer{"videotestsrc", NV12, ""},
        Producer{"videoconvert", PICTURE "videoconvert ! video/x-raw,format=NV12", ""},
        Producer{"videoscale", PICTURE "videoscale ! video/x-raw,width=200,height=150", ""},
        Producer{"videoconvertscale",
                 PICTURE "videoconvertscale ! video/x-raw,format=RGB,width=250,height=130",
                 "videoconvertscale"}),
    by_name);

INSTANTIATE_TEST_SUITE_P(
    Decoders, Producers,
    testing::Values(Producer{"jpegdec", PICTURE "jpegenc ! jpegdec", "jpegenc jpegdec"},
                    Producer{"openh264dec", PICTURE "openh264enc ! h264parse ! openh264dec",
                             "openh264enc h264parse openh264dec"},
                    Producer{"vp8dec", PICTURE "vp8enc deadline=1 ! vp8dec", "vp8enc vp8dec"},
                    Producer{"avdec_h264_copying",
                             PICTURE "openh264enc ! h264parse ! avdec_h264 direct-rendering=false",
                             "openh264enc h264parse avdec_h264"},
                    Producer{"avdec_h264", PICTURE "openh264enc ! h264parse ! avdec_h264",
                             "openh264enc h264parse avdec_h264"}),
    by_name);

INSTANTIATE_TEST_SUITE_P(
    InBetween, Producers,
    testing::Values(
        Producer{"queue", NV12 " ! queue", "", 20, 40},
        Producer{"capsfilter", NV12 " ! capsfilter caps=video/x-raw,width=320", ""},
        Producer{"identity", NV12 " ! identity", ""},
        Producer{"videocrop", NV12 " ! videocrop left=16 top=8 right=40 bottom=30", "videocrop"},
        Producer{"queue_of_a_decoder", PICTURE "jpegenc ! jpegdec ! queue max-size-buffers=3",
                 "jpegdec", 20, 12}),
    by_name);

// Elements that do not pass an offer on in some versions; docs/elements.md says so.
INSTANTIATE_TEST_SUITE_P(Elsewhere, Producers,
                         testing::Values(Producer{"tee", NV12 " ! tee", "", 0, 20},
                                         Producer{"clocksync", NV12 " ! clocksync sync=false",
                                                  "clocksync", GST_CHECK_VERSION(1, 26, 0) ? 20 : 0,
                                                  20}),
                         by_name);

}  // namespace
}  // namespace gstnpu::test
