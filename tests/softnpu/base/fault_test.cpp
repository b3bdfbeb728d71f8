// SOFTNPU_FAULT's grammar, and which call of a name fails.
#include "base/fault.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>

#include "abi/entry.hpp"
#include "support/expect.hpp"

namespace softnpu::fault {
namespace {

// Calls of this program's own; the names of real ones are those of the driver.
int done = 0;

ze_result_t work(int) {
  ++done;
  return ZE_RESULT_SUCCESS;
}
ze_result_t other_work(int) {
  ++done;
  return ZE_RESULT_SUCCESS;
}

const auto work_entry = &CoreEntry<"testWork", &work>::call;
const auto destroy_entry = &CoreEntry<"testDestroy", &other_work>::call;

std::string first_error(const char* specification) {
  std::vector<std::string> errors;
  parse(specification, errors);
  return errors.empty() ? "" : errors.front();
}

std::vector<ze_result_t> results_of_calls(size_t count) {
  std::vector<ze_result_t> results;
  for (size_t i = 0; i < count; ++i) results.push_back(work_entry(0));
  return results;
}

class Fault : public testing::Test {
 protected:
  void SetUp() override { done = 0; }
  void TearDown() override { set(""); }
};

TEST_F(Fault, ReadsEveryItemOfAList) {
  std::vector<std::string> errors;
  const auto plans = parse("testWork:DEVICE_LOST@3,testDestroy:0x7ffffffe@2+", errors);
  EXPECT_TRUE(errors.empty());
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].call, "testWork");
  EXPECT_EQ(plans[0].result, ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(plans[0].first, 3u);
  EXPECT_EQ(plans[0].last, 3u);
  EXPECT_EQ(plans[1].result, ZE_RESULT_ERROR_UNKNOWN);
  EXPECT_EQ(plans[1].first, 2u);
  EXPECT_EQ(plans[1].last, UINT64_MAX);
}

TEST_F(Fault, TakesAResultInEverySpelling) {
  std::vector<std::string> errors;
  const auto plans = parse(
      "testWork:ZE_RESULT_ERROR_INVALID_SIZE@1,testWork:ERROR_INVALID_SIZE@1,"
      "testWork:INVALID_SIZE@1,testWork:0x78000008@1,testWork:2013265928@1,testWork:NOT_READY@1",
      errors);
  EXPECT_TRUE(errors.empty());
  ASSERT_EQ(plans.size(), 6u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(plans[i].result, ZE_RESULT_ERROR_INVALID_SIZE) << i;
  EXPECT_EQ(plans[5].result, ZE_RESULT_NOT_READY);
}

TEST_F(Fault, SaysWhatIsWrongWithAnItem) {
  EXPECT_TRUE(has(first_error("testWork"), "is not <call>:<result>@<n>"));
  EXPECT_TRUE(has(first_error("testWork:UNKNOWN"), "is not <call>:<result>@<n>"));
  EXPECT_TRUE(has(first_error("testWork:BAD@1"), "is not a failing ze_result_t"));
  EXPECT_TRUE(has(first_error("testWork:SUCCESS@1"), "is not a failing"));
  EXPECT_TRUE(has(first_error("testWork:0@1"), "is not a failing"));
  EXPECT_TRUE(has(first_error("testWork:UNKNOWN@0"), "counted from 1"));
  EXPECT_TRUE(has(first_error("testWork:UNKNOWN@+"), "counted from 1"));
  EXPECT_TRUE(has(first_error("testPlay:UNKNOWN@1"), "no call of that name"));
  EXPECT_TRUE(has(first_error("testWork:POISON@1"), "POISON is for"));
}

TEST_F(Fault, KeepsTheGoodItemsOfAListWithABadOne) {
  std::vector<std::string> errors;
  EXPECT_EQ(parse("testWork:BAD@1,testWork:UNKNOWN@1", errors).size(), 1u);
  EXPECT_EQ(errors.size(), 1u);
}

TEST_F(Fault, FailsTheCallOfItsNumberAndDoesNothingThen) {
  set("testWork:DEVICE_LOST@2");
  EXPECT_EQ(results_of_calls(3),
            (std::vector{ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_DEVICE_LOST, ZE_RESULT_SUCCESS}));
  EXPECT_EQ(done, 2);
}

TEST_F(Fault, FailsEveryCallFromANumberOn) {
  set("testWork:UNKNOWN@2+");
  EXPECT_EQ(results_of_calls(3),
            (std::vector{ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_UNKNOWN, ZE_RESULT_ERROR_UNKNOWN}));
  EXPECT_EQ(done, 1);
}

TEST_F(Fault, CarriesOutADestroyThatItFails) {
  set("testDestroy:UNKNOWN@1");
  EXPECT_EQ(destroy_entry(0), ZE_RESULT_ERROR_UNKNOWN);
  EXPECT_EQ(done, 1);
}

TEST_F(Fault, CountsFromZeroAfterEverySpecification) {
  set("");
  results_of_calls(3);
  destroy_entry(0);
  const std::string counts = call_counts();
  EXPECT_TRUE(has(counts, "testWork 3"));
  EXPECT_TRUE(has(counts, "testDestroy 1"));
  set("");
  EXPECT_EQ(call_counts(), "");
}

TEST_F(Fault, LeavesTheOldSpecificationWhenTheNewOneIsWrong) {
  set("testWork:UNKNOWN@1+");
  const auto set_a_wrong_one = [] {
    set("testWork:BAD@1");
    return ZE_RESULT_SUCCESS;
  };
  EXPECT_EQ(result_of(set_a_wrong_one), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(work_entry(0), ZE_RESULT_ERROR_UNKNOWN);
}

using FaultDeathTest = Fault;

TEST_F(FaultDeathTest, AbortsWhereItIsTold) {
  set("testWork:ABORT@2");
  EXPECT_EQ(work_entry(0), ZE_RESULT_SUCCESS);
  EXPECT_EXIT(work_entry(0), testing::KilledBySignal(SIGABRT), "this call aborts");
}

TEST_F(FaultDeathTest, HangsWhereItIsTold) {
  set("testWork:HANG@1");
  EXPECT_EXIT(
      {
        ::alarm(1);
        work_entry(0);
      },
      testing::KilledBySignal(SIGALRM), "");
}

TEST_F(Fault, PausesAndMakesTheCall) {
  set("testWork:PAUSE@2");
  EXPECT_EQ(work_entry(0), ZE_RESULT_SUCCESS);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(work_entry(0), ZE_RESULT_SUCCESS);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1));
  EXPECT_EQ(done, 2);
}

// A sanitizer ends the process itself where it gets no more memory.
#ifndef __SANITIZE_ADDRESS__
TEST_F(Fault, EatsMemoryUntilThereIsNoMore) {
  set("testWork:EAT_MEMORY@1");
  struct rlimit before = {};
  ::getrlimit(RLIMIT_AS, &before);
  const struct rlimit small = {rlim_t{1} << 30, before.rlim_max};
  ::setrlimit(RLIMIT_AS, &small);
  const ze_result_t result = work_entry(0);
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(work_entry(0), ZE_RESULT_SUCCESS);
}
#endif

}  // namespace
}  // namespace softnpu::fault
