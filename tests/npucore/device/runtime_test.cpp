// The loader reads its drivers once in a process: meson runs every test of this file in its own.
#include "device/runtime.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <npucore/error.hpp>

#include "ze/loader.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

using internal::Runtime;
using internal::SystemPaths;

SystemPaths empty_machine(const TempDir& folder) {
  SystemPaths paths;
  paths.nodes = folder.path() / "dev";
  paths.classes = folder.path() / "sys";
  paths.driver_libraries = {"libze_no_driver.so.1"};
  return paths;
}

void add_node(const TempDir& folder, const std::string& name, const std::string& driver) {
  std::filesystem::create_directories(folder.path() / "dev");
  write_file(folder.path() / "dev" / name, "");
  std::filesystem::create_directories(folder.path() / "sys" / name / "device");
  std::filesystem::create_symlink("../../" + driver,
                                  folder.path() / "sys" / name / "device" / "driver");
}

std::vector<std::string> missing(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const auto& finding : findings) {
    if (!finding.ok) {
      names.push_back(finding.what);
    }
  }
  return names;
}

std::vector<std::string> collect_warnings() {
  static std::vector<std::string> warnings;
  set_log_sink([](LogLevel level, std::string_view message) {
    if (level == LogLevel::kWarning) {
      warnings.emplace_back(message);
    }
  });
  return warnings;
}

TEST(Runtime, NpuOnAnEmptyMachineListsWhatIsMissing) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  const auto open = [&] { runtime.open(DeviceKind::kNpu); };
  expect_error(ErrorCode::kNotFound, "device node: there is no " + folder.path().string(), open);
  expect_error(ErrorCode::kNotFound, "load the kernel module intel_vpu", open);
  expect_error(ErrorCode::kNotFound, "driver library: libze_no_driver.so.1", open);
}

TEST(Runtime, NpuRefusedLeavesTheSoftwareNpuOpenable) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  expect_error(ErrorCode::kNotFound, "no NPU found", [&] { runtime.open(DeviceKind::kNpu); });
  EXPECT_TRUE(runtime.open(DeviceKind::kSoftware)->info.is_software);
}

TEST(Runtime, NpuIsRefusedAfterTheSoftwareNpuWasOpened) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  const auto software = runtime.open(DeviceKind::kSoftware);
  expect_error(ErrorCode::kNotFound, "device node", [&] { runtime.open(DeviceKind::kNpu); });
}

TEST(Runtime, AutoTakesTheSoftwareNpuWithOneWarning) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  collect_warnings();
  EXPECT_TRUE(runtime.open(DeviceKind::kAuto)->info.is_software);
  EXPECT_TRUE(runtime.open(DeviceKind::kAuto)->info.is_software);
  const auto warnings = collect_warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(has(warnings[0], "software NPU: no NPU found (device node: there is no"));
  EXPECT_EQ(warnings[0].find('\n'), std::string::npos) << warnings[0];
}

/// Whether the loader stays in the process once it was there: then it takes its drivers only once.
bool loader_stays() {
  const std::string library = ze::Loader::default_library();
  ::dlclose(::dlopen(library.c_str(), RTLD_LAZY));
  void* left = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (left) {
    ::dlclose(left);
  }
  return left != nullptr;
}

TEST(Runtime, AutoSaysHowToGoOnWhereTheLoaderCannotBeAskedAgain) {
  if (!loader_stays()) {
    GTEST_SKIP() << "this loader can be unloaded";
  }
  const TempDir folder;
  SystemPaths paths = empty_machine(folder);
  add_node(folder, "accel0", "intel_vpu");
  paths.driver_libraries = {"libm.so.6"};
  Runtime runtime(paths);
  EXPECT_TRUE(
      has(thrown_by([&] { runtime.open(DeviceKind::kAuto); }), "ask for the device \"software\""));
}

TEST(Runtime, AutoFallsBackWhenAnInstalledDriverOffersNothing) {
  if (loader_stays()) {
    GTEST_SKIP() << "this loader cannot be unloaded";
  }
  const TempDir folder;
  SystemPaths paths = empty_machine(folder);
  add_node(folder, "accel0", "intel_vpu");
  paths.driver_libraries = {"libm.so.6"};  // a library that is there and is no driver
  Runtime runtime(paths);
  collect_warnings();
  EXPECT_TRUE(runtime.open(DeviceKind::kAuto)->info.is_software);
  EXPECT_EQ(collect_warnings().size(), 1u);
}

TEST(Runtime, OpeningAgainSharesTheContext) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  const auto first = runtime.open(DeviceKind::kSoftware);
  EXPECT_EQ(runtime.open(DeviceKind::kSoftware), first);
}

TEST(Runtime, ALostContextIsReplaced) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  const auto first = runtime.open(DeviceKind::kSoftware);
  const auto lost = first->context();
  lost->lost = true;
  EXPECT_EQ(runtime.open(DeviceKind::kSoftware), first);
  const auto second = first->context();
  EXPECT_NE(second, lost);
  EXPECT_FALSE(second->lost);
  EXPECT_EQ(first->context(), second);
}

TEST(Runtime, WithoutALoaderEveryKindIsAnError) {
  const TempDir folder;
  SystemPaths paths = empty_machine(folder);
  paths.loader = "libze_no_loader.so.1";
  Runtime runtime(paths);
  for (const auto kind : {DeviceKind::kNpu, DeviceKind::kAuto, DeviceKind::kSoftware}) {
    expect_error(ErrorCode::kNotFound, "libze_no_loader.so.1", [&] { runtime.open(kind); });
  }
  EXPECT_EQ(missing(runtime.diagnose()),
            (std::vector<std::string>{"device node", "permission", "driver library", "loader",
                                      "device"}));
}

TEST(Runtime, ListsTheSoftwareNpuWithoutOpeningIt) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  const auto listed = runtime.list();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(driver_call_counts()["zeContextCreate"], 0u);
  EXPECT_TRUE(listed[0].is_software);
  EXPECT_EQ(listed[0].uuid, "80d1d11eb73811eab3de0242ac130004");
  const auto opened = runtime.open(DeviceKind::kSoftware);
  EXPECT_EQ(listed[0].name, opened->info.name);
  EXPECT_EQ(listed[0].pci_address, opened->info.pci_address);
  EXPECT_EQ(listed[0].compiler, opened->info.compiler);
  EXPECT_EQ(listed[0].extensions, opened->info.extensions);
  EXPECT_EQ(runtime.list().at(0).memory_bytes, opened->info.memory_bytes);
}

TEST(Runtime, ListsNothingWhereThereIsNothing) {
  const TempDir folder;
  ::setenv("NPUCORE_SOFTNPU", "/no/such/libze_softnpu.so", 1);
  Runtime runtime(empty_machine(folder));
  EXPECT_TRUE(runtime.list().empty());
}

TEST(Runtime, ListsNothingWithoutALoader) {
  const TempDir folder;
  SystemPaths paths = empty_machine(folder);
  paths.loader = "libze_no_loader.so.1";
  Runtime runtime(paths);
  EXPECT_TRUE(runtime.list().empty());
  EXPECT_TRUE(has(runtime.diagnose()[3].detail, "libze_no_loader.so.1"));
}

TEST(Runtime, OpensByAddressWithOneWarningForTheSoftwareNpu) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  collect_warnings();
  const auto opened = runtime.open(std::string("0000:00:0b.0"));
  EXPECT_TRUE(opened->info.is_software);
  EXPECT_EQ(runtime.open(opened->info.uuid), opened);
  const auto warnings = collect_warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(has(warnings[0], "it alone has the PCI address or UUID '0000:00:0b.0'; the CPU"));
  const auto unknown = [&] { runtime.open(std::string("0000:00:0c.0")); };
  expect_error(ErrorCode::kNotFound, "this process can open: " + opened->info.name, unknown);
  expect_error(ErrorCode::kNotFound, "no real NPU: device node: there is no", unknown);
}

/// Two drivers with a device each: each device has its own context.
TEST(Runtime, OpensEachOfSeveralDevices) {
  const TempDir folder;
  const std::string driver = internal::software_npu_library();
  const auto copy = folder.path() / "libze_another.so";
  std::filesystem::copy_file(driver, copy);
  ::setenv("ZE_ENABLE_ALT_DRIVERS", (driver + ',' + copy.string()).c_str(), 1);
  Runtime runtime(empty_machine(folder));
  const auto listed = runtime.list();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_NE(listed[0].driver_library, listed[1].driver_library);
  EXPECT_EQ(runtime.open(DeviceKind::kSoftware)->info.driver_library, listed[0].driver_library);
}

bool is_mapped(const std::filesystem::path& file) {
  return read_file("/proc/self/maps").find(' ' + file.string() + '\n') != std::string::npos;
}

TEST(Runtime, TheVariableNamesTheLoader) {
  const TempDir folder;
  const auto usual = ze::Loader::open("libze_loader.so.1")->library;
  const auto copy = folder.path() / "libanother_loader.so";
  std::filesystem::copy_file(std::filesystem::canonical(usual), copy);
  ::setenv("NPUCORE_ZE_LOADER", copy.c_str(), 1);
  Runtime runtime(empty_machine(folder));
  EXPECT_TRUE(runtime.open(DeviceKind::kSoftware)->info.is_software);
  EXPECT_TRUE(is_mapped(copy));
}

TEST(Runtime, ALoaderThatTheVariableNamesAndIsNotThereIsAnError) {
  const TempDir folder;
  ::setenv("NPUCORE_ZE_LOADER", "/no/such/libze_loader.so", 1);
  Runtime runtime(empty_machine(folder));
  expect_error(ErrorCode::kNotFound, "no Level Zero loader: /no/such/libze_loader.so",
               [&] { runtime.open(DeviceKind::kSoftware); });
}

TEST(Runtime, AnEmptyVariableNamesNoLoader) {
  const TempDir folder;
  ::setenv("NPUCORE_ZE_LOADER", "", 1);
  Runtime runtime(empty_machine(folder));
  EXPECT_TRUE(runtime.open(DeviceKind::kSoftware)->info.is_software);
}

TEST(Runtime, WithoutTheSoftwareNpusLibraryTheErrorNamesTheVariable) {
  const TempDir folder;
  ::setenv("NPUCORE_SOFTNPU", "/no/such/libze_softnpu.so", 1);
  Runtime runtime(empty_machine(folder));
  expect_error(ErrorCode::kNotFound, "/no/such/libze_softnpu.so",
               [&] { runtime.open(DeviceKind::kSoftware); });
  expect_error(ErrorCode::kNotFound, "NPUCORE_SOFTNPU", [&] { runtime.open(DeviceKind::kAuto); });
}

TEST(Runtime, AUsersOwnDriverListIsLeftAlone) {
  const TempDir folder;
  const std::string drivers = internal::software_npu_library();
  ::setenv("NPUCORE_SOFTNPU", "/not/used", 1);
  ::setenv("ZE_ENABLE_ALT_DRIVERS", drivers.c_str(), 1);
  Runtime runtime(empty_machine(folder));
  EXPECT_EQ(runtime.open(DeviceKind::kSoftware)->info.driver_library, drivers);
  EXPECT_EQ(::getenv("ZE_ENABLE_ALT_DRIVERS"), drivers);
}

// Other users of Level Zero, in this process and its children, find their own drivers.
TEST(Runtime, OpeningTheSoftwareNpuLeavesTheEnvironmentAsItWas) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  const auto device = runtime.open(DeviceKind::kSoftware);
  EXPECT_EQ(::getenv("ZE_ENABLE_ALT_DRIVERS"), nullptr);
  EXPECT_EQ(::getenv("ZES_ENABLE_SYSMAN"), nullptr);
  EXPECT_EQ(std::system("! env | grep -q '^ZES\\?_ENABLE'"), 0) << "a child sees it";
  EXPECT_GE(device->utilization(), 0);
}

TEST(Diagnosis, OfAnEmptyMachineFindsOnlyTheLoader) {
  const TempDir folder;
  Runtime runtime(empty_machine(folder));
  EXPECT_EQ(missing(runtime.diagnose()),
            (std::vector<std::string>{"device node", "permission", "driver library", "device"}));
}

TEST(Diagnosis, TakesNodesOfTheNpusDriverOnly) {
  const TempDir folder;
  add_node(folder, "accel0", "amdxdna");
  EXPECT_FALSE(internal::diagnose_parts(empty_machine(folder)).findings[0].ok);
  add_node(folder, "accel1", "intel_vpu");
  const auto diagnosis = internal::diagnose_parts(empty_machine(folder));
  EXPECT_TRUE(diagnosis.findings[0].ok);
  EXPECT_EQ(diagnosis.findings[0].detail,
            (folder.path() / "dev" / "accel1").string() + ", driver intel_vpu");
  EXPECT_TRUE(diagnosis.findings[1].ok) << diagnosis.findings[1].detail;
}

TEST(Diagnosis, TakesTheFirstDriverLibraryThatOpens) {
  const TempDir folder;
  SystemPaths paths = empty_machine(folder);
  paths.driver_libraries = {"libze_no_driver.so.1", "libm.so.6"};
  const auto diagnosis = internal::diagnose_parts(paths);
  EXPECT_TRUE(diagnosis.findings[2].ok);
  EXPECT_EQ(diagnosis.driver_library, "libm.so.6");
}

}  // namespace
}  // namespace npu::test
