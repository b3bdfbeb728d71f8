// Caps and allocation of npuinfer.
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

class Negotiation : public testing::Test {
 protected:
  Negotiation()
      : harness_("npuinfer", [this](GstElement* element) {
          const std::string path = dir_.write("pixels.xml", pixels_ir(8, 8)).string();
          g_object_set(element, "model", path.c_str(), "device", "software", "nireq", 3, nullptr);
        }) {}

  QueryRef allocation(const std::string& caps_text, bool need_pool = true) {
    const CapsRef caps(gst_caps_from_string(caps_text.c_str()));
    QueryRef query(gst_query_new_allocation(caps.get(), need_pool));
    EXPECT_TRUE(gst_pad_peer_query(harness_.get()->srcpad, query.get()));
    return query;
  }

  TempDir dir_;
  ElementHarness harness_;
};

struct Pool {
  ObjectRef<GstBufferPool> pool;
  guint size = 0, min = 0, max = 0;
};

Pool first_pool(GstQuery* query) {
  GstBufferPool* pool = nullptr;
  Pool found;
  EXPECT_EQ(gst_query_get_n_allocation_pools(query), 1u);
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &found.size, &found.min, &found.max);
  found.pool.reset(pool);
  return found;
}

TEST_F(Negotiation, OffersAPoolOfAsManyFramesAsAreHeld) {
  const QueryRef query = allocation(caps_of("NV12", 640, 480));
  const Pool found = first_pool(query.get());
  EXPECT_NE(found.pool, nullptr);
  EXPECT_EQ(found.size, 640u * 480u * 3 / 2);
  EXPECT_EQ(found.min, 5u);
  EXPECT_EQ(found.max, 0u);
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
}

TEST_F(Negotiation, PoolTakesMoreBuffersThanOffered) {
  const Pool found = first_pool(allocation(caps_of("NV12", 640, 480)).get());
  GstStructure* config = gst_buffer_pool_get_config(found.pool.get());
  const CapsRef caps(gst_caps_from_string(caps_of("NV12", 640, 480).c_str()));
  gst_buffer_pool_config_set_params(config, caps.get(), found.size, 9, 0);
  ASSERT_TRUE(gst_buffer_pool_set_config(found.pool.get(), config));
  ASSERT_TRUE(gst_buffer_pool_set_active(found.pool.get(), TRUE));
  GstBuffer* buffer = nullptr;
  ASSERT_EQ(gst_buffer_pool_acquire_buffer(found.pool.get(), &buffer, nullptr), GST_FLOW_OK);
  EXPECT_EQ(gst_buffer_get_size(buffer), found.size);
  gst_buffer_unref(buffer);
  gst_buffer_pool_set_active(found.pool.get(), FALSE);
}

TEST_F(Negotiation, AskedOftenGivesAnotherPoolEachTime) {
  const Pool first = first_pool(allocation(caps_of("NV12", 640, 480)).get());
  gst_buffer_pool_set_active(first.pool.get(), TRUE);
  for (int i = 0; i < 20; ++i) {
    const Pool next = first_pool(allocation(caps_of("NV12", 640, 480)).get());
    EXPECT_NE(next.pool, first.pool);
    EXPECT_FALSE(gst_buffer_pool_is_active(next.pool.get()));
  }
  gst_buffer_pool_set_active(first.pool.get(), FALSE);
}

TEST_F(Negotiation, WhoNeedsNoPoolGetsTheAllocator) {
  const QueryRef query = allocation(caps_of("RGB", 64, 48), false);
  EXPECT_EQ(first_pool(query.get()).pool, nullptr);
  GstAllocator* allocator = nullptr;
  gst_query_parse_nth_allocation_param(query.get(), 0, &allocator, nullptr);
  const ObjectRef<GstAllocator> held(allocator);
  ASSERT_NE(allocator, nullptr);
  EXPECT_TRUE(std::string_view(G_OBJECT_TYPE_NAME(allocator)).starts_with("Npu"));
}

class NpuMemory : public Negotiation {
 protected:
  NpuMemory() {
    GstAllocator* allocator = nullptr;
    gst_query_parse_nth_allocation_param(allocation(caps_of("RGB", 64, 48), false).get(), 0,
                                         &allocator, nullptr);
    allocator_.reset(allocator);
  }
  MemoryRef allocate(gsize size) {
    return MemoryRef(gst_allocator_alloc(allocator_.get(), size, nullptr));
  }
  ObjectRef<GstAllocator> allocator_;
};

guint8* data_of(GstMemory* memory) {
  GstMapInfo map;
  EXPECT_TRUE(gst_memory_map(memory, &map, GST_MAP_READWRITE));
  guint8* const data = map.data;
  gst_memory_unmap(memory, &map);  // GStreamer 1.28 empties `map`
  return data;
}

TEST_F(NpuMemory, IsUsedAgainAfterItWasFreed) {
  MemoryRef memory = allocate(10000);
  const guint8* first = data_of(memory.get());
  memory.reset();
  memory = allocate(9000);
  EXPECT_EQ(data_of(memory.get()), first) << "the same pages serve";
}

TEST_F(NpuMemory, SharedPartsSeeTheSameBytes) {
  const MemoryRef memory = allocate(8192);
  guint8* bytes = data_of(memory.get());
  bytes[5000] = 77;
  const MemoryRef part(gst_memory_share(memory.get(), 5000, 10));
  GstMapInfo map;
  ASSERT_TRUE(gst_memory_map(part.get(), &map, GST_MAP_READ));
  EXPECT_EQ(map.size, 10u);
  EXPECT_EQ(map.data[0], 77);
  gst_memory_unmap(part.get(), &map);
}

TEST_F(NpuMemory, CopiesStayInNpuMemory) {
  const MemoryRef memory = allocate(4096);
  data_of(memory.get())[7] = 9;
  const MemoryRef copy(gst_memory_copy(memory.get(), 0, -1));
  EXPECT_EQ(copy->allocator, allocator_.get());
  EXPECT_EQ(data_of(copy.get())[7], 9);
}

TEST_F(NpuMemory, HoldsPrefixAndPadding) {
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.prefix = 64;
  params.padding = 100;
  const MemoryRef memory(gst_allocator_alloc(allocator_.get(), 4000, &params));
  gsize offset = 0, maxsize = 0;
  EXPECT_EQ(gst_memory_get_sizes(memory.get(), &offset, &maxsize), 4000u);
  EXPECT_EQ(offset, 64u);
  EXPECT_GE(maxsize, 4164u);
}

TEST_F(Negotiation, TakesEveryFormatInBothMemories) {
  for (const char* memory : {"", "(memory:DMABuf)"}) {
    for (const char* format :
         {"NV12", "I420", "NV21", "YV12", "NV16", "YUY2", "UYVY", "P010_10LE", "RGB", "BGR", "RGBx",
          "BGRx", "ARGB", "ABGR", "xRGB", "xBGR", "GRAY8", "GRAY16_LE"}) {
      const CapsRef caps(gst_caps_from_string((std::string("video/x-raw") + memory + ",format=" +
                                               format + ",width=33,height=17,framerate=0/1")
                                                  .c_str()));
      EXPECT_TRUE(gst_pad_peer_query_accept_caps(harness_.get()->srcpad, caps.get()))
          << memory << format;
    }
  }
}

#if GST_CHECK_VERSION(1, 24, 0)
struct DrmRow {
  const char* name;
  const char* drm_format;
  bool accepted;
};

class DrmFormats : public Negotiation, public testing::WithParamInterface<DrmRow> {};

TEST_P(DrmFormats, AreTakenWhereTheyAreLinear) {
  const CapsRef caps(gst_caps_from_string(
      (std::string("video/x-raw(memory:DMABuf),format=DMA_DRM,width=64,height=48,framerate=30/1,") +
       "drm-format=" + GetParam().drm_format)
          .c_str()));
  EXPECT_EQ(gst_pad_peer_query_accept_caps(harness_.get()->srcpad, caps.get()),
            GetParam().accepted);
}

INSTANTIATE_TEST_SUITE_P(All, DrmFormats,
                         testing::Values(DrmRow{"nv12", "NV12", true}, DrmRow{"i420", "YU12", true},
                                         DrmRow{"bgrx", "XR24", true},
                                         DrmRow{"tiled_nv12", "NV12:0x0100000000000002", false},
                                         DrmRow{"nv21", "NV21", true}, DrmRow{"yuy2", "YUYV", true},
                                         DrmRow{"p010", "P010", true}, DrmRow{"yv12", "YV12", true},
                                         DrmRow{"nv16", "NV16", true}, DrmRow{"uyvy", "UYVY", true},
                                         DrmRow{"argb", "BA24", true}, DrmRow{"abgr", "RA24", true},
                                         DrmRow{"ayuv", "AYUV", false}),
                         by_name);

TEST_F(Negotiation, ReadsFramesOfDrmCaps) {
  harness_.set_caps(
      "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=64,height=48,framerate=30/"
      "1");
  ASSERT_EQ(harness_.push(frame_of("NV12", 64, 48, 128)), GST_FLOW_OK);
  EXPECT_NEAR(first_tensor(harness_.pull().get()).at(0), 130.41f, 0.5);
}
#endif

TEST(ATestSource, GivesNv12WhereNothingElseIsAskedFor) {
  const TempDir dir;
  const std::string line = "videotestsrc num-buffers=1 ! npuinfer device=software model=" +
                           dir.write("pixels.xml", pixels_ir(8, 8)).string() +
                           " ! fakesink name=sink";
  const ObjectRef<GstElement> pipeline(gst_parse_launch(line.c_str(), nullptr));
  ASSERT_TRUE(pipeline);
  gst_element_set_state(pipeline.get(), GST_STATE_PAUSED);
  ASSERT_EQ(gst_element_get_state(pipeline.get(), nullptr, nullptr, 30 * GST_SECOND),
            GST_STATE_CHANGE_SUCCESS);
  const ObjectRef<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  const ObjectRef<GstPad> pad(gst_element_get_static_pad(sink.get(), "sink"));
  const CapsRef caps(gst_pad_get_current_caps(pad.get()));
  ASSERT_TRUE(caps);
  EXPECT_STREQ(gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "format"), "NV12");
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

constexpr const char* kCure =
    "vapostproc ! video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=YU12";
constexpr const char* kTiled =
    "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000002,width=64,"
    "height=48,framerate=30/1";

TEST_F(Negotiation, TiledCapsEndInOneErrorThatNamesTheCure) {
  for (int i = 0; i < 2; ++i) harness_.set_caps(kTiled);
  const auto errors = harness_.messages(GST_MESSAGE_ERROR);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(has(errors[0], kCure));
  EXPECT_TRUE(has(errors[0], "NV12:0x0100000000000002"));
  EXPECT_TRUE(harness_.messages(GST_MESSAGE_WARNING).empty());
  EXPECT_NE(harness_.push(frame_of("NV12", 64, 48, 128)), GST_FLOW_OK);
}

TEST_F(Negotiation, GoesOnWithLinearFramesAfterTiledOnes) {
  harness_.set_caps(kTiled);
  harness_.set_caps(caps_of("NV12", 64, 48));
  ASSERT_EQ(harness_.push(frame_of("NV12", 64, 48, 128)), GST_FLOW_OK);
  ASSERT_NE(harness_.pull(), nullptr);
  harness_.set_caps(kTiled);
  EXPECT_EQ(harness_.messages(GST_MESSAGE_ERROR).size(), 2u) << "each change is told";
}

TEST_F(Negotiation, WhoOffersOnlyTiledFramesIsWarnedOnceWithTheCure) {
  const CapsRef tiled(
      gst_caps_from_string("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format={NV12:"
                           "0x0100000000000002,NV12:0x0100000000000009}"));
  for (int i = 0; i < 2; ++i) {
    const CapsRef answer(gst_pad_peer_query_caps(harness_.get()->srcpad, tiled.get()));
    EXPECT_TRUE(gst_caps_is_empty(answer.get()));
  }
  const auto warnings = harness_.messages(GST_MESSAGE_WARNING);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(has(warnings[0], kCure));
}

class RefusedBy : public Negotiation, public testing::WithParamInterface<const char*> {};

TEST_P(RefusedBy, AQueryMakesAnErrorOfAStreamThatEndsBeforeItBegan) {
  const CapsRef tiled(gst_caps_from_string(kTiled));
  GstPad* pad = harness_.get()->srcpad;
  if (GetParam() == std::string("caps")) {
    CapsRef(gst_pad_peer_query_caps(pad, tiled.get()));
  }
  if (GetParam() == std::string("accept")) {
    gst_pad_peer_query_accept_caps(pad, tiled.get());
  }
  gst_harness_push_event(harness_.get(), gst_event_new_stream_start("stream"));
  gst_harness_push_event(harness_.get(), gst_event_new_eos());
  const auto errors = harness_.messages(GST_MESSAGE_ERROR);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(has(errors[0], kCure));
}

INSTANTIATE_TEST_SUITE_P(All, RefusedBy, testing::Values("caps", "accept"),
                         [](const auto& row) { return std::string(row.param); });

// vapostproc asks so whether it may do nothing.
TEST_F(Negotiation, TryingTiledCapsOutIsNoReasonToWarn) {
  const CapsRef tiled(gst_caps_from_string(kTiled));
  EXPECT_FALSE(gst_pad_peer_query_accept_caps(harness_.get()->srcpad, tiled.get()));
  EXPECT_TRUE(harness_.messages(GST_MESSAGE_WARNING).empty());
  harness_.set_caps(caps_of("NV12", 64, 48));
  gst_harness_push_event(harness_.get(), gst_event_new_eos());
  EXPECT_TRUE(harness_.messages(GST_MESSAGE_ERROR).empty());
}

TEST_F(Negotiation, CopiesTellThatUpstreamHasTiledDmaBufsToo) {
  const CapsRef offered(
      gst_caps_from_string("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:"
                           "0x0100000000000002;video/x-raw,format=NV12"));
  const CapsRef answer(gst_pad_peer_query_caps(harness_.get()->srcpad, offered.get()));
  EXPECT_FALSE(gst_caps_is_empty(answer.get()));
  EXPECT_TRUE(harness_.messages(GST_MESSAGE_WARNING).empty());
  harness_.set_caps(caps_of("NV12", 64, 48));
  ASSERT_EQ(harness_.push(frame_of("NV12", 64, 48, 128)), GST_FLOW_OK);
  const auto warnings = harness_.messages(GST_MESSAGE_WARNING);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(has(warnings[0], kCure));
  EXPECT_TRUE(has(harness_.stat_text("copy-reasons"), kCure));
}

TEST_F(Negotiation, OtherCapsEndInAnErrorToo) {
  harness_.set_caps("video/x-raw,format=AYUV,width=64,height=48,framerate=30/1");
  const auto errors = harness_.messages(GST_MESSAGE_ERROR);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(has(errors[0], "AYUV"));
  EXPECT_TRUE(has(errors[0], "videoconvert"));
}

TEST_F(Negotiation, TakesCapsWithoutAFramerate) {
  harness_.set_caps("video/x-raw,format=NV12,width=64,height=48");
  EXPECT_EQ(harness_.push(frame_of("NV12", 64, 48, 128)), GST_FLOW_OK);
  EXPECT_TRUE(harness_.messages(GST_MESSAGE_ERROR).empty());
}

#if GST_CHECK_VERSION(1, 24, 0)
// A refused link tells no reason.
TEST(Linking, TiledCapsLinkAndAreRefusedWithTheCureOnceTheModelIsOpen) {
  const TempDir dir;
  GError* error = nullptr;
  const ObjectRef<GstElement> pipeline(GST_ELEMENT(gst_object_ref_sink(
      gst_parse_launch((std::string("fakesrc num-buffers=1 sizetype=fixed sizemax=4608 ! ") +
                        kTiled + " ! npuinfer name=npu device=software model=" +
                        dir.write("pixels.xml", pixels_ir(8, 8)).string() + " ! fakesink")
                           .c_str(),
                       &error))));
  ASSERT_EQ(error, nullptr) << error->message;
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline.get()));
  std::string told;  // by npuinfer; the capsfilter and the source have their own errors
  while (told.empty()) {
    GstMessage* message = gst_bus_timed_pop_filtered(bus.get(), 20 * GST_SECOND, GST_MESSAGE_ERROR);
    ASSERT_NE(message, nullptr);
    if (g_strcmp0(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), "npu") == 0) {
      gst_message_parse_error(message, &error, nullptr);
      told = error->message;
      g_clear_error(&error);
    }
    gst_message_unref(message);
  }
  EXPECT_TRUE(has(told, kCure));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}
#endif

TEST_F(Negotiation, TellsUpstreamWhatDownstreamTakes) {
  gst_harness_set_sink_caps_str(harness_.get(), "video/x-raw,format=RGB,width=64,height=48");
  const CapsRef caps(gst_pad_peer_query_caps(harness_.get()->srcpad, nullptr));
  ASSERT_EQ(gst_caps_get_size(caps.get()), 1u);
  const GstStructure* structure = gst_caps_get_structure(caps.get(), 0);
  EXPECT_STREQ(gst_structure_get_string(structure, "format"), "RGB");
  int width = 0;
  EXPECT_TRUE(gst_structure_get_int(structure, "width", &width));
  EXPECT_EQ(width, 64);
}

}  // namespace
}  // namespace gstnpu::test
