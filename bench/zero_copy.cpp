// CPU cost of a 1080p NV12 frame on its way into the NPU: read in place, or converted and copied.
// Made for SOFTNPU_EXEC=null, where the device computes nothing, and for a preloaded counter of
// copies.
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "zero_copy/copy_counter.hpp"

#include "frame_sides.hpp"
#include "plugin_client.hpp"
#include "turns.hpp"

namespace {

struct Options {
  std::filesystem::path model;
  bench::TurnPlan plan;
  bool is_spread = false;
};

Options parse(int argc, char** argv) {
  Options options;
  options.plan = {
      .warm_up_calls = 20, .rounds = 21, .calls = 20, .clock = CLOCK_PROCESS_CPUTIME_ID};
  CLI::App app("CPU time and bytes copied for a frame", "zero_copy");
  app.add_option("model", options.model, "IR (.xml) with one image input")->required();
  app.add_option("--warm-up", options.plan.warm_up_calls, "frames of every side before measuring");
  app.add_option("--rounds", options.plan.rounds, "measured rounds");
  app.add_option("--calls", options.plan.calls, "frames of every side in a round");
  app.add_flag(
      "--spread", options.is_spread,
      "the thread that pushes on one CPU, all others on another: each hand-over of a frame "
      "wakes a CPU");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

struct FrameSide {
  bench::Side side;
  bool reads_in_place;
};

template <class Client>
FrameSide side_of(const std::string& name, std::shared_ptr<Client> client, bool reads_in_place) {
  return {{name, [client = std::move(client)] { client->run(); }}, reads_in_place};
}

std::vector<FrameSide> make_sides(const Options& options, const std::string& no_plugin) {
  using bench::ElementSide;
  using bench::FrameMemory;
  const std::string npu =
      "npuinfer device=software resize-mode=stretch model=\"" + options.model.string() + "\"";
  // Without the drop the converter would write straight into the offered memory.
  const std::string converted =
      "videoconvertscale ! video/x-raw,format=RGB,width=256,height=256 ! "
      "identity drop-allocation=true ! " +
      npu;
  std::vector<FrameSide> sides = {
      side_of("npuinfer, imported", std::make_shared<ElementSide>(npu, FrameMemory::kDmabuf), true),
      side_of("npuinfer, offered", std::make_shared<ElementSide>(npu, FrameMemory::kOffered), true),
      side_of("npuinfer, copied", std::make_shared<ElementSide>(npu, FrameMemory::kOrdinary),
              false),
      side_of("videoconvertscale, copied",
              std::make_shared<ElementSide>(converted, FrameMemory::kOrdinary), false),
      // The cost of a frame without an inference: in the thread that it comes in, and with a second
      // thread that takes it on, like npuinfer's.
      side_of("identity", std::make_shared<ElementSide>("identity", FrameMemory::kDmabuf), true),
      side_of("queue", std::make_shared<ElementSide>("queue", FrameMemory::kDmabuf), true)};
  if (!no_plugin.empty()) return sides;
  sides.push_back(side_of("OpenVINO set_tensor, NV12 planes",
                          std::make_shared<bench::PluginFrames>(options.model, false), false));
  sides.push_back(side_of("videoconvertscale, OpenVINO set_tensor",
                          std::make_shared<bench::PluginFrames>(options.model, true), false));
  return sides;
}

// Copies inside the software NPU's computing are not on a frame's way.
bool is_device(const npu::test::CopyCount& count) {
  const std::string_view who = count.asked_by;
  return who.starts_with("libopenvino_intel_cpu_plugin") || who.starts_with("libze_softnpu");
}

// Bytes that this process copies for a frame, in pieces of 4 KiB or more. Throws if a frame that
// should be read in place was copied.
double copied_bytes(const FrameSide& one) {
  constexpr int kCounted = 10;
  const npu::test::CopyCounter counter;
  for (int i = 0; i < kCounted; ++i) one.side.call();
  std::vector<npu::test::CopyCount> counts = counter.all();
  std::erase_if(counts, is_device);
  const auto bytes = static_cast<double>(npu::test::total_bytes(counts)) / kCounted;
  if (one.reads_in_place && bytes > 0) {
    throw std::runtime_error(one.side.name + ": copies were made: " + to_string(counts));
  }
  return bytes;
}

void pin(int thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(thread, sizeof set, &set) != 0) {
    throw std::runtime_error("--spread needs the CPUs 0 and 1");
  }
}

// Pins threads: otherwise the scheduler may or may not keep threads that wake each other on one
// CPU.
void spread(const std::vector<FrameSide>& all) {
  for (const FrameSide& one : all) one.side.call();  // starts its threads
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const int thread = std::stoi(entry.path().filename().string());
    pin(thread, thread == getpid() ? 0 : 1);
  }
}

// Sleeps of the process's threads per frame, each until another one or the device wakes it.
double sleeps(const FrameSide& one) {
  constexpr int kCounted = 200;
  const auto so_far = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
  };
  const auto before = so_far();
  for (int i = 0; i < kCounted; ++i) one.side.call();
  return static_cast<double>(so_far() - before) / kCounted;
}

nlohmann::ordered_json measure(const std::vector<FrameSide>& all, const Options& options) {
  std::vector<bench::Side> sides;
  for (const FrameSide& one : all) sides.push_back(one.side);
  nlohmann::ordered_json line = {
      {"case", "zero_copy"},           {"unit", "CPU us per 1080p NV12 frame"},
      {"spread", options.is_spread},   {"warm_up", options.plan.warm_up_calls},
      {"rounds", options.plan.rounds}, {"calls", options.plan.calls}};
  for (const auto& result : bench::run_turns(sides, options.plan)) {
    line["sides"].push_back(bench::to_json(result));
  }
  for (std::size_t i = 0; i < all.size(); ++i) line["sides"][i]["sleeps"] = sleeps(all[i]);
  if (!npu::test::CopyCounter::is_loaded()) return line;
  for (std::size_t i = 0; i < all.size(); ++i) {
    line["sides"][i]["copied_bytes"] = copied_bytes(all[i]);
  }
  return line;
}

int run(const Options& options) {
  const std::string no_plugin = bench::why_no_plugin();
  const std::vector<FrameSide> sides = make_sides(options, no_plugin);
  if (options.is_spread) {
    spread(sides);
  }
  nlohmann::ordered_json line = measure(sides, options);
  if (!no_plugin.empty()) {
    line["skipped"] = {{"OpenVINO NPU plugin", no_plugin}};
  }
  std::cout << line << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  gst_init(nullptr, nullptr);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "zero_copy: " << error.what() << '\n';
    return 1;
  }
}
