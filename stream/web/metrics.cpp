#include "metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace npustream::web {
namespace {

using Labels = std::vector<std::pair<const char*, std::string>>;

std::string number(double value) {
  std::array<char, 32> text = {};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

class Family {
 public:
  Family(std::string& text, std::string name, const char* type, const char* unit, const char* help)
      : text_(text), name_(std::move(name)) {
    text_ += "# TYPE " + name_ + " " + type + "\n";
    if (*unit) {
      text_ += "# UNIT " + name_ + " " + unit + "\n";
    }
    text_ += "# HELP " + name_ + " " + help + "\n";
  }

  void add(const char* suffix, const Labels& labels, const std::string& value) {
    text_ += name_ + suffix + "{";
    const char* comma = "";
    for (const auto& [key, label] : labels) {
      text_ += comma + std::string(key) + "=\"" + escaped(label) + "\"";
      comma = ",";
    }
    text_ += "} " + value + "\n";
  }

 private:
  std::string& text_;
  std::string name_;
};

void add_frames(std::string& text, const std::vector<StreamSnapshot>& streams) {
  Family frames(text, "npu_frames", "counter", "", "Frames by what became of them.");
  for (const StreamSnapshot& stream : streams) {
    const auto add = [&](const char* result, std::uint64_t count) {
      frames.add("_total", {{"stream", stream.id}, {"model", stream.model}, {"result", result}},
                 std::to_string(count));
    };
    add("inferred", stream.frames_inferred);
    add("skipped", stream.frames_skipped);
    add("lost", stream.frames_lost);
  }
  Family copied(text, "npu_frames_copied", "counter", "",
                "Frames that were copied on the CPU, by reason.");
  for (const StreamSnapshot& stream : streams) {
    for (const CopyCount& copy : stream.copies) {
      copied.add("_total", {{"stream", stream.id}, {"reason", copy.reason}},
                 std::to_string(copy.frames));
    }
  }
}

/// As OpenMetrics writes a bound: 1 is "1.0".
std::string bound_text(double bound) {
  const std::string text = number(bound);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

void add_histogram(Family& family, const StreamSnapshot& stream, const TimeCounts& times) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < times.counts.size(); ++i) {
    count += times.counts[i];
    const std::string bound =
        i < times.bounds.size() ? bound_text(times.bounds[i]) : std::string("+Inf");
    family.add("_bucket", {{"stream", stream.id}, {"model", stream.model}, {"le", bound}},
               std::to_string(count));
  }
  if (times.counts.empty()) return;
  const Labels labels = {{"stream", stream.id}, {"model", stream.model}};
  family.add("_count", labels, std::to_string(count));
  family.add("_sum", labels, number(times.sum));
}

void add_times(std::string& text, const std::vector<StreamSnapshot>& streams) {
  Family inference(text, "npu_inference_seconds", "histogram", "seconds",
                   "From a frame's arrival to its answer.");
  for (const auto& stream : streams) add_histogram(inference, stream, stream.latency);
  Family queue(text, "npu_queue_seconds", "histogram", "seconds",
               "The wait for a turn and for earlier inferences, of each inference.");
  for (const auto& stream : streams) add_histogram(queue, stream, stream.queueing);
  Family compile(text, "npu_compile_seconds", "gauge", "seconds",
                 "Time that compiling or loading the model took.");
  std::map<std::string, double> compiled;  // by model
  for (const auto& stream : streams) {
    double& longest = compiled[stream.model];
    longest = std::max(longest, stream.compile_seconds);
  }
  for (const auto& [model, seconds] : compiled) {
    if (seconds > 0) {
      compile.add("", {{"model", model}}, number(seconds));
    }
  }
}

void add_build(std::string& text, const std::vector<DeviceReading>& devices) {
  Family build(text, "npu_build", "info", "", "Versions.");
  for (const auto& device : devices) {
    build.add("_info",
              {{"version", NPU_VERSION},
               {"device", device.name},
               {"driver", device.driver},
               {"compiler", device.compiler}},
              "1");
  }
  if (devices.empty()) {
    build.add("_info", {{"version", NPU_VERSION}}, "1");
  }
}

void add_states(std::string& text, const std::vector<StreamSnapshot>& streams) {
  Family playing(text, "npu_stream_playing", "gauge", "", "1 while the stream plays.");
  for (const auto& stream : streams)
    playing.add("", {{"stream", stream.id}}, stream.state == StreamState::kPlaying ? "1" : "0");
  Family limited(text, "npu_stream_limited", "gauge", "",
                 "1 while overload lowers the stream's rate.");
  for (const auto& stream : streams)
    limited.add("", {{"stream", stream.id}}, stream.is_limited ? "1" : "0");
  Family restarts(text, "npu_stream_restarts", "counter", "",
                  "How often the stream was started again.");
  for (const auto& stream : streams)
    restarts.add("_total", {{"stream", stream.id}}, std::to_string(stream.restarts));
  Family queue(text, "npu_stream_queue", "gauge", "",
               "Frames that wait for the device or are in it.");
  for (const auto& stream : streams)
    queue.add("", {{"stream", stream.id}}, std::to_string(stream.queue));
}

void add_counts(std::string& text, const std::vector<StreamSnapshot>& streams) {
  const auto each = [&](bool is_inside, const auto& add) {
    for (const auto& stream : streams) {
      for (const auto* places : {&stream.lines, &stream.zones}) {
        for (const PlaceCounts& place : *places) {
          for (const auto& [kind, count] : place.counts) {
            if ((kind == "inside") == is_inside) {
              add(stream.id, place.place.name, kind, std::to_string(count));
            }
          }
        }
      }
    }
  };
  Family passed(text, "npu_objects", "counter", "",
                "Objects that crossed a line, or entered or left a zone.");
  each(false, [&](const auto& id, const auto& place, const auto& kind, const auto& count) {
    passed.add("_total", {{"stream", id}, {"place", place}, {"event", kind}}, count);
  });
  Family inside(text, "npu_objects_inside", "gauge", "", "Objects in a zone.");
  each(true, [&](const auto& id, const auto& place, const auto&, const auto& count) {
    inside.add("", {{"stream", id}, {"place", place}}, count);
  });
}

void add_devices(std::string& text, const std::vector<DeviceReading>& devices) {
  Family active(text, "npu_requests_active", "gauge", "",
                "Frames at the device or waiting for it.");
  for (const auto& device : devices)
    active.add("", {{"device", device.name}}, std::to_string(device.queue));
  Family utilization(text, "npu_utilization_ratio", "gauge", "ratio",
                     "Share of the time in which the device works.");
  for (const auto& device : devices) {
    if (device.utilization) {
      utilization.add("", {{"device", device.name}}, number(*device.utilization));
    }
  }
  Family memory(text, "npu_memory_bytes", "gauge", "bytes", "Memory of the device in use.");
  for (const auto& device : devices) {
    if (device.memory_bytes) {
      memory.add("", {{"device", device.name}}, std::to_string(*device.memory_bytes));
    }
  }
}

}  // namespace

std::string metrics(const std::vector<StreamSnapshot>& streams,
                    const std::vector<DeviceReading>& devices) {
  std::string text;
  add_frames(text, streams);
  add_times(text, streams);
  add_states(text, streams);
  add_counts(text, streams);
  add_devices(text, devices);
  add_build(text, devices);
  return text + "# EOF\n";
}

}  // namespace npustream::web
