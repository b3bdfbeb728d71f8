// Every driver call that a public call makes, made to fail: a clean error, nothing left behind, and
// the next call works.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "support/samples.hpp"

#include "public_calls.hpp"
#include "support.hpp"

namespace npu::test {
namespace {

constexpr const char* kResults[] = {"ERROR_UNKNOWN", "ERROR_OUT_OF_HOST_MEMORY",
                                    "ERROR_DEVICE_LOST"};

/// Driver calls whose failure a public call survives, and how.
struct Survived {
  const char* public_call;  ///< the beginning of its name
  const char* driver_call;
  const char* how;
};

constexpr Survived kSurvived[] = {
    {"", "zeCommandListGetNextCommandIdExp", "lists are recorded again for other tensors"},
    {"DeviceOpen", "zeDevicePciGetPropertiesExt", "DeviceInfo::pci_address stays empty"},
    {"DeviceOpen", "pfnQueryContextMemory", "DeviceInfo::memory_bytes is the largest allocation"},
    {"DeviceOpen", "zeDriverGetExtensionFunctionAddress", "an optional extension is not used"},
    {"DeviceOpenByAddress", "pfnDeviceGetGraphProperties", "looking for it needs no more"},
    {"DeviceList", "zeDevicePciGetPropertiesExt", "as for DeviceOpen"},
    {"DeviceList", "zeDriverGetExtensionFunctionAddress", "the device is listed by its name"},
    {"DeviceList", "pfnDeviceGetGraphProperties", "the device is listed by its name"},
    {"Compile", "pfnCompilerIsOptionSupported", "the option is not sent, weights are copied"},
    {"AllocateShareable", "zeMemAllocHost", "the next source is taken, plain memory at last"},
    {"AllocateShareable", "zeMemGetAllocProperties", "as for zeMemAllocHost"},
    {"CompileFromACache", "zeCommandQueueCreate", "as for pfn..."},
    {"CompileFromACache", "pfn", "the entry is dropped and the model compiled again"},
    {"LoadCached", "zeCommandQueueCreate", "as for pfn..."},
    {"LoadCached", "pfn", "the entry is not used, with a warning, and stays"},
    {"InferOnHostMemory", "zeMemAllocHost", "memory that cannot be imported is copied"},
    {"BindAnotherTensor", "zeCommandListReset", "as for InferOnHostMemory"},
    {"InferOnHostMemory", "zeCommandListReset",
     "a list that lets go of freed memory is recorded anew"},
    {"TensorFromAFile", "zeMemAllocHost", "a file that cannot be imported is copied"},
    {"ImportWithAModelAtHand", "pfnCreate", "the model is compiled instead, with a warning"},
    {"ImportWithAModelAtHand", "pfnCompilerIsOptionSupported", "as for Compile"},
};

bool may_be_survived(const std::string& public_call, const std::string& driver_call) {
  // Whoever ends something can do nothing about an error.
  if (driver_call.ends_with("Destroy") || driver_call.starts_with("zeMemFree")) return true;
  return std::any_of(std::begin(kSurvived), std::end(kSurvived), [&](const Survived& row) {
    return public_call.starts_with(row.public_call) && driver_call.starts_with(row.driver_call);
  });
}

/// One of the results, which each public call and each driver call has in turn, or all.
std::vector<const char*> results_to_try(const std::string& public_call,
                                        const std::string& driver_call) {
  if (every_row_is_wanted()) return {std::begin(kResults), std::end(kResults)};
  const auto sum = [](const std::string& name) {
    return std::accumulate(name.begin(), name.end(), std::size_t{0});
  };
  return {kResults[(sum(public_call) + sum(driver_call)) % std::size(kResults)]};
}

class FaultSweep : public testing::TestWithParam<PublicCall> {
 protected:
  void SetUp() override {
    fds_ = count_open_fds();
    Device::open(DeviceKind::kSoftware);
    set_fault("");
    objects_ = live_driver_objects();
  }
  void TearDown() override {
    set_fault("");
    stage_.reset();
    EXPECT_TRUE(driver_objects_settle_at(objects_)) << describe_live_objects();
    EXPECT_EQ(count_open_fds(), fds_);
  }

  void prepare() {
    stage_ = std::make_unique<Stage>();
    stage_->device = Device::open(DeviceKind::kSoftware);
    GetParam().prepare(*stage_);
    GetParam().run(*stage_);
  }

  /// The error's text; empty when the call succeeded.
  std::string run_with(const std::string& fault) {
    set_fault(fault);
    std::string told;
    try {
      GetParam().run(*stage_);
    } catch (const Error& error) {
      told = error.what();
      EXPECT_FALSE(told.empty());
    }
    return told;
  }

  /// Whether the call has come so often, or does at once: a job's thread destroys its graph behind
  /// get(). How often a fence is asked, or a list recorded anew, is not the same each time.
  static bool comes(const std::string& call, std::uint64_t occurrence) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (driver_call_counts()[call] < occurrence) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  void try_fault(const std::string& call, std::uint64_t occurrence, const std::string& result) {
    const auto fault = call + ":" + result + "@" + std::to_string(occurrence);
    SCOPED_TRACE(fault);
    const auto told = run_with(fault);
    const bool hit = comes(call, occurrence);
    set_fault("");
    if (!hit) return;
    ++hits_;
    if (told.empty()) {
      EXPECT_TRUE(may_be_survived(GetParam().name, call)) << "nothing was thrown";
    } else {
      // A device whose address cannot be read is not found by it.
      EXPECT_TRUE(has(told, call) || has(told, "at an unknown address")) << told;
    }
    try {
      GetParam().run(*stage_);
    } catch (const Error& error) {
      ADD_FAILURE() << "the next call fails: " << error.what() << "\nafter: " << told;
      prepare();
    }
  }

  std::unique_ptr<Stage> stage_;
  std::size_t hits_ = 0;

 private:
  std::size_t fds_ = 0;
  std::uint32_t objects_ = 0;
};

TEST_P(FaultSweep, IsACleanErrorAndTheNextCallWorks) {
  prepare();
  set_fault("");
  GetParam().run(*stage_);
  const auto calls = driver_call_counts();
  for (const auto& [call, count] : calls) {
    for (const auto* result : results_to_try(GetParam().name, call)) {
      try_fault(call, 1, result);
      if (count > 1) {
        try_fault(call, count, result);
      }
    }
  }
  EXPECT_GE(hits_, calls.size()) << "faults were not hit";
}

INSTANTIATE_TEST_SUITE_P(PublicCalls, FaultSweep,
                         testing::ValuesIn(public_calls().begin(), public_calls().end()), by_name);

}  // namespace
}  // namespace npu::test
