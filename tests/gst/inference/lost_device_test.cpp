// A stream goes on through a lost device: the fifth inference's.
#include <gtest/gtest.h>
#include <meta/npumeta.h>

#include <cstdlib>

#include "support/software_npu.hpp"

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

class LostDevice : public testing::TestWithParam<const char*> {
 protected:
  // Read by the driver when it is first used: one process for each row.
  void SetUp() override { ::setenv("SOFTNPU_FAULT", GetParam(), 1); }
  TempDir dir_;
};

TEST_P(LostDevice, GivesOneWarningAndFramesGoOn) {
  const std::string model = dir_.write("model.xml", pixels_ir(8, 8)).string();
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "model", model.c_str(), nullptr);
  });
  harness.set_caps(caps_of("RGB", 8, 8));
  constexpr guint kFrames = 20;
  guint with_tensors = 0;
  for (guint index = 0; index < kFrames; ++index) {
    ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, static_cast<guint8>(index), index)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    ASSERT_TRUE(out) << "frame " << index;
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), gst_util_uint64_scale(index, GST_SECOND, 30));
    const auto values = first_tensor(out.get());
    if (values.empty()) continue;
    ++with_tensors;
    EXPECT_EQ(values.front(), static_cast<float>(index));
  }
  EXPECT_EQ(with_tensors, kFrames - 1);
  guint told = 0;
  for (const auto& text : harness.messages(GST_MESSAGE_WARNING)) {
    told += text.find("the NPU was lost") != std::string::npos;
  }
  EXPECT_EQ(told, 1u);
}

// On a device that takes its time, so that they all are in it when it goes.
TEST(LostInFlight, FramesPassInOrderAndAreToldOnce) {
  ::setenv("SOFTNPU_EXEC", "delay:50000", 1);
  ::setenv("SOFTNPU_FAULT",
           "zeFenceHostSynchronize:DEVICE_LOST@3,zeFenceHostSynchronize:DEVICE_LOST@4,"
           "zeFenceHostSynchronize:DEVICE_LOST@5,zeFenceHostSynchronize:DEVICE_LOST@9",
           1);
  const TempDir dir;
  const std::string model = dir.write("model.xml", pixels_ir(8, 8)).string();
  constexpr guint kFrames = 16;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "model", model.c_str(), "nireq", 6u, nullptr);
  });
  harness.set_caps(caps_of("RGB", 8, 8));
  guint with_tensors = 0, losses = 0;
  bool lost_before = false;
  for (guint index = 0; index < kFrames; ++index) {
    ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, static_cast<guint8>(index), index)), GST_FLOW_OK);
  }
  for (guint index = 0; index < kFrames; ++index) {
    const BufferRef out = harness.pull();
    ASSERT_TRUE(out) << "frame " << index;
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), gst_util_uint64_scale(index, GST_SECOND, 30));
    const bool lost = first_tensor(out.get()).empty();
    losses += lost && !lost_before;
    lost_before = lost;
    with_tensors += !lost;
  }
  guint told = 0;
  for (const auto& text : harness.messages(GST_MESSAGE_WARNING)) {
    told += text.find("the NPU was lost") != std::string::npos;
  }
  EXPECT_GT(kFrames - with_tensors, losses) << "several frames were in it when it was lost";
  EXPECT_GE(told, 1u);
  // The pipeline may be so slow that some frames are alone in it.
  const std::uint64_t opened_again = npu::test::driver_call_counts().at("zeContextCreate") - 1;
  EXPECT_LE(told, opened_again) << "once for each time that it was lost, not for each frame";
}

// The NPU has objects of several frames then.
TEST(LostObjects, FramesPassInOrderAndTheNextHaveTheirs) {
  ::setenv("SOFTNPU_FAULT", "zeFenceHostSynchronize:DEVICE_LOST@8", 1);
  const TempDir dir;
  const std::string model = dir.write("model.xml", pixels_ir(8, 8)).string();
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "model", model.c_str(), nullptr);
    gst_util_set_object_arg(G_OBJECT(element), "inference-region", "roi-list");
  });
  harness.set_caps(caps_of("RGB", 32, 32));
  constexpr guint kFrames = 10, kObjects = 3;
  for (guint index = 0; index < kFrames; ++index) {
    BufferRef frame = frame_of("RGB", 32, 32, static_cast<guint8>(index), index);
    for (guint i = 0; i < kObjects; ++i) {
      gst_buffer_add_video_region_of_interest_meta(frame.get(), "thing", 2 * i, i, 12, 9);
    }
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  }
  guint whole = 0;
  for (guint index = 0; index < kFrames; ++index) {
    const BufferRef out = harness.pull();
    ASSERT_TRUE(out) << "frame " << index;
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), gst_util_uint64_scale(index, GST_SECOND, 30));
    const guint there = gst_npu_buffer_get_num_tensors(out.get());
    EXPECT_LE(there, kObjects);
    whole += there == kObjects;
    for (const float value : first_tensor(out.get())) ASSERT_EQ(value, static_cast<float>(index));
  }
  EXPECT_GE(whole, kFrames / 2);
  EXPECT_EQ(harness.stat("lost"), kFrames - whole);
  EXPECT_EQ(harness.stat("inferred"), whole);
  EXPECT_GT(harness.stat("lost"), 0u);
}

class LostForGood : public testing::Test {
 protected:
  static constexpr guint kFrames = 20;

  guint warnings() const {
    guint told = 0;
    for (const auto& text : harness_.messages(GST_MESSAGE_WARNING)) {
      told += text.find("the NPU was lost") != std::string::npos;
    }
    return told;
  }

  explicit LostForGood(const char* fault = "zeFenceHostSynchronize:DEVICE_LOST@3+")
      : set_(::setenv("SOFTNPU_FAULT", fault, 1)) {}

  const int set_;  // from the third inference on; the driver reads it when it is first used
  TempDir dir_;
  ElementHarness harness_{"npuinfer", [this](GstElement* element) {
                            g_object_set(element, "device", "software", "model",
                                         dir_.write("model.xml", pixels_ir(8, 8)).c_str(), nullptr);
                          }};
  guint out_ = 0;
};

TEST_F(LostForGood, IsAnErrorAfterSixTimes) {
  harness_.set_caps(caps_of("RGB", 8, 8));
  std::vector<std::string> errors;
  for (guint index = 0; index < kFrames && errors.empty(); ++index) {
    harness_.push(frame_of("RGB", 8, 8, 0, index));
    EXPECT_TRUE(soon([&] {
      errors = harness_.messages(GST_MESSAGE_ERROR);
      return harness_.waiting() > 0 || !errors.empty();
    }));
    out_ += errors.empty() && harness_.pull() != nullptr;
  }
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(has(errors[0], "lost 6 times in a row"));
  EXPECT_TRUE(has(errors[0], "on-error=pass"));
  EXPECT_EQ(out_, 2u + 5u) << "two with tensors, five losses that might have been all";
  EXPECT_EQ(harness_.push(frame_of("RGB", 8, 8, 0, kFrames)), GST_FLOW_ERROR);
}

TEST_F(LostForGood, PassesWhereAsked) {
  gst_util_set_object_arg(G_OBJECT(harness_.element()), "on-error", "pass");
  harness_.set_caps(caps_of("RGB", 8, 8));
  for (guint index = 0; index < kFrames; ++index) {
    ASSERT_EQ(harness_.push(frame_of("RGB", 8, 8, 0, index)), GST_FLOW_OK);
    ASSERT_NE(harness_.pull(), nullptr);
  }
  EXPECT_EQ(harness_.stat("frames"), kFrames);
  EXPECT_EQ(harness_.stat("inferred"), 2u);
  EXPECT_EQ(harness_.stat("lost"), kFrames - 2);
  EXPECT_EQ(warnings(), 1u);
  EXPECT_TRUE(harness_.messages(GST_MESSAGE_ERROR).empty());
}

// As Intel's driver says it of a device that it cannot open any more. The first context is the
// plugin's own.
class NotHadAgain : public LostForGood {
 protected:
  NotHadAgain()
      : LostForGood(
            "zeFenceHostSynchronize:DEVICE_LOST@3,zeContextCreate:OUT_OF_DEVICE_MEMORY@2+") {}
};

TEST_F(NotHadAgain, IsLostForGoodToo) {
  gst_util_set_object_arg(G_OBJECT(harness_.element()), "on-error", "pass");
  harness_.set_caps(caps_of("RGB", 8, 8));
  for (guint index = 0; index < kFrames; ++index) {
    ASSERT_EQ(harness_.push(frame_of("RGB", 8, 8, 0, index)), GST_FLOW_OK) << index;
    ASSERT_NE(harness_.pull(), nullptr);
  }
  EXPECT_EQ(harness_.stat("inferred"), 2u);
  EXPECT_EQ(harness_.stat("lost"), kFrames - 2);
  EXPECT_EQ(warnings(), 1u);
  EXPECT_TRUE(harness_.messages(GST_MESSAGE_ERROR).empty());
  gst_util_set_object_arg(G_OBJECT(harness_.element()), "on-error", "fail");
  EXPECT_EQ(harness_.push(frame_of("RGB", 8, 8, 0, kFrames)), GST_FLOW_ERROR);
  EXPECT_TRUE(has(harness_.only_message(GST_MESSAGE_ERROR), "times in a row"));
}

/// The pool that the element offers; its frames are the test's.
class OfferedPool {
 public:
  OfferedPool(GstHarness* harness, const char* caps) {
    const CapsRef frames(gst_caps_from_string(caps));
    GstQuery* query = gst_query_new_allocation(frames.get(), TRUE);
    guint size = 0, min = 0, max = 0;
    if (gst_pad_peer_query(harness->srcpad, query) && gst_query_get_n_allocation_pools(query) > 0) {
      gst_query_parse_nth_allocation_pool(query, 0, &pool_, &size, &min, &max);
    }
    gst_query_unref(query);
    if (pool_) {
      gst_buffer_pool_set_active(pool_, TRUE);
    }
  }
  ~OfferedPool() {
    if (!pool_) return;
    gst_buffer_pool_set_active(pool_, FALSE);
    gst_object_unref(pool_);
  }
  OfferedPool(const OfferedPool&) = delete;
  OfferedPool& operator=(const OfferedPool&) = delete;

  /// Null where there is none.
  BufferRef take(guint index) {
    GstBuffer* buffer = nullptr;
    if (!pool_ || gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr) != GST_FLOW_OK) {
      return nullptr;
    }
    GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(index, GST_SECOND, 30);
    return BufferRef(buffer);
  }

 private:
  GstBufferPool* pool_ = nullptr;
};

bool is_ordinary(GstBuffer* buffer) {
  return gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), GST_ALLOCATOR_SYSMEM);
}

// For so long that the pool has no memory left from before.
class HadAgain : public LostForGood {
 protected:
  HadAgain() : LostForGood(faults().c_str()) {}

 private:
  static std::string faults() {
    std::string faults = "zeFenceHostSynchronize:DEVICE_LOST@3";
    for (int call = 2; call < 30; ++call) {
      faults += ",zeContextCreate:OUT_OF_DEVICE_MEMORY@" + std::to_string(call);
    }
    return faults;
  }
};

TEST_F(HadAgain, UpstreamHasItsMemoryAgain) {
  gst_util_set_object_arg(G_OBJECT(harness_.element()), "on-error", "pass");
  harness_.set_caps(caps_of("RGB", 8, 8));
  OfferedPool pool(harness_.get(), caps_of("RGB", 8, 8).c_str());
  std::vector<BufferRef> kept;
  guint ordinary = 0, index = 0;
  for (; index < 200 && (ordinary == 0 || harness_.stat("inferred") < 4); ++index) {
    BufferRef frame = pool.take(index);
    ASSERT_TRUE(frame) << "frame " << index;
    const bool is_new = !is_ordinary(frame.get());
    ordinary += is_new ? 0 : 1;
    ASSERT_EQ(harness_.push(std::move(frame)), GST_FLOW_OK) << index;
    BufferRef out = harness_.pull();
    if (is_new) {
      kept.push_back(std::move(out));  // so that there is none but those in ordinary memory
    }
  }
  ASSERT_GT(ordinary, 0u);
  const BufferRef next = pool.take(index);
  ASSERT_TRUE(next);
  EXPECT_FALSE(is_ordinary(next.get())) << "a frame in ordinary memory was kept";
}

INSTANTIATE_TEST_SUITE_P(By, LostDevice,
                         testing::Values("zeFenceHostSynchronize:DEVICE_LOST@5",
                                         "zeCommandQueueExecuteCommandLists:POISON@5"),
                         [](const auto& row) {
                           const std::string text = row.param;
                           return text.find("POISON") == std::string::npos ? "ItsFence"
                                                                           : "APoisonedContext";
                         });

// Offered memory that is a DMA-BUF is imported into the next context. Else the driver cannot reach
// what it gave out before: npucore stands other memory in, and copies.
TEST(LostMemory, IsReadOnWhereItIsADmabufElseCopiedAndToldSo) {
  ::setenv("SOFTNPU_FAULT", "zeFenceHostSynchronize:DEVICE_LOST@3", 1);
  const TempDir dir;
  const std::string model = dir.write("model.xml", pixels_ir(8, 8)).string();
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "model", model.c_str(), nullptr);
  });
  harness.set_caps(caps_of("RGB", 8, 8));
  const BufferRef frame(gst_harness_create_buffer(harness.get(), 192));
  for (guint index = 0; index < 8; ++index) {
    ASSERT_EQ(harness.push(BufferRef(gst_buffer_copy(frame.get()))), GST_FLOW_OK);
    ASSERT_TRUE(harness.pull()) << "frame " << index;
  }
  const auto warnings = harness.messages(GST_MESSAGE_WARNING);
  if (harness.stat_text("offered-memory") != "none") {
    EXPECT_EQ(harness.stat("offered"), 8u);
    EXPECT_EQ(harness.stat("copied"), 0u);
    EXPECT_EQ(warnings.size(), 1u) << "of the lost device";
    return;
  }
  EXPECT_EQ(harness.stat("copied-lost-device"), 5u);
  EXPECT_EQ(harness.stat("copied"), 5u);
  EXPECT_EQ(harness.stat("offered"), 3u);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(has(warnings[1], "before the NPU was lost"));
}

}  // namespace
}  // namespace gstnpu::test
