#include "report.hpp"

#include <cstdarg>
#include <cstdio>
#include <sstream>

#include "estimate_text.hpp"

namespace {

using nlohmann::ordered_json;

double first_latency_ms(const Benchmark& benchmark) {
  return benchmark.read_ms + benchmark.load_ms + benchmark.first_ms;
}

/// True for compile, load and first inference; false for load and first inference alone.
bool is_feil(const Benchmark& benchmark) {
  return benchmark.model.load_stats().from == npu::LoadedFrom::kCompiler;
}

ordered_json ports_json(const std::vector<npu::Port>& ports) {
  auto json = ordered_json::array();
  for (const auto& port : ports) {
    json.push_back(
        {{"name", port.name}, {"type", npu::to_string(port.type)}, {"shape", port.shape}});
  }
  return json;
}

const char* to_string(npu::LayerStatus status) {
  switch (status) {
    case npu::LayerStatus::kExecuted:
      return "executed";
    case npu::LayerStatus::kOptimizedOut:
      return "optimized out";
    default:
      return "not run";
  }
}

ordered_json profile_json(const std::vector<npu::LayerProfile>& profile) {
  auto json = ordered_json::array();
  for (const auto& layer : profile) {
    json.push_back({{"name", layer.name},
                    {"type", layer.type},
                    {"status", to_string(layer.status)},
                    {"start_ns", layer.start_ns},
                    {"duration_ns", layer.duration_ns}});
  }
  return json;
}

ordered_json latency_json(const LatencySummary& latency) {
  return {{"median", latency.median}, {"average", latency.average}, {"min", latency.minimum},
          {"max", latency.maximum},   {"p90", latency.p90},         {"p99", latency.p99}};
}

__attribute__((format(printf, 2, 3))) void line(std::ostream& out, const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  out << "  " << text << '\n';
}

void print_ports(std::ostream& out, const char* kind, const std::vector<npu::Port>& ports) {
  for (const auto& port : ports) {
    line(out, "%-11s %s  %s%s", kind, port.name.c_str(), npu::to_string(port.type),
         npu::to_string(port.shape).c_str());
  }
}

void print_profile(std::ostream& out, const std::vector<npu::LayerProfile>& profile) {
  out << "layers of one inference:\n";
  for (const auto& layer : profile) {
    line(out, "%9.3f us  %-14s %-20s %s", static_cast<double>(layer.duration_ns) / 1e3,
         to_string(layer.status), layer.type.c_str(), layer.name.c_str());
  }
}

}  // namespace

ordered_json to_json(const Arguments& arguments, const Benchmark& benchmark) {
  const auto& run = benchmark.run;
  ordered_json json;
  json["model"] = arguments.model;
  json["device"] = benchmark.model.device().info().name;
  json["inputs"] = ports_json(benchmark.model.inputs());
  json["outputs"] = ports_json(benchmark.model.outputs());
  json["api"] = arguments.api;
  json["hint"] = arguments.hint;
  json["requests"] = benchmark.requests;
  json["loaded_from"] = npu::to_string(benchmark.model.load_stats().from);
  json["read_ms"] = benchmark.read_ms;
  json["load_ms"] = benchmark.load_ms;
  json["first_inference_ms"] = benchmark.first_ms;
  json[is_feil(benchmark) ? "feil_ms" : "fil_ms"] = first_latency_ms(benchmark);
  json[is_feil(benchmark) ? "fil_ms" : "feil_ms"] = nullptr;
  json["inferences"] = run.latencies.size();
  json["seconds"] = std::chrono::duration<double>(run.taken).count();
  json["interrupted"] = run.interrupted;
  json["throughput"] = benchmark.throughput();
  json["latency_ms"] = latency_json(benchmark.latency_ms);
  json["memory"] = arguments.memory;
  json["copies"] = benchmark.copies;
  if (arguments.estimate) {
    json["estimate"] = estimate_json(benchmark.estimate);
  }
  if (arguments.profile) {
    json["layers"] = profile_json(benchmark.profile);
  }
  return json;
}

std::string to_text(const Arguments& arguments, const Benchmark& benchmark) {
  std::ostringstream out;
  const auto& latency = benchmark.latency_ms;
  out << arguments.model << " on " << benchmark.model.device().info().name << '\n';
  print_ports(out, "input", benchmark.model.inputs());
  print_ports(out, "output", benchmark.model.outputs());
  line(out, "%-11s %.2f ms (from %s, in %.2f ms; first inference %.2f ms)",
       is_feil(benchmark) ? "FEIL" : "FIL", first_latency_ms(benchmark),
       npu::to_string(benchmark.model.load_stats().from), benchmark.read_ms + benchmark.load_ms,
       benchmark.first_ms);
  line(out, "%-11s %zu in %.2f s, %s, hint %s, %zu request%s in flight%s", "inferences",
       benchmark.run.latencies.size(), std::chrono::duration<double>(benchmark.run.taken).count(),
       arguments.api.c_str(), arguments.hint.c_str(), benchmark.requests,
       benchmark.requests == 1 ? "" : "s", benchmark.run.interrupted ? ", interrupted" : "");
  line(out, "%-11s median %.3f ms, average %.3f, min %.3f, max %.3f, p90 %.3f, p99 %.3f", "latency",
       latency.median, latency.average, latency.minimum, latency.maximum, latency.p90, latency.p99);
  line(out, "%-11s %.2f inferences/s", "throughput", benchmark.throughput());
  line(out, "%-11s %llu of inputs and outputs, memory: %s", "copies",
       static_cast<unsigned long long>(benchmark.copies), arguments.memory.c_str());
  if (arguments.estimate) {
    line(out, "%-11s %s", "estimate", estimate_text(benchmark.estimate).c_str());
  }
  if (arguments.profile) {
    print_profile(out, benchmark.profile);
  }
  return out.str();
}
