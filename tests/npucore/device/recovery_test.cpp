// A device that is lost: one error for each lost inference, then results again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

constexpr std::size_t kBytes = kAffineElements * sizeof(float);

void fill(const Tensor& tensor, float value) {
  auto* floats = reinterpret_cast<float*>(tensor.data());
  std::fill(floats, floats + tensor.size_bytes() / sizeof(float), value);
}

float first_of(const Tensor& tensor) {
  float value = 0;
  std::memcpy(&value, tensor.data(), sizeof(value));
  return value;
}

/// Whether `action` ends in the one error that tells a loss.
template <class Action>
bool is_lost(Action action) {
  try {
    action();
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDeviceLost) << error.what();
    return true;
  }
}

/// Every way in which a device is lost; each is told by the next inference.
class LostDevice : public OnSoftwareNpu, public ::testing::WithParamInterface<const char*> {
 protected:
  CompiledModel model() {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
  }
  void lose(Request& request) {
    set_fault(GetParam());
    expect_error(ErrorCode::kDeviceLost, "this inference is lost", [&] { request.infer(); });
    set_fault("");
  }
  static void expect_works(Request& request, const Tensor& input, float value) {
    fill(input, value);
    request.infer();
    EXPECT_EQ(first_of(request.output(0)), affine(value));
  }
  static void expect_works(Request& request, float value) {
    expect_works(request, request.input(0), value);
  }
  /// The same loss, told by the `call`-th of its calls instead of the first.
  static void lose_at(int call) {
    std::string fault = GetParam();
    set_fault(fault.replace(fault.find("@1"), 2, "@" + std::to_string(call)));
  }
  TempDir folder_;
};

INSTANTIATE_TEST_SUITE_P(By, LostDevice,
                         ::testing::Values("zeFenceHostSynchronize:DEVICE_LOST@1",
                                           "zeCommandQueueExecuteCommandLists:DEVICE_LOST@1",
                                           "zeCommandQueueExecuteCommandLists:POISON@1"),
                         [](const auto& parameter) {
                           const std::string text = parameter.param;
                           if (text.find("POISON") != std::string::npos) return "APoisonedContext";
                           return text.find("Fence") != std::string::npos ? "ItsFence"
                                                                          : "ItsSubmission";
                         });

TEST_P(LostDevice, GivesOneErrorAndThenResults) {
  Request request = model().create_request();
  expect_works(request, 1);
  lose(request);
  expect_works(request, 2);
  lose(request);
  expect_works(request, 3);
}

TEST_P(LostDevice, IsOverForItsOtherRequestsToo) {
  const CompiledModel shared = model();
  Request first = shared.create_request();
  Request second = shared.create_request();
  expect_works(second, 1);
  lose(first);
  expect_works(second, 2);
  expect_works(first, 3);
}

TEST_P(LostDevice, IsOverForOtherModelsToo) {
  const CompiledModel one = model();
  const CompiledModel other = model();
  Request first = one.create_request();
  Request second = other.create_request();
  expect_works(second, 1);
  lose(first);
  expect_works(second, 2);
}

TEST_P(LostDevice, LeavesNothingButTheModelLoadedAgain) {
  Request request = model().create_request();
  expect_works(request, 1);
  lose(request);
  expect_works(request, 2);
  const auto once = live_driver_objects();
  lose(request);
  expect_works(request, 3);
  EXPECT_EQ(live_driver_objects(), once);
}

TEST_P(LostDevice, KeepsWhatTensorsHoldAndCopiesThem) {
  Request request = model().create_request();
  const Tensor input = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  const Tensor output = Tensor::allocate(device_, kBytes, MemoryUse::kOutput);
  request.set_input(0, input);
  request.set_output(0, output);
  fill(input, 5);
  lose(request);
  EXPECT_EQ(first_of(input), 5);
  request.infer();
  EXPECT_EQ(first_of(output), affine(5));
  EXPECT_EQ(request.copies(), 2u);
  fill(input, 6);
  request.infer();
  EXPECT_EQ(first_of(output), affine(6));
}

TEST_P(LostDevice, CopiesNothingForTensorsMadeAfterwards) {
  Request request = model().create_request();
  lose(request);
  const Tensor input = Tensor::allocate(device_, kBytes, MemoryUse::kInput);
  request.set_input(0, input);
  request.set_output(0, Tensor::allocate(device_, kBytes, MemoryUse::kOutput));
  expect_works(request, 7);
  EXPECT_EQ(request.copies(), 0u);
}

TEST_P(LostDevice, ImportsDmabufsAgain) {
  const int fd = make_memfd(4096);
  Request request = model().create_request();
  Importer importer(device_);
  const Tensor input = importer.import(fd);
  request.set_input(0, input);
  lose(request);
  const auto imports = importer.stats().imports;
  for (float value : {1.f, 2.f}) expect_works(request, input, value);
  EXPECT_EQ(importer.stats().imports, imports + 1);
  const Tensor again = importer.import(fd);
  request.set_input(0, again);
  expect_works(request, input, 3);
  EXPECT_EQ(importer.stats().imports, imports + 1) << "imported twice into one context";
  ::close(fd);
}

TEST_P(LostDevice, ReachesExportedTensorsThroughTheirBuffer) {
  Request request = model().create_request();
  const Tensor input = Tensor::allocate(device_, 4096, MemoryUse::kInput, true);
  ::close(input.export_dmabuf());
  request.set_input(0, input);
  request.output(0);
  lose(request);
  request.set_output(0, Tensor::allocate(device_, kBytes, MemoryUse::kOutput));
  expect_works(request, input, 4);
  EXPECT_EQ(request.copies(), 0u);
}

TEST_P(LostDevice, GivesBatchesAgain) {
  Request request = model().create_request(3);
  expect_works(request, 1);
  lose(request);
  expect_works(request, 2);
}

TEST_P(LostDevice, GivesABlobsModelAgain) {
  const auto path = folder_.path() / "model.blob";
  model().export_blob(path);
  Request request = CompiledModel::import(device_, path).create_request();
  expect_works(request, 1);
  lose(request);
  expect_works(request, 2);
}

TEST_P(LostDevice, ExportsItsBlobAgain) {
  const CompiledModel shared = model();
  Request request = shared.create_request();
  const auto before = shared.native_binary();
  lose(request);
  EXPECT_EQ(shared.native_binary(), before);
}

TEST_P(LostDevice, InManyThreadsGivesEachLossToOneOrMoreAndThenResults) {
  const CompiledModel shared = model();
  std::atomic<int> good = 0;
  std::atomic<int> lost = 0;
  std::vector<std::thread> threads;
  lose_at(20);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Request request = shared.create_request();
      for (int count = 0; count < 50; ++count) {
        const auto value = static_cast<float>(thread * 100 + count);
        ++(is_lost([&] { expect_works(request, value); }) ? lost : good);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good + lost, 200);
  EXPECT_GE(lost, 1);
  EXPECT_LE(lost, 4) << "more errors than inferences were in flight";
}

TEST_P(LostDevice, WithManyInFlightGivesAnErrorForEachLostOne) {
  const CompiledModel shared = model();
  std::vector<Request> requests;
  for (int count = 0; count < 8; ++count) {
    requests.push_back(shared.create_request());
    fill(requests.back().input(0), static_cast<float>(count));
  }
  lose_at(3);
  int lost = 0;
  std::vector<bool> submitted(requests.size());
  for (std::size_t index = 0; index < requests.size(); ++index) {
    submitted[index] = !is_lost([&] { requests[index].submit(); });
    if (!submitted[index]) {
      ++lost;
    }
  }
  for (std::size_t index = 0; index < requests.size(); ++index) {
    if (submitted[index] && is_lost([&] { requests[index].wait(); })) {
      ++lost;
    }
  }
  set_fault("");
  EXPECT_GE(lost, 1);
  for (std::size_t index = 0; index < requests.size(); ++index) {
    requests[index].infer();
    EXPECT_EQ(first_of(requests[index].output(0)), affine(static_cast<float>(index)));
  }
}

TEST_P(LostDevice, TellsCallbacksOnce) {
  Request request = model().create_request();
  std::atomic<int> good = 0;
  std::atomic<int> bad = 0;
  request.set_callback([&](std::exception_ptr error) { ++(error ? bad : good); });
  const bool by_fence = std::string_view(GetParam()).find("Fence") != std::string_view::npos;
  lose(request);
  EXPECT_EQ(bad, by_fence ? 1 : 0) << "a submission that throws has no callback";
  request.infer();
  EXPECT_EQ(good, 1);
}

TEST_P(LostDevice, ThatCannotBeHadAgainIsAnErrorUntilItCan) {
  const CompiledModel model = this->model();
  Request request = model.create_request();
  EXPECT_FALSE(model.is_lost());
  lose(request);
  EXPECT_TRUE(model.is_lost());
  set_fault("zeContextCreate:OUT_OF_DEVICE_MEMORY@1");
  expect_error(ErrorCode::kOutOfMemory, "zeContextCreate", [&] { request.infer(); });
  set_fault("pfnCreate3:OUT_OF_HOST_MEMORY@1");
  expect_error(ErrorCode::kOutOfMemory, "pfnCreate3", [&] { request.infer(); });
  EXPECT_TRUE(model.is_lost());
  set_fault("");
  expect_works(request, 1);
  EXPECT_FALSE(model.is_lost());
}

/// Losses that another call than an inference tells, or that come while a request moves on.
class LostElsewhere : public OnSoftwareNpu {
 protected:
  void lose() {
    Request request = model_.create_request();
    request.infer();
    set_fault("zeFenceHostSynchronize:DEVICE_LOST@1");
    expect_error(ErrorCode::kDeviceLost, "this inference is lost", [&] { request.infer(); });
  }
  void expect_works(float value) {
    set_fault("");
    Request request = model_.create_request();
    fill(request.input(0), value);
    request.infer();
    EXPECT_EQ(first_of(request.output(0)), affine(value));
  }

  TempDir folder_;
  CompiledModel model_ =
      CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
};

TEST_F(LostElsewhere, ByAnotherThreadEndsNoSubmission) {
  std::atomic<bool> over{false};
  std::thread asking([&] {
    while (!over) {
      set_fault("pfnQueryContextMemory:DEVICE_LOST@1");
      is_lost([&] { device_.memory(); });
    }
  });
  for (int i = 0; i < 12; ++i) {
    is_lost([&] { model_.create_request().infer(); });
  }
  over = true;
  asking.join();
  expect_works(3);
}

TEST_F(LostElsewhere, ByAnAllocationGivesANewContext) {
  Request keeps_the_old_one = model_.create_request();
  void* const before = device_.native_context();
  set_fault("zeMemAllocHost:DEVICE_LOST@1");
  EXPECT_TRUE(is_lost([&] { Tensor::allocate(device_, kBytes, MemoryUse::kInput); }));
  EXPECT_NE(device_.native_context(), before);
  expect_works(2);
}

TEST_F(LostElsewhere, ByALoadedGraphGivesANewContext) {
  Request keeps_the_old_one = model_.create_request();
  void* const before = device_.native_context();
  const Model model = Model::read(write_affine_model(folder_.path()));
  set_fault("pfnCreate3:DEVICE_LOST@1");
  EXPECT_TRUE(is_lost([&] { CompiledModel::compile(device_, model); }));
  EXPECT_NE(device_.native_context(), before);
  expect_works(2);
}

// The driver refuses a question while the device sleeps; the context is whole.
TEST_F(LostElsewhere, ALowPowerStateOfAQuestionLosesNothing) {
  Request request = model_.create_request();
  request.set_input(0, Tensor::allocate(device_, kBytes, MemoryUse::kInput));
  request.infer();
  set_fault("pfnQueryContextMemory:DEVICE_IN_LOW_POWER_STATE@1");
  expect_error(ErrorCode::kUnsupported, "LOW_POWER", [&] { device_.memory(); });
  set_fault("zeMemAllocHost:DEVICE_IN_LOW_POWER_STATE@1");
  expect_error(ErrorCode::kUnsupported, "LOW_POWER",
               [&] { Tensor::allocate(device_, kBytes, MemoryUse::kInput); });
  set_fault("");
  request.infer();
  EXPECT_EQ(request.copies(), 0u);
}

// Whoever is told of a loss has a new context afterwards, whatever call and word told it.
TEST_F(LostElsewhere, ByADeviceThatNeedsAResetGivesANewContext) {
  Request request = model_.create_request();
  void* const before = device_.native_context();
  set_fault("pfnAppendGraphExecute:DEVICE_REQUIRES_RESET@1");
  EXPECT_TRUE(is_lost([&] { request.infer(); }));
  EXPECT_NE(device_.native_context(), before);
  expect_works(2);
}

TEST_F(LostElsewhere, ByAnImportOfHostMemoryIsTold) {
  const std::unique_ptr<void, decltype(&std::free)> pages(std::aligned_alloc(4096, 4096),
                                                          &std::free);
  Request request = model_.create_request();
  set_fault("zeMemAllocHost:DEVICE_LOST@1");
  EXPECT_TRUE(is_lost([&] { request.set_input(0, HostMemory{pages.get(), 4096}); }));
  expect_works(4);
}

// A driver reports a hung device as "not ready" for ever; only its status tells.
TEST_F(LostElsewhere, IsSeenByWaitsThatAreShort) {
  Request request = model_.create_request();
  request.infer();
  request.submit();
  set_fault("zeFenceHostSynchronize:NOT_READY@1+,zeDeviceGetStatus:DEVICE_LOST@1+");
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool lost = false;
  while (!lost && std::chrono::steady_clock::now() < patience) {
    lost = is_lost([&] { EXPECT_FALSE(request.wait(std::chrono::milliseconds(100))); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(lost);
  expect_works(6);
}

TEST_F(LostElsewhere, KeepsThePropertiesOfTheContext) {
  device_.set_property(property::disable_idle_memory_pruning, true);
  lose();
  set_fault("");
  model_.create_request().infer();
  EXPECT_EQ(driver_call_counts()["pfnSetProperties"], 1u) << "for the new context";
  device_.set_property(property::disable_idle_memory_pruning, false);
}

}  // namespace
}  // namespace npu::test
