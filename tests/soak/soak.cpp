// Pipelines and requests, one after another for as long as is asked: state changes, seeks, lost
// devices; or one pipeline that never ends, with every element in it. What the process holds at the
// end must be what it held after warming up.
//
// usage: soak SECONDS [pipelines|requests|chain]

#include <gst/gst.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <npucore/npucore.hpp>

#include "npucore/support.hpp"

#include "chain.hpp"
#include "pipeline.hpp"

namespace npu::test {
namespace {

using Clock = std::chrono::steady_clock;

/// Resources of the process, measured between rounds while nothing is at work.
struct Held {
  std::size_t heap_bytes = 0, mapped_bytes = 0, descriptors = 0, threads = 0, driver_objects = 0;
};

std::size_t entries_of(const char* folder) {
  const std::filesystem::directory_iterator entries(folder), end;
  return static_cast<std::size_t>(std::distance(entries, end));
}

std::size_t resident_anonymous_bytes() {
  constexpr std::size_t kKibibyte = 1024;
  const auto status = read_file("/proc/self/status");
  return std::stoull(status.substr(status.find("RssAnon:") + 8)) * kKibibyte;
}

Held held_now() {
  ::malloc_trim(0);
  const auto info = mallinfo2();
  return {info.uordblks + info.hblkhd, resident_anonymous_bytes(), entries_of("/proc/self/fd"),
          entries_of("/proc/self/task"), live_driver_objects()};
}

std::ostream& operator<<(std::ostream& stream, const Held& held) {
  return stream << "heap " << held.heap_bytes / 1024 << " KiB, anonymous memory "
                << held.mapped_bytes / 1024 << " KiB, descriptors " << held.descriptors
                << ", threads " << held.threads << ", driver objects " << held.driver_objects;
}

Held least(const Held& one, const Held& other) {
  return {std::min(one.heap_bytes, other.heap_bytes),
          std::min(one.mapped_bytes, other.mapped_bytes),
          std::min(one.descriptors, other.descriptors), std::min(one.threads, other.threads),
          std::min(one.driver_objects, other.driver_objects)};
}

/// Resources at the quietest moment, once it had warmed up and at the end. It takes no memory for
/// each round: that would be growth.
struct Course {
  void add(const Held& held, std::chrono::duration<double> since, std::chrono::seconds duration) {
    constexpr int kParts = 5;
    const auto part = static_cast<int>(since * kParts / duration);
    ++rounds;
    if (part == 1) {
      before = before ? least(*before, held) : held;
    } else if (part >= kParts - 1) {
      after = after ? least(*after, held) : held;
    }
  }

  std::optional<Held> before, after;
  std::size_t rounds = 0;
};

bool has_grown(const Held& before, const Held& after, const std::string& what) {
  // The heap's caches, of which each thread has its own, and its holes; far less than an hour of
  // any leak, of 30 pipelines a second. In the chain npuoverlay keeps up to 8 MiB of letters, and
  // some frames are on their way: 15 bytes a frame of an hour.
  const bool is_chain = what == "chain";
  const std::size_t heap_slack = is_chain ? 10 << 20 : 1 << 20;
  const std::size_t mapped_slack = is_chain ? 16 << 20 : 8 << 20;
  constexpr std::size_t kSpareThreads = 4;  // that GLib keeps for the next pipeline
  return after.heap_bytes > before.heap_bytes + heap_slack ||
         after.mapped_bytes > before.mapped_bytes + mapped_slack ||
         after.descriptors > before.descriptors || after.threads > before.threads + kSpareThreads ||
         after.driver_objects > before.driver_objects;
}

/// Loses the device once, from the round's n-th wait on, as after a hang.
std::string loss(std::mt19937& random) {
  constexpr unsigned kWaits = 40;
  const auto at = std::to_string(1 + random() % kWaits);
  return random() % 2 == 0 ? "zeFenceHostSynchronize:DEVICE_LOST@" + at
                           : "zeCommandQueueExecuteCommandLists:POISON@" + at;
}

void run_pipeline(const std::filesystem::path& model, std::mt19937& random) {
  Pipeline pipeline(
      "videotestsrc num-buffers=60 ! video/x-raw,format=RGB,width=4,height=4,framerate=30/1 ! "
      "npuinfer device=software nireq=3 model=" +
      model.string() + " ! fakesink");
  pipeline.set_state(GST_STATE_PAUSED);
  set_fault(random() % 3 == 0 ? loss(random) : "");
  for (auto changes = random() % 4; changes > 0; --changes) {
    switch (random() % 3) {
      case 0:
        pipeline.set_state(GST_STATE_PAUSED);
        break;
      case 1:
        pipeline.seek_to_start();
        break;
      default:
        pipeline.set_state(GST_STATE_PLAYING);
        break;
    }
  }
  pipeline.set_state(GST_STATE_PLAYING);
  pipeline.wait_for_end();
  set_fault("");
}

/// Submits and waits; a lost inference is one error, and the next ones work.
void run_requests(const std::filesystem::path& model, std::mt19937& random) {
  constexpr int kRounds = 40;
  const auto compiled =
      CompiledModel::compile(Device::open(DeviceKind::kSoftware), Model::read(model));
  std::vector<Request> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(compiled.create_request());
  set_fault(random() % 3 == 0 ? loss(random) : "");
  for (int round = 0; round < kRounds; ++round) {
    for (auto& request : requests) {
      try {
        request.submit();
        request.wait();
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kDeviceLost) throw;
      }
    }
  }
  set_fault("");
}

Course run(std::chrono::seconds duration, const std::string& what,
           const std::filesystem::path& model) {
  std::mt19937 random(1);
  Course course;
  const auto start = Clock::now();
  auto told = start;
  std::optional<Chain> chain;
  if (what == "chain") {
    chain.emplace(model.parent_path());
  }
  while (Clock::now() - start < duration) {
    if (chain) {
      chain->play();
    } else if (what != "requests") {
      run_pipeline(model, random);
    }
    if (what == "requests" || what.empty()) {
      run_requests(model, random);
    }
    const Held held = held_now();
    course.add(held, Clock::now() - start, duration);
    if (Clock::now() - told < std::chrono::minutes(1)) continue;
    told = Clock::now();
    std::cout << "round " << course.rounds << ": " << held << std::endl;
  }
  return course;
}

int soak(std::chrono::seconds duration, const std::string& what) {
  constexpr std::size_t kLeastRounds = 20;
  const TempDir folder;
  const auto model = write_affine_model(folder.path());
  const Course course = run(duration, what, model);
  if (course.rounds < kLeastRounds || !course.before || !course.after) {
    std::cout << "soak: " << course.rounds << " rounds tell nothing; give it longer\n";
    return 1;
  }
  const bool grown = has_grown(*course.before, *course.after, what);
  std::cout << "first: " << *course.before << "\nlast:  " << *course.after
            << "\nsoak: " << course.rounds << " rounds, "
            << (grown ? "and it HAS GROWN" : "nothing has grown") << std::endl;
  return grown ? 1 : 0;
}

}  // namespace
}  // namespace npu::test

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const auto seconds = argc >= 2 ? std::atol(argv[1]) : 0;
  if (seconds <= 0) {
    std::cerr << "usage: soak SECONDS [pipelines|requests|chain]\n";
    return 2;
  }
  try {
    return npu::test::soak(std::chrono::seconds(seconds), argc == 3 ? argv[2] : "");
  } catch (const std::exception& error) {
    std::cout << "soak: " << error.what() << std::endl;
    return 1;
  }
}
