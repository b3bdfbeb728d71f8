// Inferences while the output task does not run, without a device.
#include "inference/output_task.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace gstnpu::output_task_test {
namespace {

/// Signalled from the start; somebody has to look.
class Fence final : public Watched {
 public:
  bool is_seen_in_time() {
    return seen_.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  }

 private:
  void see_end() noexcept override { seen_.set_value(); }
  std::promise<void> seen_;
};

class OutputTaskTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
  OutputTaskTest() : pad_(GST_PAD(gst_object_ref_sink(gst_pad_new("src", GST_PAD_SRC)))) {
    start();
  }
  ~OutputTaskTest() override {
    shared_.fifo.stop(GST_FLOW_FLUSHING);
    task_.stop();
    shared_.watch.wait(one_);
    shared_.watch.wait(two_);
  }

  void start() {
    shared_.fifo.start();
    task_.start();
  }

  const LiveSettings live_;
  const ObjectRef<GstPad> pad_;
  Fence one_, two_;
  SharedStream shared_{nullptr, 2, live_, nullptr};
  OutputTask task_{nullptr, pad_.get(), shared_};
};

// Streams of the same instance wait for the ends of those in flight.
TEST_F(OutputTaskTest, EndsAreSeenWhileItIsPaused) {
  shared_.watch.add(one_);
  shared_.fifo.stop(GST_FLOW_FLUSHING);
  task_.pause();
  EXPECT_TRUE(one_.is_seen_in_time());
  shared_.watch.add(two_);
  EXPECT_TRUE(two_.is_seen_in_time()) << "it was about to be submitted";
}

TEST_F(OutputTaskTest, EndsAreSeenOnceItHasStopped) {
  shared_.watch.add(one_);
  shared_.fifo.stop(GST_FLOW_FLUSHING);
  task_.stop();
  EXPECT_TRUE(one_.is_seen_in_time());
}

// As where downstream refuses a frame, for it is flushed or not started.
TEST_F(OutputTaskTest, EndsAreSeenOnceAFrameWasRefused) {
  shared_.watch.add(one_);
  gst_pad_set_active(pad_.get(), FALSE);
  shared_.fifo.push(BufferRef(gst_buffer_new()));
  EXPECT_TRUE(one_.is_seen_in_time());
}

}  // namespace
}  // namespace gstnpu::output_task_test
