// The tool itself, beside this process, which runs inferences on its software NPU.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include <npucore/npucore.hpp>

#include "ir_files.hpp"
#include "run_tool.hpp"

namespace npu::npu_top_test {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

test::ToolRun run(const std::string& words) {
  return test::run_tool("NPU_TOP", words);
}

/// While one lives, a thread infers without a pause.
class Inferring {
 public:
  explicit Inferring(Request& request)
      : thread_([this, &request] {
          while (!end_) request.infer();
        }) {}
  ~Inferring() {
    end_ = true;
    thread_.join();
  }
  Inferring(const Inferring&) = delete;
  Inferring& operator=(const Inferring&) = delete;

 private:
  std::atomic<bool> end_{false};
  std::thread thread_;
};

class NpuTop : public testing::Test {
 protected:
  /// This process's line.
  static nlohmann::json own_row(const nlohmann::json& report) {
    for (const auto& row : report.at("processes")) {
      if (row.at("pid") == ::getpid() && row.at("device") == "software") return row;
    }
    return nullptr;
  }
  static nlohmann::json device_row(const nlohmann::json& report, const std::string& name) {
    for (const auto& row : report.at("devices")) {
      if (row.at("name") == name) return row;
    }
    return nullptr;
  }

  Model read_model() const {
    static_cast<void>(dir_.write("m.bin", std::string("\0\0\x80\x3f", 4)));
    return Model::read(dir_.write("m.xml", test::multiply_ir()).string());
  }

  const TempDir dir_;
  const Device device_ = Device::open(DeviceKind::kSoftware);
  const CompiledModel model_ = CompiledModel::compile(device_, read_model());
};

TEST_F(NpuTop, SeesASoftwareNpuThatRuns) {
  Request request = model_.create_request();
  request.infer();
  const Inferring inferring(request);
  const auto result = run("--once --json --interval 0.5");
  ASSERT_EQ(result.code, 0) << result.output;
  const auto report = nlohmann::json::parse(result.output);
  const auto row = own_row(report);
  ASSERT_FALSE(row.is_null()) << result.output;
  EXPECT_GT(row["utilization"], 0);
  EXPECT_LE(row["utilization"], 1);
  EXPECT_GT(row["inferences_per_second"], 0);
  EXPECT_GT(row["memory_bytes"], 0);
  const auto device = device_row(report, "software");
  EXPECT_EQ(device["kind"], "software");
  EXPECT_EQ(device["utilization_from"], "processes");
  EXPECT_GE(device["utilization"], row["utilization"]);
  EXPECT_GE(device["processes"], 1);
}

TEST_F(NpuTop, SeesOneThatRestsAsIdle) {
  Request request = model_.create_request();
  request.infer();
  const auto result = run("--once --json --interval 0.1 --device software");
  const auto row = own_row(nlohmann::json::parse(result.output));
  ASSERT_FALSE(row.is_null()) << result.output;
  EXPECT_EQ(row["utilization"], 0);
  EXPECT_EQ(row["inferences_per_second"], 0);
}

/// A descriptor more of this process's page; -1 for none.
int duplicate_of_own_page() {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(entry, gone).string().starts_with("/memfd:softnpu-status")) {
      return ::open(entry.path().c_str(), O_RDONLY);
    }
  }
  return -1;
}

// It has a descriptor of its parent's page, and no NPU.
TEST_F(NpuTop, DoesNotCountAForkedChild) {
  const int page = duplicate_of_own_page();
  ASSERT_GE(page, 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto report = nlohmann::json::parse(run("--once --json --interval 0.05").output);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(page);
  EXPECT_FALSE(own_row(report).is_null()) << report;
  for (const auto& row : report["processes"]) EXPECT_NE(row["pid"], child) << report;
}

TEST_F(NpuTop, TellsPeopleTheSame) {
  const auto result = run("--once --interval 0.1");
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "inf/s"));
  EXPECT_TRUE(has(result.output, " " + std::to_string(::getpid()) + "  software"));
}

TEST_F(NpuTop, LooksAgainAndAgain) {
  const auto result = run("--json --interval 0.05 | head -n 3");
  std::istringstream lines(result.output);
  int reports = 0;
  for (std::string line; std::getline(lines, line); ++reports) {
    EXPECT_FALSE(own_row(nlohmann::json::parse(line)).is_null()) << line;
  }
  EXPECT_EQ(reports, 3);
}

TEST_F(NpuTop, EndsWithCtrlC) {
  const std::string file = (dir_.path() / "reports").string();
  const auto result = run("--json --interval 0.05 > " + file + " & until [ -s " + file +
                          " ]; do sleep 0.05; done; kill -INT $!; wait $!");
  EXPECT_EQ(result.code, 0) << result.output;
}

/// A picture of a machine that this one is not: /sys and /proc of an NPU.
class NpuTopOnAPicture : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path device = dir_.path() / "sys/devices/0000:00:0b.0";
    fs::create_directories(dir_.path() / "sys/class/accel/accel0");
    fs::create_directories(device);
    fs::create_symlink("../../../devices/0000:00:0b.0",
                       dir_.path() / "sys/class/accel/accel0/device");
    fs::create_symlink("../../bus/pci/drivers/intel_vpu", device / "driver");
    std::ofstream(device / "npu_busy_time_us") << "5000\n";
    std::ofstream(device / "npu_memory_utilization") << "4194304\n";
    const fs::path process = dir_.path() / "proc/120";
    fs::create_directories(process / "fd");
    fs::create_directories(process / "fdinfo");
    fs::create_symlink("/dev/accel/accel0", process / "fd/3");
    std::ofstream(process / "comm") << "bad\x1b[2Jname\xff\n";
    std::ofstream(process / "fdinfo/3")
        << "drm-driver:\tintel_vpu\ndrm-client-id:\t1\ndrm-total-memory:\t8 KiB\n";
    ::setenv("NPU_TOP_ROOT", dir_.path().c_str(), 1);
  }
  void TearDown() override { ::unsetenv("NPU_TOP_ROOT"); }

  const TempDir dir_;
};

TEST_F(NpuTopOnAPicture, TellsWhatTheKernelTells) {
  const auto result = run("--once --json --interval 0.05");
  ASSERT_EQ(result.code, 0) << result.output;
  const auto report = nlohmann::json::parse(result.output);
  ASSERT_EQ(report["devices"].size(), 1u);
  EXPECT_EQ(report["devices"][0]["name"], "accel0");
  EXPECT_EQ(report["devices"][0]["utilization"], 0);
  EXPECT_EQ(report["devices"][0]["utilization_from"], "sysfs");
  EXPECT_EQ(report["devices"][0]["memory_bytes"], 4194304);
  EXPECT_TRUE(report["devices"][0]["frequency_mhz"].is_null());
  EXPECT_EQ(report["processes"][0]["pid"], 120);
  EXPECT_EQ(report["processes"][0]["memory_bytes"], 8192);
}

TEST_F(NpuTopOnAPicture, WithoutAnythingIsNoFailure) {
  fs::remove_all(dir_.path() / "sys");
  fs::remove_all(dir_.path() / "proc");
  const auto result = run("--once --interval 0.05");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.output, "no NPU was found, and no process uses the software NPU"));
}

class NpuTopUsage : public testing::TestWithParam<test::Failure> {};

TEST_P(NpuTopUsage, IsOneClearError) {
  const auto result = run(GetParam().words);
  EXPECT_EQ(result.code, GetParam().code) << result.output;
  EXPECT_TRUE(has(result.output, GetParam().expected));
}

constexpr const char* kSeconds = "is no number of seconds from 0.01 to 3600";

INSTANTIATE_TEST_SUITE_P(Words, NpuTopUsage,
                         testing::Values(test::Failure{"NoTime", "--interval 0", 2, kSeconds},
                                         test::Failure{"NegativeTime", "--interval -1", 2,
                                                       kSeconds},
                                         test::Failure{"NoNumber", "--interval nan", 2, kSeconds},
                                         test::Failure{"NoWord", "--interval soon", 2, kSeconds},
                                         test::Failure{"TooLong", "--interval 1e9", 2, kSeconds},
                                         test::Failure{"UnknownOption", "--twice", 2, "--twice"},
                                         test::Failure{"UnknownDevice", "--device gpu", 2, "gpu"},
                                         test::Failure{"Operand", "model.xml", 2, "model.xml"}),
                         by_name);

}  // namespace
}  // namespace npu::npu_top_test
