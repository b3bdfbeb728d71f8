// Requests that tell their end, in a thread of the model.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test::callback_test {
namespace {

/// Ends the program if `ended` never comes: no deadlock outlasts the test.
void expect_end(const std::future<void>& ended, const char* otherwise) {
  if (ended.wait_for(std::chrono::seconds(60)) == std::future_status::ready) return;
  ADD_FAILURE() << otherwise;
  std::quick_exit(1);
}

class Callbacks : public OnSoftwareNpu {
 protected:
  CompiledModel model(const CompileOptions& options = {}) {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())),
                                  options);
  }
  TempDir folder_;
};

TEST_F(Callbacks, AreCalledOnceForEachInference) {
  Request request = model().create_request();
  std::atomic<int> calls = 0;
  std::thread::id thread;
  request.set_callback([&](std::exception_ptr error) {
    EXPECT_EQ(error, nullptr);
    thread = std::this_thread::get_id();
    ++calls;
  });
  for (int count = 1; count <= 3; ++count) {
    request.submit();
    EXPECT_TRUE(request.wait());
    EXPECT_EQ(calls, count);
  }
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST_F(Callbacks, SeeTheResults) {
  Request request = model().create_request();
  std::promise<float> result;
  auto* input = reinterpret_cast<float*>(request.input(0).data());
  std::fill(input, input + kAffineElements, 3.f);
  const Tensor output = request.output(0);
  request.set_callback([&](std::exception_ptr) {
    result.set_value(*reinterpret_cast<const float*>(output.data()));
  });
  request.submit();
  EXPECT_EQ(result.get_future().get(), affine(3));
}

TEST_F(Callbacks, MaySubmitAgain) {
  Request request = model().create_request();
  std::promise<void> done;
  int calls = 0;
  request.set_callback([&](std::exception_ptr) {
    if (++calls == 100) {
      done.set_value();
    } else {
      request.submit();
    }
  });
  request.submit();
  done.get_future().wait();
  EXPECT_TRUE(request.wait());
  EXPECT_EQ(calls, 100);
}

TEST_F(Callbacks, MayDestroyTheirRequest) {
  auto request = std::make_unique<Request>(model().create_request());
  std::promise<void> done;
  request->set_callback([&](std::exception_ptr) {
    request.reset();
    done.set_value();
  });
  request->submit();
  done.get_future().wait();
  EXPECT_EQ(request, nullptr);
}

TEST_F(Callbacks, OfRequestsThatAreDestroyedAreCalledFirst) {
  const CompiledModel shared = model();
  std::atomic<int> calls = 0;
  {
    std::vector<Request> requests;
    for (int count = 0; count < 10; ++count) {
      requests.push_back(shared.create_request());
      requests.back().set_callback([&](std::exception_ptr) { ++calls; });
      requests.back().submit();
    }
  }
  EXPECT_EQ(calls, 10);
}

TEST_F(Callbacks, CannotWaitForWhatTheySubmitted) {
  Request request = model().create_request();
  std::promise<std::string> said;
  int calls = 0;
  request.set_callback([&](std::exception_ptr) {
    if (++calls > 1) return;
    EXPECT_TRUE(request.wait());  // this very inference: over
    request.submit();
    try {
      request.wait();
      said.set_value("");
    } catch (const Error& error) {
      said.set_value(error.what());
    }
  });
  request.submit();
  EXPECT_TRUE(has(said.get_future().get(), "cannot wait"));
  EXPECT_TRUE(request.wait());
}

TEST_F(Callbacks, MayWaitForATimeForWhatTheySubmitted) {
  for (const auto timeout : {std::chrono::milliseconds(0), std::chrono::milliseconds(1)}) {
    Request request = model().create_request();
    std::promise<bool> is_over;
    int calls = 0;
    request.set_callback([&](std::exception_ptr) {
      if (++calls > 1) return;
      request.submit();
      is_over.set_value(request.wait(timeout));
    });
    request.submit();
    EXPECT_FALSE(is_over.get_future().get());
    EXPECT_TRUE(request.wait());
  }
}

TEST_F(Callbacks, OfTwoModelsMayWaitForEachOtherForATime) {
  Request first = model().create_request(), second = model().create_request();
  std::atomic<int> running = 0, threw = 0;
  const auto waits_for = [&](Request& other) {
    return [&](std::exception_ptr) {
      ++running;
      while (running < 2) std::this_thread::yield();
      try {
        other.wait(std::chrono::milliseconds(20));
      } catch (const Error&) {
        ++threw;
      }
    };
  };
  first.set_callback(waits_for(second));
  second.set_callback(waits_for(first));
  first.submit();
  second.submit();
  EXPECT_TRUE(first.wait());
  EXPECT_TRUE(second.wait());
  EXPECT_EQ(threw, 0);
}

TEST_F(Callbacks, ThatWaitForATimeEndBeforeTheirRequestIsGone) {
  Request first = model().create_request();
  auto other = std::make_unique<Request>(model().create_request());
  std::atomic<int> running = 0;
  std::atomic<bool> is_over = false;
  const auto both_run = [&] {
    ++running;
    while (running < 2) std::this_thread::yield();
  };
  other->set_callback([&](std::exception_ptr) {
    both_run();
    EXPECT_FALSE(first.wait(std::chrono::milliseconds(100)));
    is_over = true;
  });
  first.set_callback([&](std::exception_ptr) {
    both_run();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until the other waits
    other.reset();
    EXPECT_TRUE(is_over);
  });
  other->submit();
  first.submit();
  EXPECT_TRUE(first.wait());
}

TEST_F(Callbacks, ThatThrowAreSurvived) {
  Request request = model().create_request();
  request.set_callback([](std::exception_ptr) { throw std::runtime_error("on purpose"); });
  request.submit();
  EXPECT_TRUE(request.wait());
  request.submit();
  EXPECT_TRUE(request.wait());
}

TEST_F(Callbacks, GetTheError) {
  Request request = model().create_request();
  std::atomic<int> errors = 0;
  request.set_callback([&](std::exception_ptr error) { errors += error != nullptr; });
  set_fault("zeFenceHostSynchronize:DEVICE_LOST@1");
  request.submit();
  expect_error(ErrorCode::kDeviceLost, "DEVICE_LOST", [&] { request.wait(); });
  EXPECT_EQ(errors, 1);
  request.submit();
  EXPECT_TRUE(request.wait());
  EXPECT_EQ(errors, 1);
}

TEST_F(Callbacks, CanBeTakenAway) {
  Request request = model().create_request();
  int calls = 0;
  request.set_callback([&](std::exception_ptr) { ++calls; });
  request.infer();
  request.set_callback({});
  request.infer();
  EXPECT_EQ(calls, 1);
}

TEST_F(Callbacks, OfModelsThatAskForItShareOneThread) {
  CompileOptions options;
  options.properties.set(property::exclusive_async_requests, true);
  const CompiledModel models[] = {model(options), model(options), model()};
  std::vector<std::thread::id> threads;
  for (const CompiledModel& each : models) {
    Request request = each.create_request();
    request.set_callback(
        [&](std::exception_ptr) { threads.push_back(std::this_thread::get_id()); });
    request.infer();
    // The thread ends with its last model: these two live on.
  }
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_EQ(threads[0], threads[1]);
  EXPECT_NE(threads[0], threads[2]);
}

TEST_F(Callbacks, FromManyThreadsComeForEveryInference) {
  const CompiledModel shared = model();
  std::atomic<int> calls = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      Request request = shared.create_request();
      request.set_callback([&](std::exception_ptr error) { calls += error == nullptr; });
      for (int count = 0; count < 50; ++count) request.infer();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(calls, 200);
}

/// Keeps this thread, and those that it starts, on one processor.
class OnOneProcessor {
 public:
  OnOneProcessor() {
    ::sched_getaffinity(0, sizeof(all_), &all_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof(one), &one);
  }
  OnOneProcessor(const OnOneProcessor&) = delete;
  OnOneProcessor& operator=(const OnOneProcessor&) = delete;
  ~OnOneProcessor() { ::sched_setaffinity(0, sizeof(all_), &all_); }

 private:
  cpu_set_t all_ = {};
};

// The thread that calls back goes before the one that submits, which only runs where nobody else
// does.
TEST_F(Callbacks, MayDestroyTheirRequestBeforeSubmitReturns) {
  const OnOneProcessor one;
  const CompiledModel compiled = model();
  constexpr std::size_t kBytes = kAffineElements * sizeof(float);
  const Tensor input = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  std::vector<float> output(kAffineElements + 1);
  ::mallopt(M_PERTURB, 1);  // memory that was freed says so
  for (int count = 0; count < 300; ++count) {
    auto request = std::make_unique<Request>(compiled.create_request());
    request->set_output(0, HostMemory{&output[1], kBytes});
    std::promise<void> destroyed;
    request->set_callback([&](std::exception_ptr) {
      request.reset();
      destroyed.set_value();
    });
    std::thread([&] {
      const sched_param none = {};
      ::sched_setscheduler(0, SCHED_IDLE, &none);
      const PortBinding bound{.index = 0, .tensor = &input};
      // The output's copy, which is made before the callback, is not one of an input.
      EXPECT_EQ(request->submit({{&bound, 1}, {}}), 0U) << count;
    }).join();
    destroyed.get_future().wait();
  }
  ::mallopt(M_PERTURB, 0);
}

// Their callbacks are called at once then: nobody else could call them later.
TEST_F(Callbacks, MayDestroyOtherRequestsInFlight) {
  const CompiledModel compiled = model();
  std::atomic<int> calls = 0;
  std::vector<std::unique_ptr<Request>> others;
  for (int index = 0; index < 3; ++index) {
    others.push_back(std::make_unique<Request>(compiled.create_request()));
    others.back()->set_callback([&](std::exception_ptr) { ++calls; });
  }
  Request first = compiled.create_request();
  std::promise<void> all_are_in_flight;
  first.set_callback([&](std::exception_ptr) {
    all_are_in_flight.get_future().wait();
    others.clear();
  });
  first.submit();
  for (const auto& other : others) other->submit();
  all_are_in_flight.set_value();
  EXPECT_TRUE(first.wait());
  EXPECT_EQ(calls, 3);
  // The newest one in the list is gone; the next one is found all the same.
  Request next = compiled.create_request();
  next.set_callback([&](std::exception_ptr) { ++calls; });
  next.submit();
  if (!next.wait(std::chrono::seconds(60))) {
    ADD_FAILURE() << "it is never called";
    std::quick_exit(1);
  }
  EXPECT_EQ(calls, 4);
}

TEST_F(Callbacks, ThatAlwaysSubmitAgainEndWithTheirRequest) {
  auto request = std::make_unique<Request>(model().create_request());
  std::atomic<int> calls = 0, refused = 0;
  request->set_callback([&, called = request.get()](std::exception_ptr) {
    ++calls;
    try {
      called->submit();
    } catch (const Error& error) {
      refused += error.code() == ErrorCode::kCancelled;
    }
  });
  request->submit();
  while (calls < 10) std::this_thread::yield();
  auto ended = std::async(std::launch::async, [&] { request.reset(); });
  expect_end(ended, "it is never destroyed");
  EXPECT_EQ(refused, 1);
}

/// Each callback destroys the request of the next one, once all of them run; the models end with
/// their requests.
void destroy_in_a_ring(std::vector<CompiledModel> models) {
  std::vector<std::unique_ptr<Request>> requests;
  std::atomic<std::size_t> not_running = models.size(), not_done = models.size();
  std::promise<void> done;
  for (std::size_t index = 0; index < models.size(); ++index) {
    requests.push_back(std::make_unique<Request>(models[index].create_request()));
    requests.back()->set_callback([&, next = (index + 1) % models.size()](std::exception_ptr) {
      --not_running;
      while (not_running > 0) std::this_thread::yield();
      requests[next].reset();
      if (--not_done == 0) {
        done.set_value();
      }
    });
  }
  for (const auto& request : requests) request->submit();
  while (not_running > 0) std::this_thread::yield();
  models.clear();
  expect_end(done.get_future(), "the callbacks wait for each other");
}

TEST_F(Callbacks, OfTwoModelsMayDestroyEachOthersRequests) {
  for (int round = 0; round < 20; ++round) destroy_in_a_ring({model(), model()});
}

TEST_F(Callbacks, OfFourModelsMayDestroyEachOthersRequestsInARing) {
  for (int round = 0; round < 20; ++round) destroy_in_a_ring({model(), model(), model(), model()});
}

// The second request's callback is called out of turn, in the other model's thread.
TEST_F(Callbacks, OfOneModelMayDestroyEachOthersRequestsInTheThreadOfAnother) {
  const CompiledModel compiled = model();
  auto first = std::make_unique<Request>(compiled.create_request());
  auto second = std::make_unique<Request>(compiled.create_request());
  auto other = std::make_unique<Request>(model().create_request());
  std::promise<void> first_runs, second_runs, first_done, other_done;
  first->set_callback([&](std::exception_ptr) {
    first_runs.set_value();
    second_runs.get_future().wait();
    other.reset();
    first_done.set_value();
  });
  second->set_callback([&](std::exception_ptr) {
    second_runs.set_value();
    first.reset();
  });
  other->set_callback([&](std::exception_ptr) {
    first_runs.get_future().wait();
    second.reset();
    other_done.set_value();
  });
  for (Request* request : {first.get(), second.get(), other.get()}) request->submit();
  expect_end(first_done.get_future(), "the first callback waits for ever");
  expect_end(other_done.get_future(), "the other model's callback waits for ever");
}

// Whichever of the two would close the circle does not wait.
TEST_F(Callbacks, MayDestroyARequestWhoseCallbackWaitsForTheirModel) {
  const CompiledModel compiled = model(), other = model();
  for (int round = 0; round < 50; ++round) {
    Request first = compiled.create_request(), second = compiled.create_request();
    auto waiting = std::make_unique<Request>(other.create_request());
    std::atomic<int> running = 0;
    std::promise<void> destroyed, waited;
    const auto both_run = [&] {
      ++running;
      while (running < 2) std::this_thread::yield();
    };
    first.set_callback([&](std::exception_ptr) {
      both_run();
      waiting.reset();
      destroyed.set_value();
    });
    second.set_callback([](std::exception_ptr) {});
    waiting->set_callback([&](std::exception_ptr) {
      both_run();
      try {
        EXPECT_TRUE(second.wait());
      } catch (const Error& error) {
        EXPECT_TRUE(has(error.what(), "cannot wait")) << error.what();
      }
      waited.set_value();
    });
    first.submit();
    second.submit();
    waiting->submit();
    expect_end(destroyed.get_future(), "the request is never destroyed");
    expect_end(waited.get_future(), "the callback waits for ever");
  }
}

TEST_F(Callbacks, WaitForAnothersEndWhereThatDoesNotWaitForThem) {
  Request first = model().create_request();
  auto other = std::make_unique<Request>(model().create_request());
  std::promise<void> other_runs;
  std::atomic<bool> is_over = false;
  other->set_callback([&](std::exception_ptr) {
    other_runs.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    is_over = true;
  });
  first.set_callback([&](std::exception_ptr) {
    other_runs.get_future().wait();
    other.reset();
    EXPECT_TRUE(is_over);
  });
  other->submit();
  first.submit();
  EXPECT_TRUE(first.wait());
}

}  // namespace
}  // namespace npu::test::callback_test
