// npu-top's parts, on pictures of /sys and /proc and on bytes that somebody may have forged.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "support/expect.hpp"
#include "support/temp_dir.hpp"

#include "files.hpp"
#include "software_page.hpp"
#include "usage_report.hpp"

namespace {

namespace fs = std::filesystem;
using npu::test::TempDir;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

void link(const fs::path& path, const std::string& target) {
  fs::create_directories(path.parent_path());
  fs::create_symlink(target, path);
}

/// A machine with an NPU.
class Machine {
 public:
  Machine() {
    link(accel_ / "device", "../../../devices/pci0000:00/0000:00:0b.0");
    link(device_ / "driver", "../../../bus/pci/drivers/intel_vpu");
    set("npu_busy_time_us", "1000000\n");
    set("npu_memory_utilization", "4194304\n");
    set("npu_current_frequency_mhz", "1400\n");
    set("npu_max_frequency_mhz", "1850\n");
  }
  void set(const std::string& file, const std::string& text) { write(device_ / file, text); }
  void remove(const std::string& file) { fs::remove(device_ / file); }
  void add_process(int pid, const std::string& program, const std::string& fdinfo) {
    const fs::path process = root() / "proc" / std::to_string(pid);
    write(process / "comm", program + "\n");
    link(process / "fd/0", "/dev/null");
    link(process / "fd/5", "/dev/accel/accel0");
    write(process / "fdinfo/5", fdinfo);
  }
  fs::path root() const { return dir_.path(); }

 private:
  TempDir dir_;
  const fs::path accel_ = root() / "sys/class/accel/accel0";
  const fs::path device_ = root() / "sys/devices/pci0000:00/0000:00:0b.0";
};

std::string fdinfo_of(int client, const std::string& more) {
  return "pos:\t0\ndrm-driver:\tintel_vpu\ndrm-client-id:\t" + std::to_string(client) +
         "\ndrm-pdev:\t0000:00:0b.0\n" + more;
}

// ---- Files

TEST(Files, OnlyDigitsAreANumber) {
  const TempDir dir;
  for (const char* text : {"", "\n", "x", "-1", "1 2", "1x", "99999999999999999999999", "0x10"}) {
    write(dir.path() / "number", text);
    EXPECT_EQ(read_number(dir.path() / "number"), std::nullopt) << text;
  }
  write(dir.path() / "number", " 42\n");
  EXPECT_EQ(read_number(dir.path() / "number"), 42u);
  EXPECT_EQ(read_number(dir.path() / "none"), std::nullopt);
  EXPECT_EQ(read_number(dir.path()), std::nullopt) << "a folder";
}

TEST(Files, AreReadUpToALimit) {
  const TempDir dir;
  write(dir.path() / "long", std::string(100, 'x'));
  EXPECT_EQ(read_text(dir.path() / "long", 10), std::string(10, 'x'));
}

// ---- Devices

TEST(Devices, TellWhatTheKernelTells) {
  const Machine machine;
  const auto devices = find_devices(machine.root());
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].name, "accel0");
  EXPECT_EQ(devices[0].pci_address, "0000:00:0b.0");
  EXPECT_EQ(devices[0].busy_us, 1'000'000u);
  EXPECT_EQ(devices[0].memory_bytes, 4'194'304u);
  EXPECT_EQ(devices[0].frequency_mhz, 1400u);
  EXPECT_EQ(devices[0].max_frequency_mhz, 1850u);
}

TEST(Devices, OfOlderKernelsTellLess) {
  Machine machine;
  machine.remove("npu_memory_utilization");
  machine.set("npu_current_frequency_mhz", "unknown\n");
  const auto devices = find_devices(machine.root());
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].memory_bytes, std::nullopt);
  EXPECT_EQ(devices[0].frequency_mhz, std::nullopt);
  EXPECT_EQ(devices[0].busy_us, 1'000'000u);
}

TEST(Devices, OfOtherDriversAreNoNpus) {
  const TempDir dir;
  link(dir.path() / "sys/class/accel/accel0/device/driver", "../drivers/habanalabs");
  EXPECT_TRUE(find_devices(dir.path()).empty());
  EXPECT_TRUE(find_devices(dir.path() / "none").empty());
}

// ---- Processes

TEST(Fdinfo, TellsTheMemoryOfAClient) {
  const auto client = parse_fdinfo(fdinfo_of(7,
                                             "drm-total-memory:\t2 MiB\n"
                                             "drm-shared-memory:\t1 MiB\n"
                                             "drm-resident-memory:\t2 MiB\n"));
  ASSERT_TRUE(client);
  EXPECT_EQ(client->id, "7");
  EXPECT_EQ(client->memory_bytes, 2u << 20);
}

TEST(Fdinfo, OfOlderKernelsTellsNoMemory) {
  const auto client = parse_fdinfo(fdinfo_of(7, ""));
  ASSERT_TRUE(client);
  EXPECT_EQ(client->memory_bytes, std::nullopt);
}

TEST(Fdinfo, OfOtherDriversIsNone) {
  EXPECT_FALSE(parse_fdinfo("drm-driver:\ti915\ndrm-total-memory:\t2 MiB\n"));
  EXPECT_FALSE(parse_fdinfo(""));
  EXPECT_FALSE(parse_fdinfo("drm-driver"));
}

TEST(Fdinfo, NumbersThatAreNoneAreLeftOut) {
  for (const char* size : {"2 furlongs", "x KiB", "-1", "18446744073709551615 KiB", ""}) {
    const auto client = parse_fdinfo(fdinfo_of(7, "drm-total-memory:\t" + std::string(size)));
    ASSERT_TRUE(client) << size;
    EXPECT_EQ(client->memory_bytes, std::nullopt) << size;
  }
  const auto most = parse_fdinfo(
      fdinfo_of(7, "drm-total-memory:\t18446744073709551615\ndrm-total-other:\t5 KiB\n"));
  EXPECT_EQ(most->memory_bytes, kMost) << "no sum that wraps around";
}

TEST(Processes, AreThoseThatHaveTheDeviceOpen) {
  Machine machine;
  machine.add_process(120, "camera", fdinfo_of(1, "drm-total-memory:\t512 KiB\n"));
  machine.add_process(7, "old kernel", fdinfo_of(2, ""));
  machine.add_process(8, "another", "drm-driver:\ti915\n");
  write(machine.root() / "proc/meminfo", "MemTotal: 1 kB\n");
  write(machine.root() / "proc/9/comm", "nothing\n");
  const auto found = find_processes(machine.root(), 0);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].pid, 7u);
  EXPECT_EQ(found[0].memory_bytes, std::nullopt);
  EXPECT_EQ(found[1].pid, 120u);
  EXPECT_EQ(found[1].program, "camera");
  EXPECT_EQ(found[1].device, "accel0");
  EXPECT_EQ(found[1].memory_bytes, 512u << 10);
}

TEST(Processes, CountADuplicatedDescriptorOnce) {
  Machine machine;
  machine.add_process(120, "camera", fdinfo_of(1, "drm-total-memory:\t512 KiB\n"));
  const fs::path process = machine.root() / "proc/120";
  for (const char* name : {"6", "7"}) link(process / "fd" / name, "/dev/accel/accel0");
  write(process / "fdinfo/6", fdinfo_of(1, "drm-total-memory:\t512 KiB\n"));
  write(process / "fdinfo/7", fdinfo_of(2, "drm-total-memory:\t1 MiB\n"));
  const auto found = find_processes(machine.root(), 0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].memory_bytes, 1536u << 10);
}

TEST(Processes, HaveNamesThatDriveNoTerminal) {
  Machine machine;
  machine.add_process(120, "a\x1b[2J\nb\t" + std::string(500, 'c'), fdinfo_of(1, ""));
  const auto found = find_processes(machine.root(), 0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].program.starts_with("a?[2J?b?c")) << found[0].program;
  EXPECT_LE(found[0].program.size(), 64u);
}

// ---- The software NPU's page

std::string page_of(std::array<std::uint64_t, 5> words, const std::string& magic = "SOFTNPU\1") {
  std::string bytes = magic + std::string(sizeof words, '\0');
  std::memcpy(bytes.data() + magic.size(), words.data(), sizeof words);
  return bytes;
}

TEST(SoftwarePages, AreReadAsWritten) {
  const auto page = parse_software_page(page_of({42, 1000, 0, 7, 4096}), 5000);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->process, 42u);
  EXPECT_EQ(page->busy_ns, 1000u);
  EXPECT_EQ(page->inferences, 7u);
  EXPECT_EQ(page->memory_bytes, 4096u);
}

TEST(SoftwarePages, CountTheRunningCommand) {
  EXPECT_EQ(parse_software_page(page_of({1, 1000, 4400, 0, 0}), 5000)->busy_ns, 1600u);
  EXPECT_EQ(parse_software_page(page_of({1, 1000, 9000, 0, 0}), 5000)->busy_ns, 1000u)
      << "it begins in the future";
}

TEST(SoftwarePages, OfOtherBytesAreNone) {
  const std::string good = page_of({1, 2, 3, 4, 5});
  EXPECT_FALSE(parse_software_page("", 0));
  EXPECT_FALSE(parse_software_page(std::string_view(good).substr(0, good.size() - 1), 0));
  EXPECT_FALSE(parse_software_page(page_of({1, 2, 3, 4, 5}, "SOFTNPU\2"), 0));
}

TEST(SoftwarePages, OfWhatIsNoRegularFileAreNone) {
  const TempDir dir;
  const fs::path fifo = dir.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(read_software_page(fifo, 0)) << "and nobody waits for a writer";
  EXPECT_FALSE(read_software_page(dir.path(), 0));
  EXPECT_FALSE(read_software_page(dir.path() / "none", 0));
  write(dir.path() / "short", "SOFTNPU\1");
  EXPECT_FALSE(read_software_page(dir.path() / "short", 0));
}

// ---- Usage

ProcessSample software_process(std::uint64_t pid, std::uint64_t busy_ns, std::uint64_t inferences) {
  return {.pid = pid,
          .program = "player",
          .device = kSoftwareDevice,
          .memory_bytes = 1024,
          .busy_ns = busy_ns,
          .inferences = inferences};
}

constexpr std::uint64_t kSecond = 1'000'000'000;

Sample at(std::uint64_t seconds) {
  return {.at_ns = seconds * kSecond};
}

TEST(Usage, IsTheShareOfTheTimeInBetween) {
  Sample before = at(1), now = at(3);
  before.devices = {{.name = "accel0", .busy_us = 500'000}};
  now.devices = {{.name = "accel0", .busy_us = 1'000'000, .memory_bytes = 9}};
  before.processes = {software_process(5, kSecond, 10)};
  now.processes = {software_process(5, 2 * kSecond, 40)};
  const Usage usage = usage_between(before, now);
  EXPECT_DOUBLE_EQ(usage.seconds, 2);
  ASSERT_EQ(usage.devices.size(), 2u);
  EXPECT_DOUBLE_EQ(usage.devices[0].utilization.value(), 0.25);
  EXPECT_EQ(usage.devices[0].utilization_from, "sysfs");
  EXPECT_EQ(usage.devices[0].memory_bytes, 9u);
  EXPECT_EQ(usage.devices[1].name, "software");
  EXPECT_DOUBLE_EQ(usage.devices[1].utilization.value(), 0.5);
  ASSERT_EQ(usage.processes.size(), 1u);
  EXPECT_DOUBLE_EQ(usage.processes[0].utilization.value(), 0.5);
  EXPECT_DOUBLE_EQ(usage.processes[0].inferences_per_second.value(), 15);
}

TEST(Usage, IsSysmansWhereItTells) {
  Sample before = at(1), now = at(2);
  before.devices = now.devices = {{.name = "accel0", .pci_address = "0000:00:0b.0", .busy_us = 5}};
  now.sysman["0000:00:0b.0"] = 0.75;
  const Usage usage = usage_between(before, now);
  EXPECT_DOUBLE_EQ(usage.devices.at(0).utilization.value(), 0.75);
  EXPECT_EQ(usage.devices.at(0).utilization_from, "sysman");
}

TEST(Usage, OfForgedNumbersStaysAShare) {
  Sample before = at(1), now = at(2);
  before.processes = {software_process(5, 0, kMost), software_process(6, kMost, 0)};
  now.processes = {software_process(5, kMost, 0), software_process(6, 0, kMost)};
  now.processes[0].memory_bytes = kMost;
  const Usage usage = usage_between(before, now);
  EXPECT_DOUBLE_EQ(usage.processes.at(0).utilization.value(), 1);
  EXPECT_DOUBLE_EQ(usage.processes.at(0).inferences_per_second.value(), 0);
  EXPECT_DOUBLE_EQ(usage.processes.at(1).utilization.value(), 0);
  EXPECT_EQ(usage.devices.at(0).memory_bytes, kMost) << "no sum that wraps around";
  EXPECT_FALSE(to_text(usage, true).empty());
}

TEST(Usage, OfAProcessThatHasJustComeIsNotKnown) {
  Sample now = at(2);
  now.processes = {software_process(5, kSecond, 10)};
  now.devices = {{.name = "accel0", .busy_us = 1}};
  const Usage usage = usage_between(at(1), now);
  EXPECT_EQ(usage.processes.at(0).utilization, std::nullopt);
  EXPECT_EQ(usage.devices.at(0).utilization, std::nullopt);
  EXPECT_EQ(usage.devices.at(0).utilization_from, "");
}

TEST(Usage, OfOneKindLeavesTheOtherOut) {
  Sample now = at(2);
  now.processes = {software_process(5, kSecond, 10), {.pid = 6, .device = "accel0"}};
  now.devices = {{.name = "accel0"}};
  Usage npu = usage_between(at(1), now), software = npu;
  keep_only(npu, Shown::kNpu);
  keep_only(software, Shown::kSoftware);
  EXPECT_EQ(npu.devices.at(0).name, "accel0");
  EXPECT_EQ(npu.processes.at(0).pid, 6u);
  EXPECT_EQ(npu.devices.size() + npu.processes.size(), 2u);
  EXPECT_EQ(software.devices.at(0).name, "software");
  EXPECT_EQ(software.processes.at(0).pid, 5u);
}

// ---- Reports

TEST(Report, IsTwoTables) {
  Usage usage;
  usage.devices = {{.name = "accel0",
                    .pci_address = "0000:00:0b.0",
                    .utilization = 0.364,
                    .memory_bytes = 4 << 20,
                    .frequency_mhz = 1400,
                    .max_frequency_mhz = 1850,
                    .processes = 1}};
  usage.processes = {{.pid = 120,
                      .program = "camera",
                      .device = "accel0",
                      .utilization = std::nullopt,
                      .inferences_per_second = std::nullopt,
                      .memory_bytes = 1536}};
  EXPECT_EQ(to_text(usage, true),
            "NPU             busy       memory         MHz  processes  where\n"
            "accel0          36 %      4.0 MiB   1400/1850          1  0000:00:0b.0\n"
            "\n"
            "    PID  NPU         busy      inf/s       memory  program\n"
            "    120  accel0         -          -      1.5 KiB  camera\n");
}

TEST(Report, SaysWhatIsNotSeen) {
  EXPECT_EQ(to_text({}, false),
            "no NPU was found, and no process uses the software NPU\n"
            "\nOther users' processes are seen by root only.\n");
  EXPECT_EQ(to_json({}, false)["sees_all_users"], false);
}

TEST(Report, OfJsonHasNullForWhatNobodyTells) {
  Usage usage;
  usage.devices = {{.name = "accel0"}};
  const auto json = to_json(usage, true);
  EXPECT_TRUE(json["devices"][0]["utilization"].is_null());
  EXPECT_TRUE(json["devices"][0]["memory_bytes"].is_null());
  EXPECT_EQ(json["devices"][0]["kind"], "npu");
  EXPECT_TRUE(json["processes"].empty());
}

// A process may forge its counts.
TEST(Report, OfAnyRateIsANumber) {
  Usage usage;
  usage.processes = {{.pid = 1,
                      .program = "liar",
                      .device = "software",
                      .utilization = 1,
                      .inferences_per_second = 1e22,
                      .memory_bytes = std::nullopt}};
  const std::string text = to_text(usage, true);
  EXPECT_FALSE(has(text, ".-"));
  EXPECT_FALSE(has(text, " -9"));
}

TEST(Screen, HasFewerLinesThanRows) {
  EXPECT_EQ(cut_to_screen("a\nb\nc\n", 3, 80), "a\nb\n");
  EXPECT_EQ(cut_to_screen("a\nb\n", 3, 80), "a\nb\n");
  EXPECT_EQ(cut_to_screen("", 3, 80), "");
}

// A longer line would take another row, and the first lines would be gone.
TEST(Screen, HasNoLineThatTakesTwoRows) {
  EXPECT_EQ(cut_to_screen("abcdef\n\nabc\nabcd\n", 24, 3), "abc\n\nabc\nabc\n");
  EXPECT_EQ(cut_to_screen("abcdef\n", 24, 0), "abcdef\n") << "of an unknown width";
}

TEST(Screen, CutsNoCharacterInTwo) {
  EXPECT_EQ(cut_to_screen("\u00e4\u20ac\u00fcx\n", 24, 3), "\u00e4\u20ac\u00fc\n");
}

}  // namespace
