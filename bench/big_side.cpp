// One step of big_model.py, in a process of its own: compiles a model of make_big_model.py, or
// loads what was compiled, and looks at every row. Prints the cost as one JSON line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include <npucore/npucore.hpp>

#include "memory_use.hpp"

namespace {

using Clock = std::chrono::steady_clock;

// As in make_big_model.py.
constexpr std::int64_t kWidth = 1024, kMarkEvery = 4099;

struct Arguments {
  std::string model, blob, cache;
  std::int64_t rows = 0;
  bool unchecked = false, sweep = false;
};

double ms_since(Clock::time_point& start) {
  const auto now = Clock::now();
  return std::chrono::duration<double, std::milli>(now - std::exchange(start, now)).count();
}

float sum_of(std::int64_t table, std::int64_t row, std::int64_t rows) {
  if (row % kMarkEvery != 0 && row != rows - 1) return 0;
  std::int64_t sum = 0;
  for (std::int64_t column = 0; column < kWidth; ++column) {
    sum += (row * 31 + table * 7 + column) % 251 * ((column * 5 + table) % 7 - 3);
  }
  return static_cast<float>(sum);
}

/// Looks rows up; counts the sums that are wrong.
class Reader {
 public:
  explicit Reader(const npu::CompiledModel& model, const Arguments& arguments)
      : arguments_(arguments),
        request_(model.create_request()),
        looked_up_(model.inputs().front().shape.at(0)),
        tables_(model.outputs().front().shape.at(1)) {}

  void look_from(std::int64_t first) {
    auto* rows = reinterpret_cast<std::int32_t*>(request_.input(0).data());
    for (std::int64_t i = 0; i < looked_up_; ++i) rows[i] = static_cast<std::int32_t>(first + i);
    request_.infer();
    const auto* sums = reinterpret_cast<const float*>(request_.output(0).data());
    for (std::int64_t i = 0; i < looked_up_ * tables_ && !arguments_.unchecked; ++i) {
      wrong_ += sums[i] != sum_of(i % tables_, first + i / tables_, arguments_.rows);
    }
  }
  void look_at_all() {
    for (std::int64_t row = 0; row < arguments_.rows; row += looked_up_) look_from(row);
  }
  std::int64_t looked_up() const { return looked_up_; }
  std::uint64_t wrong() const { return wrong_; }

 private:
  const Arguments& arguments_;
  npu::Request request_;
  const std::int64_t looked_up_, tables_;
  std::uint64_t wrong_ = 0;
};

npu::CompileOptions options_of(const Arguments& arguments) {
  npu::CompileOptions options;
  if (!arguments.cache.empty()) {
    options.properties.set("CACHE_DIR", arguments.cache)
        .set("CACHE_ID", "big")
        .set("CACHE_SIZE", "64G");
  }
  return options;
}

npu::CompiledModel load(const npu::Device& device, const Arguments& arguments) {
  const auto options = options_of(arguments);
  if (!arguments.model.empty()) {
    return npu::CompiledModel::compile(device, npu::Model::read(arguments.model), options);
  }
  return arguments.cache.empty() ? npu::CompiledModel::import(device, arguments.blob, options)
                                 : npu::CompiledModel::load_cached(device, options).value();
}

nlohmann::ordered_json run(const Arguments& arguments) {
  nlohmann::ordered_json report;
  const bench::AnonymousPeak peak;
  auto start = Clock::now();
  const auto device = npu::Device::open(npu::DeviceKind::kSoftware);
  report["open_ms"] = ms_since(start);
  report["anon_opened"] = bench::anonymous_bytes();
  const auto model = load(device, arguments);
  report["load_ms"] = ms_since(start);
  report["anon_loaded"] = bench::anonymous_bytes();
  report["from"] = npu::to_string(model.load_stats().from);
  if (!arguments.model.empty() && !arguments.blob.empty()) {
    model.export_blob(arguments.blob);
    report["export_ms"] = ms_since(start);
  }
  if (arguments.rows > 0) {
    Reader reader(model, arguments);
    reader.look_from(arguments.rows - reader.looked_up());
    report["first_ms"] = ms_since(start);
    report["anon_first"] = bench::anonymous_bytes();
    if (arguments.sweep) {
      reader.look_at_all();
      report["all_rows_ms"] = ms_since(start);
    }
    report["wrong"] = reader.wrong();
  }
  report["anon_peak"] = peak.bytes();
  report["peak"] = bench::peak_resident_bytes();
  return report;
}

}  // namespace

int main(int argc, char** argv) try {
  Arguments arguments;
  CLI::App app("Compiles or loads a model of make_big_model.py.");
  app.add_option("--model", arguments.model, "compile this, else load");
  app.add_option("--blob", arguments.blob, "write or load this");
  app.add_option("--cache", arguments.cache, "use the entry of this folder");
  app.add_option("--rows", arguments.rows, "rows of each table: look at the last ones");
  app.add_flag("--all", arguments.sweep, "look at all rows");
  app.add_flag("--unchecked", arguments.unchecked, "the device computes nothing");
  CLI11_PARSE(app, argc, argv);
  std::cout << run(arguments).dump() << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
