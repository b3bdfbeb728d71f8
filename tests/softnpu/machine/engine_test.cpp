// The engine: order, priorities, events, failures.
#include "machine/engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

Deadline soon() {
  return Deadline::after(20 * kSecondNs);
}

Command running(std::function<void()> run) {
  Command command;
  command.run = std::move(run);
  return command;
}

std::shared_ptr<Job> submit(const std::shared_ptr<Lane>& lane, Commands commands) {
  auto job = std::make_shared<Job>(std::make_shared<Commands>(std::move(commands)));
  job->announce(job);
  Engine::instance().submit(lane, job);
  return job;
}

std::shared_ptr<Lane> lane(Priority priority = Priority::kNormal) {
  return std::make_shared<Lane>(priority);
}

// Keeps the engine busy until it is opened.
class Gate {
 public:
  Gate()
      : job_(submit(lane(Priority::kRealtime), {running([this] {
                      entered_.set();
                      open_.wait(soon());
                    })})) {
    entered_.wait(soon());
  }
  ~Gate() { open(); }
  void open() {
    open_.set();
    job_->wait(soon());
  }

 private:
  Completion entered_;
  Completion open_;
  std::shared_ptr<Job> job_;
};

/// The job of the test before may still let go of its commands.
void settle() {
  Engine::instance().abort_all(ZE_RESULT_SUCCESS);
}

TEST(Engine, EndsAllThatIsSubmittedWhenToldTo) {
  Completion entered;
  Completion open;
  std::atomic<bool> ran{false};
  const auto queue = lane();
  const auto running_job = submit(queue, {running([&] {
                                    entered.set();
                                    open.wait(soon());
                                  })});
  Command blocked = running([&] { ran = true; });
  blocked.waits.push_back(std::make_shared<EventState>());
  blocked.signals = std::make_shared<EventState>();
  const auto signalled = blocked.signals;
  const auto behind = submit(queue, {blocked});
  const auto beside = submit(lane(), {blocked});
  entered.wait(soon());
  std::thread opener([&] { open.set(); });
  Engine::instance().abort_all(ZE_RESULT_ERROR_DEVICE_LOST);
  opener.join();
  EXPECT_TRUE(running_job->wait(soon()));
  EXPECT_TRUE(behind->done());
  EXPECT_TRUE(beside->done());
  EXPECT_EQ(behind->result(), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(beside->result(), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_TRUE(signalled->signalled());
  EXPECT_FALSE(ran);
  const auto next = submit(queue, {running([&] { ran = true; })});
  EXPECT_TRUE(next->wait(soon()));
  EXPECT_EQ(next->result(), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(ran);
}

TEST(Engine, EndsAllWithThoseThatAreStillLettingGoOfTheirCommands) {
  Completion letting_go;
  std::atomic<bool> let_go = false;
  std::shared_ptr<void> held(nullptr, [&](void*) {
    letting_go.set();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    let_go = true;
  });
  {
    const Gate gate;  // the engine's copy of the command is the last one
    submit(lane(), {running([held = std::move(held)] {})});
  }
  ASSERT_TRUE(letting_go.wait(soon()));
  Engine::instance().abort_all(ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_TRUE(let_go);
}

// Matches a command by the graph that it names.
const auto of_graph(const int& graph) {
  return [&graph](const Command& command) { return command.graph == &graph; };
}

TEST(Engine, KnowsAJobThatItsSubmitterRuns) {
  settle();
  const int graph = 0;
  std::shared_ptr<Job> user;
  Command command = running([&] { user = Engine::instance().user_of(of_graph(graph)); });
  command.graph = &graph;
  const auto job = std::make_shared<Job>(std::make_shared<Commands>(Commands{command}));
  Engine::instance().submit_or_run(lane(), job);
  EXPECT_TRUE(job->done());
  EXPECT_EQ(user, job);
}

// A thread that waits for the last command's event may free the job's objects.
TEST(Engine, HasNoUserOnceTheLastCommandsEventIsSignalled) {
  for (int i = 0; i < 1000; ++i) {
    Command command = running([] {});
    command.signals = std::make_shared<EventState>();
    const auto job = submit(lane(), {command});
    ASSERT_EQ(command.signals->wait(soon()), ZE_RESULT_SUCCESS);
    ASSERT_FALSE(job->in_flight());
  }
}

TEST(Engine, RunsAtOnceOnlyWhatNothingIsInTheWayOf) {
  const auto job_of = [](Command command) {
    auto job = std::make_shared<Job>(std::make_shared<Commands>(Commands{std::move(command)}));
    job->announce(job);
    return job;
  };
  settle();
  std::thread::id ran_on;
  const auto free = job_of(running([&] { ran_on = std::this_thread::get_id(); }));
  Engine::instance().submit_or_run(lane(), free);
  EXPECT_TRUE(free->done());
  EXPECT_EQ(ran_on, std::this_thread::get_id());

  const auto event = std::make_shared<EventState>();
  Command command = running([&] { ran_on = std::this_thread::get_id(); });
  command.waits.push_back(event);
  const auto waiting = job_of(command);
  Engine::instance().submit_or_run(lane(), waiting);
  EXPECT_FALSE(waiting->done());
  event->signal();
  Engine::instance().wake();
  EXPECT_TRUE(waiting->wait(soon()));
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST(Engine, QueuesBehindWhatRuns) {
  std::thread::id ran_on;
  const auto job = std::make_shared<Job>(
      std::make_shared<Commands>(Commands{running([&] { ran_on = std::this_thread::get_id(); })}));
  {
    Gate gate;
    Engine::instance().submit_or_run(lane(), job);
    EXPECT_FALSE(job->done());
  }
  EXPECT_TRUE(job->wait(soon()));
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST(Engine, RunsALanesJobsInOrder) {
  const auto queue = lane();
  std::string order;
  for (const char name : {'a', 'b', 'c'}) {
    submit(queue, {running([&order, name] { order += name; })});
  }
  ASSERT_TRUE(submit(queue, {running([] {})})->wait(soon()));
  EXPECT_EQ(order, "abc");
}

TEST(Engine, RunsOneCommandAtATime) {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  Jobs jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(submit(lane(), {running([&] {
                            most = std::max(most.load(), ++inside);
                            std::this_thread::yield();
                            --inside;
                          })}));
  }
  EXPECT_EQ(wait_for(jobs, soon()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(most, 1);
}

TEST(Engine, PutsHigherPriorityFirst) {
  std::string order;
  Jobs jobs;
  {
    Gate gate;
    jobs.push_back(submit(lane(Priority::kBackground), {running([&] { order += 'b'; })}));
    jobs.push_back(submit(lane(Priority::kIdle), {running([&] { order += 'i'; })}));
    jobs.push_back(submit(lane(Priority::kNormal), {running([&] { order += 'n'; })}));
    jobs.push_back(submit(lane(Priority::kRealtime), {running([&] { order += 'r'; })}));
  }
  EXPECT_EQ(wait_for(jobs, soon()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(order, "rnib");
}

TEST(Engine, KeepsTheOrderOfSubmissionAmongEquals) {
  std::string order;
  Jobs jobs;
  {
    Gate gate;
    for (const char name : {'1', '2', '3'}) {
      jobs.push_back(submit(lane(), {running([&order, name] { order += name; })}));
    }
  }
  EXPECT_EQ(wait_for(jobs, soon()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(order, "123");
}

TEST(Engine, LetsOtherLanesPassAWaitingOne) {
  const auto event = std::make_shared<EventState>();
  Command waiting = running([] {});
  waiting.waits.push_back(event);
  const auto blocked = submit(lane(Priority::kRealtime), {waiting});
  Command signalling;
  signalling.signals = event;
  submit(lane(Priority::kIdle), {signalling});
  EXPECT_TRUE(blocked->wait(soon()));
}

TEST(Engine, GoesOnWhenTheHostSignals) {
  const auto event = std::make_shared<EventState>();
  Command waiting;
  waiting.waits.push_back(event);
  const auto blocked = submit(lane(), {waiting});
  EXPECT_FALSE(blocked->wait(Deadline::after(1'000'000)));
  event->signal();
  Engine::instance().wake();
  EXPECT_TRUE(blocked->wait(soon()));
}

TEST(Engine, FinishesAJobThatThrows) {
  const auto job = submit(lane(), {running([] { throw std::runtime_error("on purpose"); })});
  ASSERT_TRUE(job->wait(soon()));
  EXPECT_EQ(job->result(), ZE_RESULT_ERROR_UNKNOWN);
}

TEST(Engine, SignalsTheEventsBehindAFailureAndRunsNothing) {
  const auto event = std::make_shared<EventState>();
  bool ran = false;
  Command last = running([&ran] { ran = true; });
  last.signals = event;
  const auto job = submit(lane(), {running([] { throw std::runtime_error("on purpose"); }), last});
  ASSERT_TRUE(job->wait(soon()));
  EXPECT_TRUE(event->signalled());
  EXPECT_FALSE(ran);
}

TEST(Engine, GivesMemoryBackBeforeItSaysDone) {
  auto memory = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = memory;
  const auto job = submit(lane(), {running([held = std::move(memory)] { (void)held; })});
  ASSERT_TRUE(job->wait(soon()));
  EXPECT_TRUE(watch.expired());
}

TEST(Completion, WakesEveryWaiter) {
  Completion completion;
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { woken += completion.wait(Deadline::after(UINT64_MAX)) ? 1 : 0; });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  completion.set();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(woken, 4);
}

TEST(Completion, KeepsItsWaitersOverAReset) {
  Completion completion;
  std::thread waiter([&] { completion.wait(Deadline::after(UINT64_MAX)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  completion.reset();
  completion.set();
  waiter.join();
  EXPECT_TRUE(completion.is_set());
}

TEST(Event, WithoutASignallerIsNotWaitedFor) {
  EventState event;
  EXPECT_EQ(event.wait(Deadline::after(UINT64_MAX)), ZE_RESULT_NOT_READY);
}

}  // namespace
}  // namespace softnpu
