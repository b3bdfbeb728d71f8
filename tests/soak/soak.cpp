// Pipelines and requests, one after another for as long as is asked: state changes, seeks, lost
// devices. What the process holds at the end must be what it held after warming up.
//
// usage: soak SECONDS [pipelines|requests]

#include <gst/gst.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <npucore/npucore.hpp>

#include "npucore/support.hpp"

namespace npu::test {
namespace {

using Clock = std::chrono::steady_clock;

/// What the process has; measured between rounds, with nothing at work.
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

/// The least of each over some rounds: what is there even at the quietest moment.
Held least(const std::vector<Held>& rounds, std::size_t begin, std::size_t end) {
  Held low = rounds.at(begin);
  for (std::size_t i = begin; i < end; ++i) {
    const auto& held = rounds[i];
    low.heap_bytes = std::min(low.heap_bytes, held.heap_bytes);
    low.mapped_bytes = std::min(low.mapped_bytes, held.mapped_bytes);
    low.descriptors = std::min(low.descriptors, held.descriptors);
    low.threads = std::min(low.threads, held.threads);
    low.driver_objects = std::min(low.driver_objects, held.driver_objects);
  }
  return low;
}

bool has_grown(const Held& before, const Held& after) {
  // The heap's caches and its holes; far less than an hour of any leak.
  constexpr std::size_t kHeapSlack = 256 << 10, kMappedSlack = 8 << 20;
  return after.heap_bytes > before.heap_bytes + kHeapSlack ||
         after.mapped_bytes > before.mapped_bytes + kMappedSlack ||
         after.descriptors > before.descriptors || after.threads > before.threads ||
         after.driver_objects > before.driver_objects;
}

/// From the round's n-th wait on: once, as after a hang.
std::string loss(std::mt19937& random) {
  constexpr unsigned kWaits = 40;
  const auto at = std::to_string(1 + random() % kWaits);
  return random() % 2 == 0 ? "zeFenceHostSynchronize:DEVICE_LOST@" + at
                           : "zeCommandQueueExecuteCommandLists:POISON@" + at;
}

class Pipeline {
 public:
  explicit Pipeline(const std::string& line) : pipeline_(gst_parse_launch(line.c_str(), nullptr)) {
    if (pipeline_ == nullptr) throw std::runtime_error("no pipeline: " + line);
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(pipeline_);
  }

  void set_state(GstState state) {
    constexpr GstClockTime kPatience = 60 * GST_SECOND;
    if (gst_element_set_state(pipeline_, state) == GST_STATE_CHANGE_FAILURE ||
        gst_element_get_state(pipeline_, nullptr, nullptr, kPatience) != GST_STATE_CHANGE_SUCCESS) {
      throw std::runtime_error(std::string("the pipeline does not come to ") +
                               gst_element_state_get_name(state));
    }
  }
  void seek_to_start() {
    gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0);
  }
  void wait_for_end() {
    GstBus* bus = gst_element_get_bus(pipeline_);
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    const bool ended = message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (message != nullptr) {
      gst_message_unref(message);
    }
    gst_object_unref(bus);
    if (!ended) throw std::runtime_error("the stream did not come to its end");
  }

 private:
  GstElement* pipeline_;
};

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

std::vector<Held> run(std::chrono::seconds duration, const std::string& what,
                      const std::filesystem::path& model) {
  std::mt19937 random(1);
  std::vector<Held> rounds;
  const auto start = Clock::now();
  auto told = start;
  while (Clock::now() - start < duration) {
    if (what != "requests") {
      run_pipeline(model, random);
    }
    if (what != "pipelines") {
      run_requests(model, random);
    }
    rounds.push_back(held_now());
    if (Clock::now() - told < std::chrono::minutes(1)) continue;
    told = Clock::now();
    std::cout << "round " << rounds.size() << ": " << rounds.back() << std::endl;
  }
  return rounds;
}

int soak(std::chrono::seconds duration, const std::string& what) {
  constexpr std::size_t kLeastRounds = 20, kShare = 5;
  const TempDir folder;
  const auto model = write_affine_model(folder.path());
  const auto rounds = run(duration, what, model);
  if (rounds.size() < kLeastRounds) {
    std::cout << "soak: " << rounds.size() << " rounds tell nothing; give it longer\n";
    return 1;
  }
  const auto part = rounds.size() / kShare;
  const auto before = least(rounds, part, 2 * part);
  const auto after = least(rounds, rounds.size() - part, rounds.size());
  const bool grown = has_grown(before, after);
  std::cout << "first: " << before << "\nlast:  " << after << "\nsoak: " << rounds.size()
            << " rounds, " << (grown ? "and it HAS GROWN" : "nothing has grown") << std::endl;
  return grown ? 1 : 0;
}

}  // namespace
}  // namespace npu::test

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const auto seconds = argc >= 2 ? std::atol(argv[1]) : 0;
  if (seconds <= 0) {
    std::cerr << "usage: soak SECONDS [pipelines|requests]\n";
    return 2;
  }
  try {
    return npu::test::soak(std::chrono::seconds(seconds), argc == 3 ? argv[2] : "");
  } catch (const std::exception& error) {
    std::cout << "soak: " << error.what() << std::endl;
    return 1;
  }
}
