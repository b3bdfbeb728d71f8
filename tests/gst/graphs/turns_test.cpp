// The turns that streams take at one device, without a device.
#include "graphs/turns.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <thread>

namespace gstnpu {
namespace {

using namespace std::chrono_literals;

constexpr auto kForEver = 1h;

/// Whether the kernel says so of a thread of this process, which has one thing to wait for; or it
/// has ended.
bool is_asleep(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  const auto name_end = text.rfind(')');
  return name_end == std::string::npos || text.compare(name_end, 3, ") S") == 0;
}

class TurnsTest : public testing::Test {
 protected:
  std::unique_ptr<Turns::Place> place() {
    auto place = std::make_unique<Turns::Place>(turns_);
    place->start();
    return place;
  }
  /// Waits for a turn in a thread of its own, notes `name`, and gives the turn back.
  std::future<void> taking(Turns::Place& place, guint priority, char name) {
    std::promise<pid_t> begun;
    auto taken = std::async(std::launch::async, [this, &place, priority, name, &begun] {
      begun.set_value(::gettid());
      const auto turn = place.take(priority, kForEver);
      if (turn) {
        const std::scoped_lock lock(mutex_);
        order_ += name;
      }
    });
    const pid_t thread = begun.get_future().get();
    while (!is_asleep(thread)) std::this_thread::sleep_for(1ms);  // until it waits
    return taken;
  }

  const std::shared_ptr<Turns> turns_ = std::make_shared<Turns>();
  std::mutex mutex_;
  std::string order_;
};

TEST_F(TurnsTest, AreAsManyAsAreAllowed) {
  turns_->allow(2);
  turns_->allow(1);  // one more user, who wants fewer
  const auto a = place(), b = place(), c = place();
  auto first = a->take(0, kForEver);
  const auto second = b->take(0, kForEver);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(c->take(0, 10ms));
  first.reset();
  EXPECT_TRUE(c->take(0, 10ms));
}

TEST_F(TurnsTest, ThatAreKeptEndWithTheInference) {
  const auto a = place();
  auto turn = a->take(0, kForEver);
  turn->keep();
  turn.reset();
  EXPECT_FALSE(a->take(0, 10ms));
  turns_->give_back();
  EXPECT_TRUE(a->take(0, 10ms));
}

TEST_F(TurnsTest, GoRound) {
  const auto a = place(), b = place(), c = place();
  { const auto turn = c->take(0, kForEver); }
  { const auto turn = b->take(0, kForEver); }
  auto turn = a->take(0, kForEver);
  auto one = taking(*a, 0, 'a');
  auto two = taking(*b, 0, 'b');
  auto three = taking(*c, 0, 'c');
  turn.reset();
  one.get(), two.get(), three.get();
  EXPECT_EQ(order_, "cba") << "whose last turn is the longest ago comes first";
}

TEST_F(TurnsTest, GoByPriority) {
  const auto a = place(), b = place(), c = place();
  auto turn = a->take(0, kForEver);
  auto low = taking(*b, 1, 'l');
  auto high = taking(*c, 2, 'h');
  turn.reset();
  low.get(), high.get();
  EXPECT_EQ(order_, "hl");
}

TEST_F(TurnsTest, AreNotWaitedForByAStoppedPlace) {
  const auto a = place(), b = place();
  const auto turn = a->take(0, kForEver);
  auto waiting = taking(*b, 0, 'b');
  b->stop();
  waiting.get();
  EXPECT_EQ(order_, "");
  EXPECT_FALSE(b->take(0, kForEver)) << "until it is started again";
}

TEST_F(TurnsTest, AreFairUnderLoad) {
  turns_->allow(2);
  constexpr int kStreams = 6;
  std::atomic<bool> over{false};
  std::atomic<int> inside{0}, most{0};
  std::vector<int> counts(kStreams);
  std::vector<std::thread> streams;
  for (int i = 0; i < kStreams; ++i) {
    streams.emplace_back([&, i] {
      const auto own = place();
      while (!over) {
        const auto turn = own->take(0, kForEver);
        ASSERT_TRUE(turn);
        const int now = ++inside;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::sleep_for(1ms);
        --inside;
        over = over || ++counts[static_cast<std::size_t>(i)] == 200;
      }
    });
  }
  for (std::thread& stream : streams) stream.join();
  EXPECT_EQ(most, 2);
  EXPECT_GT(*std::min_element(counts.begin(), counts.end()), 100) << "each has its rounds";
}

}  // namespace
}  // namespace gstnpu
