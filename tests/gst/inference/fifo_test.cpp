#include "inference/fifo.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace gstnpu {
namespace {

using namespace std::chrono_literals;

BufferRef frame() {
  return BufferRef(gst_buffer_new());
}

class FifoTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
  void SetUp() override { fifo_.start(); }
  Fifo fifo_{2};
};

TEST_F(FifoTest, KeepsTheOrderOfFramesAndEvents) {
  fifo_.push(frame());
  fifo_.push(EventRef(gst_event_new_eos()));
  fifo_.push(frame());
  EXPECT_TRUE(std::holds_alternative<BufferRef>(*fifo_.pop()));
  EXPECT_TRUE(std::holds_alternative<EventRef>(*fifo_.pop()));
  EXPECT_TRUE(std::holds_alternative<BufferRef>(*fifo_.pop()));
}

TEST_F(FifoTest, WaitsForAFrameToLeaveTheNpu) {
  fifo_.push(frame());
  const guint64 seen = fifo_.frames_done();
  auto left = std::async(std::launch::async, [&] { return fifo_.wait_for_frame_done(seen); });
  EXPECT_EQ(left.wait_for(20ms), std::future_status::timeout);
  const auto popped = fifo_.pop();
  fifo_.frame_done();
  EXPECT_TRUE(left.get());
  EXPECT_TRUE(fifo_.wait_for_frame_done(seen)) << "it left before it was waited for";
}

TEST_F(FifoTest, WaitsForNoFrameWhereNoneIsInsideOrItStops) {
  EXPECT_FALSE(fifo_.wait_for_frame_done(fifo_.frames_done()));
  fifo_.push(frame());
  auto left = std::async(std::launch::async,
                         [this] { return fifo_.wait_for_frame_done(fifo_.frames_done()); });
  fifo_.stop(GST_FLOW_FLUSHING);
  EXPECT_FALSE(left.get());
}

TEST_F(FifoTest, HoldsFramesBackUntilOneIsDone) {
  fifo_.push(frame());
  fifo_.push(frame());
  auto room = std::async(std::launch::async, [this] { return fifo_.wait_for_room(); });
  EXPECT_EQ(room.wait_for(20ms), std::future_status::timeout);
  const auto popped = fifo_.pop();
  EXPECT_EQ(room.wait_for(20ms), std::future_status::timeout) << "still in the NPU";
  fifo_.frame_done();
  EXPECT_EQ(room.get(), GST_FLOW_OK);
}

TEST_F(FifoTest, EventsTakeNoRoom) {
  for (int i = 0; i < 10; ++i) fifo_.push(EventRef(gst_event_new_eos()));
  EXPECT_EQ(fifo_.wait_for_room(), GST_FLOW_OK);
}

TEST_F(FifoTest, ObjectsTakeNoRoom) {
  for (int i = 0; i < 10; ++i) fifo_.push(RegionInference{});
  EXPECT_TRUE(fifo_.has_room()) << "they are parts of one frame";
  fifo_.push(RegionFrame{});
  EXPECT_TRUE(fifo_.has_room());
  fifo_.push(RegionFrame{});
  EXPECT_FALSE(fifo_.has_room());
  const auto taken = fifo_.take_all();
  EXPECT_EQ(taken.size(), 12u);
  EXPECT_TRUE(fifo_.has_room());
}

TEST_F(FifoTest, WaitsUntilSomethingElseIsSo) {
  std::atomic<bool> is_so{false};
  const auto wait = [&] { return fifo_.wait_until([&] { return is_so.load(); }); };
  auto waited = std::async(std::launch::async, wait);
  EXPECT_EQ(waited.wait_for(20ms), std::future_status::timeout);
  is_so = true;
  fifo_.look_again();
  EXPECT_EQ(waited.get(), GST_FLOW_OK);
  is_so = false;
  waited = std::async(std::launch::async, wait);
  fifo_.stop(GST_FLOW_FLUSHING);
  EXPECT_EQ(waited.get(), GST_FLOW_FLUSHING);
}

TEST_F(FifoTest, StoppingWakesBothSides) {
  fifo_.push(frame());
  fifo_.push(frame());
  auto room = std::async(std::launch::async, [this] { return fifo_.wait_for_room(); });
  fifo_.stop(GST_FLOW_FLUSHING);
  EXPECT_EQ(room.get(), GST_FLOW_FLUSHING);
  EXPECT_FALSE(fifo_.pop().has_value());
}

TEST_F(FifoTest, KeepsTheFirstReasonButForFlushing) {
  fifo_.stop(GST_FLOW_NOT_LINKED);
  fifo_.stop(GST_FLOW_ERROR);
  EXPECT_EQ(fifo_.flow(), GST_FLOW_NOT_LINKED);
  fifo_.stop(GST_FLOW_FLUSHING);
  EXPECT_EQ(fifo_.flow(), GST_FLOW_FLUSHING);
}

TEST_F(FifoTest, DropsWhatComesWhileStopped) {
  fifo_.stop(GST_FLOW_EOS);
  EXPECT_EQ(fifo_.push(frame()), GST_FLOW_EOS);
  fifo_.start();
  EXPECT_TRUE(fifo_.take_all().empty());
}

TEST_F(FifoTest, TakingAllMakesRoom) {
  fifo_.push(frame());
  fifo_.push(frame());
  EXPECT_EQ(fifo_.take_all().size(), 2u);
  EXPECT_EQ(fifo_.wait_for_room(), GST_FLOW_OK);
}

TEST_F(FifoTest, AnEndedStreamKeepsItsEvents) {
  fifo_.end_stream();
  EXPECT_EQ(fifo_.wait_for_room(), GST_FLOW_EOS);
  EXPECT_EQ(fifo_.push(frame()), GST_FLOW_EOS);
  EXPECT_EQ(fifo_.push(EventRef(gst_event_new_eos())), GST_FLOW_OK);
  EXPECT_TRUE(std::holds_alternative<EventRef>(*fifo_.pop()));
}

TEST_F(FifoTest, AnEndedStreamGoesOnWithTheNextSegmentThatWaits) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  fifo_.push(frame());
  fifo_.push(EventRef(gst_event_new_segment(&segment)));
  EXPECT_EQ(fifo_.end_stream().size(), 1u);
  EXPECT_EQ(fifo_.wait_for_room(), GST_FLOW_OK);
  EXPECT_EQ(fifo_.push(frame()), GST_FLOW_OK);
}

TEST_F(FifoTest, AnEndedStreamGoesOnWithTheNextSegmentThatComes) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  fifo_.end_stream();
  fifo_.push(EventRef(gst_event_new_segment(&segment)));
  EXPECT_EQ(fifo_.push(frame()), GST_FLOW_OK);
}

TEST_F(FifoTest, IsDrainedWhenTheLastItemWentDownstream) {
  fifo_.push(frame());
  auto drained = std::async(std::launch::async, [this] { return fifo_.wait_drained(); });
  const auto popped = fifo_.pop();
  fifo_.frame_done();
  EXPECT_EQ(drained.wait_for(20ms), std::future_status::timeout);
  fifo_.item_done();
  EXPECT_TRUE(drained.get());
}

}  // namespace
}  // namespace gstnpu
