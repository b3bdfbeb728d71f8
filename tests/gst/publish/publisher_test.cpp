#include "publish/publisher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace gstnpu {
namespace {

using namespace std::chrono_literals;

/// Lines that a sink was given, and its orders. Shared by the sink, which the publisher owns.
struct Outside {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines;
  int room = 0;         // lines that it takes before it waits
  int failures = 0;     // lines that it fails with, before any
  bool answers = true;  // lines that it took are out
  std::size_t unanswered = 0;
  bool is_asked = false;  // somebody waits in write()
  Ledger* ledger = nullptr;

  void give_room(int count) {
    const std::scoped_lock lock(mutex);
    room += count;
    changed.notify_all();
  }
  void give_answers() {
    const std::scoped_lock lock(mutex);
    ledger->note_out(std::exchange(unanswered, 0));
  }
  void wait_until_asked() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return is_asked; });
  }
  std::vector<std::string> seen() {
    const std::scoped_lock lock(mutex);
    return lines;
  }
};

class FakeSink final : public Sink {
 public:
  FakeSink(Outside& outside, Ledger& ledger) : outside_(outside), ledger_(ledger) {
    outside_.ledger = &ledger;
  }

  bool write(std::string_view line) override {
    std::unique_lock lock(outside_.mutex);
    if (outside_.failures > 0) {
      --outside_.failures;
      throw PublishError("the disk is full");
    }
    outside_.is_asked = true;
    outside_.changed.notify_all();
    while (outside_.room == 0 && !ledger_.is_cancelled()) {
      outside_.changed.wait_for(lock, 1ms);
    }
    outside_.is_asked = false;
    if (outside_.room == 0) return false;
    --outside_.room;
    outside_.lines.emplace_back(line);
    ++outside_.unanswered;
    if (outside_.answers) {
      ledger_.note_out(std::exchange(outside_.unanswered, 0));
    }
    return true;
  }

 private:
  Outside& outside_;
  Ledger& ledger_;
};

class Publishing : public testing::Test {
 protected:
  void start(PublishPolicy policy, std::uint32_t most_lines) {
    publisher_.emplace(
        [this](Ledger& ledger) { return std::make_unique<FakeSink>(outside_, ledger); },
        Publisher::Options{.policy = policy, .most_lines = most_lines, .target = "here"},
        [this](const std::string& text) {
          const std::scoped_lock lock(outside_.mutex);
          told_.push_back(text);
        });
  }
  /// The sink waits with the first line, the next ones fill the queue.
  void fill(int lines) {
    publisher_->push("0");
    outside_.wait_until_asked();
    for (int i = 1; i < lines; ++i) publisher_->push(std::to_string(i));
  }
  bool drain() {
    publisher_->drain(Publisher::kForever);
    return publisher_->stats().queued == 0;
  }

  Outside outside_;
  /// The warnings that contain the text.
  std::ptrdiff_t told(const std::string& text) {
    const std::scoped_lock lock(outside_.mutex);
    return std::count_if(told_.begin(), told_.end(), [&](const std::string& one) {
      return one.find(text) != std::string::npos;
    });
  }
  std::uint64_t dropped() const { return publisher_->stats().dropped; }

  std::vector<std::string> told_;
  std::optional<Publisher> publisher_;
};

TEST_F(Publishing, KeepsTheOrder) {
  start(PublishPolicy::kBlock, 10);
  outside_.give_room(1000);
  std::vector<std::string> expected;
  for (int i = 0; i < 500; ++i) {
    expected.push_back(std::to_string(i));
    EXPECT_TRUE(publisher_->push(expected.back()));
  }
  EXPECT_TRUE(drain());
  EXPECT_EQ(outside_.seen(), expected);
  EXPECT_EQ(publisher_->stats().published, 500U);
}

TEST_F(Publishing, BlocksUntilThereIsRoom) {
  start(PublishPolicy::kBlock, 2);
  fill(3);
  std::atomic<bool> is_over = false;
  std::thread pushing([&] {
    EXPECT_TRUE(publisher_->push("3"));
    is_over = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(is_over);
  outside_.give_room(4);
  pushing.join();
  EXPECT_TRUE(drain());
  EXPECT_EQ(outside_.seen(), (std::vector<std::string>{"0", "1", "2", "3"}));
}

TEST_F(Publishing, IsInterrupted) {
  start(PublishPolicy::kBlock, 1);
  fill(2);
  std::thread pushing([&] { EXPECT_FALSE(publisher_->push("2")); });
  publisher_->interrupt();
  pushing.join();
  EXPECT_FALSE(drain());
  publisher_->resume();
  outside_.give_room(3);
  EXPECT_TRUE(publisher_->push("3"));
  EXPECT_TRUE(drain());
  EXPECT_EQ(outside_.seen(), (std::vector<std::string>{"0", "1", "3"}));
  EXPECT_EQ(publisher_->stats().published, 3U);
  EXPECT_EQ(publisher_->stats().dropped, 1U) << "the line that was interrupted";
}

// A flush that ends beside a stop.
TEST_F(Publishing, IsRefusedForGood) {
  start(PublishPolicy::kBlock, 1);
  fill(2);
  publisher_->refuse();
  publisher_->resume();
  EXPECT_FALSE(publisher_->push("2"));
}

TEST_F(Publishing, DropsTheOldest) {
  start(PublishPolicy::kDropOld, 2);
  fill(3);
  EXPECT_TRUE(publisher_->push("3"));
  EXPECT_TRUE(publisher_->push("4"));
  EXPECT_EQ(dropped(), 2U);
  EXPECT_EQ(told("Lines for here are dropped (policy): 2 of them"), 1) << "once";
  EXPECT_EQ(publisher_->stats().queued, 3U);
  outside_.give_room(10);
  EXPECT_TRUE(drain());
  EXPECT_EQ(outside_.seen(), (std::vector<std::string>{"0", "3", "4"}));
  EXPECT_EQ(publisher_->stats().published, 3U);
}

TEST_F(Publishing, DropsTheNewest) {
  start(PublishPolicy::kDropNew, 2);
  fill(3);
  EXPECT_TRUE(publisher_->push("3"));
  EXPECT_EQ(dropped(), 1U);
  outside_.give_room(10);
  EXPECT_TRUE(drain());
  EXPECT_TRUE(publisher_->push("4"));
  EXPECT_TRUE(drain());
  EXPECT_EQ(outside_.seen(), (std::vector<std::string>{"0", "1", "2", "4"}));
}

TEST_F(Publishing, TellsOnceThatNobodyTakesLines) {
  start(PublishPolicy::kBlock, 2);
  fill(3);
  std::thread later([this] {
    std::this_thread::sleep_for(2500ms);
    publisher_->interrupt();
  });
  EXPECT_FALSE(publisher_->push("3"));
  later.join();
  EXPECT_EQ(told("waits for 3 lines to be taken at here"), 1);
}

TEST_F(Publishing, FailsOnceWhereItBlocks) {
  outside_.failures = 1;
  start(PublishPolicy::kBlock, 10);
  EXPECT_TRUE(publisher_->push("0"));
  EXPECT_THROW(publisher_->drain(Publisher::kForever), PublishError);
  EXPECT_NO_THROW(publisher_->drain(Publisher::kForever)) << "the failure is told already";
  EXPECT_THROW(publisher_->push("1"), PublishError) << "the flow stays stopped";
  publisher_->end(0ms);
  EXPECT_EQ(publisher_->stats().failed, 2U) << "each line is counted";
  EXPECT_EQ(told(""), 0) << "the error tells it";
}

TEST_F(Publishing, TellsTheFailureAtTheEnd) {
  outside_.failures = 1;
  start(PublishPolicy::kBlock, 10);
  EXPECT_TRUE(publisher_->push("0"));
  EXPECT_THROW(publisher_->end(10s), PublishError);
}

TEST_F(Publishing, GoesOnBehindFailuresWhereItDrops) {
  outside_.failures = 3;
  start(PublishPolicy::kDropOld, 10);
  outside_.give_room(10);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(publisher_->push(std::to_string(i)));
  EXPECT_TRUE(drain());
  EXPECT_EQ(outside_.seen(), (std::vector<std::string>{"3", "4"}));
  EXPECT_EQ(publisher_->stats().failed, 3U);
  EXPECT_EQ(publisher_->stats().published, 2U);
  EXPECT_EQ(told("the disk is full"), 1);
}

TEST_F(Publishing, EndsWithAllLinesAnswered) {
  outside_.answers = false;
  start(PublishPolicy::kDropOld, 10);
  outside_.give_room(3);
  for (const char* line : {"0", "1", "2"}) publisher_->push(line);
  const auto giving = std::async(std::launch::async, [this] {
    while (outside_.seen().size() < 3) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(publisher_->stats().queued, 3U) << "nobody has confirmed them";
    outside_.give_answers();
  });
  publisher_->end(20s);
  EXPECT_EQ(publisher_->stats().published, 3U);
}

TEST_F(Publishing, EndsThoughNobodyReads) {
  for (const auto policy :
       {PublishPolicy::kBlock, PublishPolicy::kDropOld, PublishPolicy::kDropNew}) {
    start(policy, 10);
    fill(5);
    publisher_->end(10ms);
    EXPECT_EQ(publisher_->stats().queued, 5U);
  }
}

}  // namespace
}  // namespace gstnpu
