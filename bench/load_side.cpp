// Loads one model once, on one side, in a process of its own, and prints the cost until the first
// inference was done. load_cost.py runs it.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <openvino/openvino.hpp>

#include <npucore/npucore.hpp>

#include "memory_use.hpp"
#include "plugin_client.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Path = std::filesystem::path;

struct Report {
  double open_ms = 0;   // finding and opening the device
  double load_ms = 0;   // from the file to a model on the device
  double first_ms = 0;  // making a request, filling the input, the first inference
  std::uint64_t anon_start = 0, anon_opened = 0, anon_loaded = 0;
  std::uint64_t output_hash = 0;
};

double ms_since(Clock::time_point& start) {
  const auto now = Clock::now();
  return std::chrono::duration<double, std::milli>(now - std::exchange(start, now)).count();
}

void fill(void* data, std::size_t bytes) {
  auto* values = static_cast<float*>(data);
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
    values[i] = static_cast<float>(i % 17) / 17.0f;
  }
}

std::uint64_t fnv1a(const void* data, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
  }
  return hash;
}

template <class Open, class Load, class First>
Report measure(const Open& open, const Load& load, const First& first) {
  Report report;
  report.anon_start = bench::anonymous_bytes();
  auto start = Clock::now();
  auto opened = open();
  report.open_ms = ms_since(start);
  report.anon_opened = bench::anonymous_bytes();
  start = Clock::now();
  auto loaded = load(opened);
  report.load_ms = ms_since(start);
  report.anon_loaded = bench::anonymous_bytes();
  start = Clock::now();
  auto request = first(loaded);
  report.first_ms = ms_since(start);
  report.output_hash = request.hash();
  return report;
}

struct NpucoreRun {
  npu::Request request;
  std::size_t output_bytes;
  std::uint64_t hash() { return fnv1a(request.output(0).data(), output_bytes); }
};

template <class Load>
Report npucore_side(const Load& load) {
  const auto first = [](const npu::CompiledModel& model) {
    NpucoreRun run{model.create_request(), model.outputs().front().size_bytes()};
    fill(run.request.input(0).data(), model.inputs().front().size_bytes());
    run.request.infer();
    return run;
  };
  return measure([] { return npu::Device::open(npu::DeviceKind::kSoftware); }, load, first);
}

Report npucore_compile(const Path& file, npu::Serializer serializer, const char* where) {
  return npucore_side([&](const npu::Device& device) {
    npu::CompileOptions options;
    options.properties.set(npu::property::serializer, serializer);
    options.properties.set(npu::property::compile_in, where);
    return npu::CompiledModel::compile(device, npu::Model::read(file), options);
  });
}

Report npucore_import(const Path& file) {
  return npucore_side(
      [&file](const npu::Device& device) { return npu::CompiledModel::import(device, file); });
}

struct PluginRun {
  ov::InferRequest request;
  std::uint64_t hash() {
    const ov::Tensor output = request.get_output_tensor();
    return fnv1a(output.data(), output.get_byte_size());
  }
};

ov::Core open_plugin() {
  ov::Core core;
  core.get_property("NPU", ov::device::full_name);
  return core;
}

template <class Load>
Report plugin_side(const Load& load) {
  const auto first = [](ov::CompiledModel& model) {
    PluginRun run{model.create_infer_request()};
    ov::Tensor input = run.request.get_input_tensor();
    fill(input.data(), input.get_byte_size());
    run.request.infer();
    return run;
  };
  return measure(open_plugin, load, first);
}

Report plugin_compile(const Path& file, const ov::AnyMap& properties) {
  return plugin_side([&](ov::Core& core) {
    return core.compile_model(core.read_model(file.string()), "NPU", properties);
  });
}

Report plugin_import_stream(const Path& file) {
  return plugin_side([&file](ov::Core& core) {
    std::ifstream stream(file, std::ios::binary);
    return core.import_model(stream, "NPU");
  });
}

Report plugin_import_mapped(const Path& file) {
  return plugin_side(
      [&file](ov::Core& core) { return core.import_model(ov::read_tensor_data(file), "NPU"); });
}

const std::map<std::string, std::function<Report(const Path&)>>& sides() {
  using namespace std::placeholders;
  const auto serializer = [](const char* value) {
    return std::bind(plugin_compile, _1, ov::AnyMap{{"NPU_MODEL_SERIALIZER_VERSION", value}});
  };
  static const std::map<std::string, std::function<Report(const Path&)>> all = {
      {"npucore-compile", std::bind(npucore_compile, _1, npu::Serializer::kAuto, "in-process")},
      {"npucore-compile-helper", std::bind(npucore_compile, _1, npu::Serializer::kAuto, "helper")},
      {"npucore-compile-classic",
       std::bind(npucore_compile, _1, npu::Serializer::kAllWeightsCopy, "in-process")},
      {"npucore-import", npucore_import},
      {"plugin-compile", std::bind(plugin_compile, _1, ov::AnyMap{})},
      {"plugin-compile-classic", serializer("ALL_WEIGHTS_COPY")},
      {"plugin-import-stream", plugin_import_stream},
      {"plugin-import-mapped", plugin_import_mapped},
  };
  return all;
}

void print(const Report& report, std::uint64_t anon_peak) {
  std::cout << nlohmann::ordered_json{{"open_ms", report.open_ms},
                                      {"load_ms", report.load_ms},
                                      {"first_ms", report.first_ms},
                                      {"anon_start", report.anon_start},
                                      {"anon_opened", report.anon_opened},
                                      {"anon_loaded", report.anon_loaded},
                                      {"anon_peak", anon_peak},
                                      {"peak", bench::peak_resident_bytes()},
                                      {"output_hash", report.output_hash}}
            << std::endl;
}

int run(const std::string& side, const Path& file) {
  if (side == "why-no-plugin") {
    std::cout << bench::why_no_plugin() << '\n';
  } else if (side == "export") {
    const auto device = npu::Device::open(npu::DeviceKind::kSoftware);
    npu::CompiledModel::compile(device, npu::Model::read(file))
        .export_blob(Path(file).replace_extension(".blob"));
  } else {
    const bench::AnonymousPeak peak;
    const Report report = sides().at(side)(file);
    print(report, peak.bytes());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Loads a model once and tells what that took", "load_side");
  std::string side;
  Path file;
  std::vector<std::string> names = {"why-no-plugin", "export"};
  for (const auto& [name, load] : sides()) names.push_back(name);
  app.add_option("side", side, "who loads, and how")->required()->check(CLI::IsMember(names));
  app.add_option("file", file, "the IR's .xml, or a blob");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(side, file);
  } catch (const std::exception& error) {
    std::cerr << "load_side " << side << ": " << error.what() << '\n';
    return 1;
  }
}
