#include "inference/drop_policy.hpp"

#include <gtest/gtest.h>

#include "common/refs.hpp"

namespace gstnpu {
namespace {

using Verdict = DropPolicy::Verdict;

class Dropping : public testing::Test {
 protected:
  /// An inference of `device_ms` that began when the one before had ended.
  void run_one(guint64 device_ms) {
    backlog_->add(clock_ns_);
    InferenceTime time{.submitted_ns = clock_ns_, .done_ns = clock_ns_ += device_ms * GST_MSECOND};
    backlog_->end(time, false);
  }
  void note_qos(GstClockTime timestamp, GstClockTimeDiff late,
                GstClockTime now = GST_CLOCK_TIME_NONE) {
    const EventRef event(gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.0, late, timestamp));
    policy_.note_qos(event.get(), now);
  }
  Verdict late(guint64 frame_ms, guint64 now_ms) const {
    return policy_.judge(Drop::kLate,
                         {.frame = frame_ms * GST_MSECOND, .now = now_ms * GST_MSECOND});
  }

  guint64 clock_ns_ = now_ns();
  const std::shared_ptr<Backlog> backlog_ = std::make_shared<Backlog>();
  DropPolicy policy_{backlog_};
};

TEST_F(Dropping, NoneInfersAll) {
  for (int i = 0; i < 5; ++i) backlog_->add(clock_ns_);
  note_qos(100 * GST_MSECOND, 50 * GST_MSECOND);
  policy_.note_latency(0);
  EXPECT_EQ(policy_.judge(Drop::kNone, {.frame = 0, .now = 900 * GST_MSECOND, .has_room = false}),
            Verdict::kInfer);
}

TEST_F(Dropping, BusyLetsOneWait) {
  EXPECT_EQ(policy_.judge(Drop::kBusy, {}), Verdict::kInfer);
  backlog_->add(clock_ns_);
  EXPECT_EQ(policy_.judge(Drop::kBusy, {}), Verdict::kInfer);
  backlog_->add(clock_ns_);
  EXPECT_EQ(policy_.judge(Drop::kBusy, {}), Verdict::kBusy);
  backlog_->take_back();
  EXPECT_EQ(policy_.judge(Drop::kBusy, {}), Verdict::kInfer);
  EXPECT_EQ(policy_.judge(Drop::kBusy, {.has_room = false}), Verdict::kBusy);
  EXPECT_EQ(policy_.judge(Drop::kBusy, {.has_room = false, .can_wait = true}), Verdict::kInfer)
      << "a file waits for its sink";
  backlog_->add(clock_ns_);
  EXPECT_EQ(policy_.judge(Drop::kBusy, {.has_room = false, .can_wait = true}), Verdict::kInfer)
      << "and for the NPU";
}

TEST_F(Dropping, LateKeepsToThePipelinesLatency) {
  EXPECT_EQ(late(0, 900), Verdict::kInfer) << "nobody said what the latency is";
  policy_.note_latency(60 * GST_MSECOND);
  run_one(50);
  EXPECT_EQ(late(100, 130), Verdict::kInfer) << "done after 80 ms, and sinks forgive 20";
  EXPECT_EQ(late(100, 131), Verdict::kLate);
  backlog_->add(now_ns());
  EXPECT_EQ(late(100, 100), Verdict::kLate) << "two inferences are 100 ms";
}

// A sink with ts-offset, or behind a clocksync, shows frames later than the latency says.
TEST_F(Dropping, LateIsWhatTheSinkSees) {
  policy_.note_latency(0);
  run_one(50);
  EXPECT_EQ(late(100, 200), Verdict::kLate);
  note_qos(260 * GST_MSECOND, -200 * GstClockTimeDiff{GST_MSECOND},
           560 * GST_MSECOND);  // shown after 300 ms
  EXPECT_EQ(late(100, 370), Verdict::kInfer);
  EXPECT_EQ(late(100, 371), Verdict::kLate);
  note_qos(60 * GST_MSECOND, 0, 60 * GST_MSECOND);
  EXPECT_EQ(late(100, 200), Verdict::kLate) << "the offset is gone";
  EXPECT_EQ(policy_.judge(Drop::kLate, {.frame = 100 * GST_MSECOND,
                                        .now = 200 * GST_MSECOND,
                                        .offset = 200 * GST_MSECOND}),
            Verdict::kInfer);
}

// A source that links its pads late, as rtspsrc does, was not there when the latency was set.
TEST_F(Dropping, LateGivesFramesTheTimeThatTheyNeed) {
  policy_.note_latency(0);
  run_one(50);
  EXPECT_EQ(late(100, 200), Verdict::kLate);
  policy_.note_least_latency(150 * GST_MSECOND);
  EXPECT_EQ(late(100, 220), Verdict::kInfer);
  EXPECT_EQ(late(100, 221), Verdict::kLate);
  policy_.note_latency(160 * GST_MSECOND);
  EXPECT_EQ(late(100, 230), Verdict::kInfer);
}

TEST_F(Dropping, LateNeedsAClockAndATime) {
  policy_.note_latency(0);
  run_one(50);
  EXPECT_EQ(policy_.judge(Drop::kLate, {.frame = 0}), Verdict::kInfer);
  EXPECT_EQ(policy_.judge(Drop::kLate, {.now = 900 * GST_MSECOND}), Verdict::kInfer);
}

TEST_F(Dropping, LateHonoursWhatDownstreamSays) {
  note_qos(100 * GST_MSECOND, 50 * GST_MSECOND);
  EXPECT_EQ(late(149, 0), Verdict::kLate);
  EXPECT_EQ(late(150, 0), Verdict::kInfer);
  note_qos(200 * GST_MSECOND, -40 * static_cast<GstClockTimeDiff>(GST_MSECOND));
  EXPECT_EQ(late(170, 0), Verdict::kInfer) << "it has time again";
  note_qos(300 * GST_MSECOND, 50 * GST_MSECOND);
  policy_.forget();
  EXPECT_EQ(late(0, 0), Verdict::kInfer) << "after a flush";
}

TEST_F(Dropping, KnowsTheLongestThatLateLetsThrough) {
  run_one(50);
  EXPECT_EQ(policy_.longest(Drop::kLate, 33 * GST_MSECOND), 83 * GST_MSECOND);
  EXPECT_EQ(policy_.longest(Drop::kLate, 80 * GST_MSECOND), 100 * GST_MSECOND);
  EXPECT_EQ(policy_.longest(Drop::kBusy, 33 * GST_MSECOND), GST_CLOCK_TIME_NONE);
  EXPECT_EQ(policy_.longest(Drop::kLate, 0), GST_CLOCK_TIME_NONE);
}

TEST_F(Dropping, DeviceTimeIsWithoutQueueing) {
  backlog_->add(0);
  backlog_->add(1 * GST_MSECOND);
  InferenceTime first{.submitted_ns = 0, .done_ns = 50 * GST_MSECOND};
  backlog_->end(first, false);
  InferenceTime second{.submitted_ns = 1 * GST_MSECOND, .done_ns = 100 * GST_MSECOND};
  backlog_->end(second, false);
  EXPECT_EQ(first.device_ns, 50 * GST_MSECOND);
  EXPECT_EQ(second.device_ns, 50 * GST_MSECOND);
  EXPECT_EQ(second.elapsed_ns(), 99 * GST_MSECOND);
  EXPECT_EQ(backlog_->device_ns(), 50 * GST_MSECOND);
}

TEST_F(Dropping, ExpectsWhatTheOnesBeforeStillNeed) {
  run_one(50);
  const guint64 now = clock_ns_ + 900 * GST_MSECOND;
  EXPECT_EQ(backlog_->expected_ns(now), 50 * GST_MSECOND) << "idle";
  backlog_->add(now);
  EXPECT_EQ(backlog_->expected_ns(now + 20 * GST_MSECOND), 80 * GST_MSECOND);
  backlog_->add(now);
  EXPECT_EQ(backlog_->expected_ns(now + 20 * GST_MSECOND), 130 * GST_MSECOND);
  EXPECT_EQ(backlog_->expected_ns(now + 90 * GST_MSECOND), 100 * GST_MSECOND)
      << "the first one is overdue";
}

// A single stall would make every frame late for ever: nothing runs, so nothing corrects it.
TEST_F(Dropping, ForgetsAPaceThatNothingConfirms) {
  run_one(2000);
  EXPECT_EQ(backlog_->expected_ns(clock_ns_ + 900 * GST_MSECOND), 2000 * GST_MSECOND);
  EXPECT_EQ(backlog_->expected_ns(clock_ns_ + 1001 * GST_MSECOND), 0u);
  clock_ns_ += 1001 * GST_MSECOND;
  run_one(20);
  EXPECT_EQ(backlog_->device_ns(), 20 * GST_MSECOND);
}

TEST_F(Dropping, LearnsNothingFromWhatFailed) {
  run_one(20);
  backlog_->add(clock_ns_);
  InferenceTime lost{.submitted_ns = clock_ns_, .done_ns = clock_ns_ + 2000 * GST_MSECOND};
  backlog_->end(lost, true);
  EXPECT_EQ(backlog_->device_ns(), 20 * GST_MSECOND);
}

}  // namespace
}  // namespace gstnpu
