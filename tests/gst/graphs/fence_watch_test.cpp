// Threads that see the ends of inferences, and their order, without a device.
#include "graphs/fence_watch.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

namespace gstnpu {
namespace {

/// Signals when the test says so.
class Fence final : public Watched {
 public:
  Fence(int number, std::vector<int>& order) : number_(number), order_(order) {}

  void signal() { signalled_.set_value(); }
  /// Waits until somebody waits for it.
  void await_watcher() { begun_.get_future().wait(); }
  /// Waits until somebody saw it, who need not have told the watch yet.
  std::thread::id await_seen() { return seen_by_.get_future().get(); }

 private:
  void see_end() noexcept override {
    begun_.set_value();
    signalled_.get_future().wait();
    order_.push_back(number_);
    seen_by_.set_value(std::this_thread::get_id());
  }

  const int number_;
  std::vector<int>& order_;  // one fence after the other, by the watch's lock
  std::promise<void> begun_, signalled_;
  std::promise<std::thread::id> seen_by_;
};

class FenceWatchTest : public testing::Test {
 protected:
  std::future<void> waiting(Fence& fence) {
    return std::async(std::launch::async, [this, &fence] { watch_.wait(fence); });
  }

  std::vector<int> order_;
  Fence one_{1, order_}, two_{2, order_}, three_{3, order_};
  FenceWatch watch_;
};

TEST_F(FenceWatchTest, TheWaiterSeesTheFenceItself) {
  one_.signal();
  watch_.add(one_);
  watch_.wait(one_);
  EXPECT_EQ(one_.await_seen(), std::this_thread::get_id());
}

TEST_F(FenceWatchTest, OlderFencesAreSeenFirst) {
  for (Fence* fence : {&one_, &two_, &three_}) {
    fence->signal();
    watch_.add(*fence);
  }
  watch_.wait(two_);
  EXPECT_EQ(order_, (std::vector<int>{1, 2}));
  watch_.wait(three_);
  EXPECT_EQ(order_, (std::vector<int>{1, 2, 3}));
}

TEST_F(FenceWatchTest, WhatWasSeenIsNotWaitedFor) {
  one_.signal();
  watch_.add(one_);
  watch_.wait(one_);
  watch_.wait(one_);
  EXPECT_EQ(order_, std::vector<int>{1});
}

TEST_F(FenceWatchTest, AStandInSeesWhatIsAddedWhileTheWaiterIsAbsent) {
  const FenceWatch::Absence absence(watch_);
  for (Fence* fence : {&one_, &two_}) {
    watch_.add(*fence);
    fence->signal();
    EXPECT_NE(fence->await_seen(), std::this_thread::get_id());
  }
  watch_.wait(one_);
  watch_.wait(two_);
}

TEST_F(FenceWatchTest, AStandInSeesWhatIsInFlightWhenTheWaiterLeaves) {
  watch_.add(one_);
  watch_.add(two_);
  const FenceWatch::Absence absence(watch_);
  one_.signal();
  two_.signal();
  EXPECT_NE(one_.await_seen(), std::this_thread::get_id());
  EXPECT_NE(two_.await_seen(), std::this_thread::get_id());
  watch_.wait(two_);
}

TEST_F(FenceWatchTest, AWaiterThatComesBackWaitsForTheStandIn) {
  {
    const FenceWatch::Absence absence(watch_);
    watch_.add(one_);
    one_.await_watcher();
  }
  std::future<void> waiter = waiting(one_);
  one_.signal();
  waiter.get();
  EXPECT_EQ(order_, std::vector<int>{1});
}

TEST_F(FenceWatchTest, AStandInWaitsForTheWaiterThatIsAtIt) {
  watch_.add(one_);
  watch_.add(two_);
  std::future<void> waiter = waiting(one_);
  one_.await_watcher();
  const FenceWatch::Absence absence(watch_);  // of another
  one_.signal();
  waiter.get();
  two_.signal();
  EXPECT_NE(two_.await_seen(), std::this_thread::get_id());
  watch_.wait(two_);
  EXPECT_EQ(order_, (std::vector<int>{1, 2}));
}

TEST_F(FenceWatchTest, OneThatWaitsForANewerFenceGoesOnFromTheOlder) {
  watch_.add(one_);
  watch_.add(two_);
  std::future<void> older = waiting(one_);
  one_.await_watcher();
  std::future<void> newer = waiting(two_);
  two_.signal();
  one_.signal();
  older.get();
  newer.get();
  EXPECT_EQ(order_, (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace gstnpu
