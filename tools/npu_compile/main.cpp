#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <npucore/error.hpp>
#include <npucore/npucore.hpp>

#include "arguments.hpp"
#include "console.hpp"
#include "deferred_signals.hpp"
#include "describe.hpp"
#include "interrupt.hpp"
#include "model_info_file.hpp"
#include "output_check.hpp"
#include "targets.hpp"
#include "why.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int kInterrupted = 130;

void print_result(const std::string& title, const npu::CompiledModel& compiled,
                  const std::string& rest) {
  std::ostringstream out;
  out << title << '\n';
  out << "  device  " << compiled.device().info().name << '\n';
  print_ports(out, "input ", compiled.inputs());
  print_ports(out, "output", compiled.outputs());
  if (compiled.frame_input()) {
    print_frame(out, *compiled.frame_input());
  }
  print(out.str() + rest);
}

std::string time_line(std::chrono::duration<double> taken, npu::LoadedFrom from) {
  std::ostringstream out;
  out << "  time    " << std::fixed << std::setprecision(2) << taken.count() << " s, from the "
      << npu::to_string(from) << '\n';
  return out.str();
}

/// One line that is rewritten again and again, on a terminal only.
class ProgressLine {
 public:
  void show(const npu::CompileProgress& progress) {
    if (!on_terminal_) return;
    shown_ = true;
    std::fprintf(stderr, "\r\033[K%s, %.1f s", npu::to_string(progress.phase),
                 std::chrono::duration<double>(progress.elapsed).count());
  }
  ~ProgressLine() {
    if (shown_) {
      std::fputs("\r\033[K", stderr);
    }
  }

 private:
  bool on_terminal_ = ::isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
};

/// Nothing if a signal came first.
std::optional<npu::CompiledModel> compile(const Arguments& arguments) {
  constexpr std::chrono::milliseconds kLook{50};
  const auto options = options_from(arguments);
  const auto model = model_from(arguments);
  const auto device = npu::Device::open(arguments.device);
  const InterruptWatch watch;  // until here a signal just ends the program
  auto job = npu::compile_async(device, model, options);
  ProgressLine line;
  do {
    line.show(job.progress());
  } while (!job.wait(kLook) && !InterruptWatch::interrupted());
  if (!InterruptWatch::interrupted()) return job.get();
  job.cancel();
  return {};
}

/// The path of the .modelinfo that was written too, if there is one.
std::optional<fs::path> write_blob(const Arguments& arguments, const npu::CompiledModel& compiled) {
  const auto output = arguments.output_path();
  const DeferredSignals until_written;
  arguments.raw ? npu::write_output(output, compiled.native_binary())
                : compiled.export_blob(output);
  return copy_model_info(arguments.model, output);
}

/// Loads the entry that was just stored. A cache that cannot be used is only a warning for the
/// library, but here the entry is all there is.
npu::CompiledModel kept_entry(const Arguments& arguments, const npu::Device& device,
                              const npu::LoadStats& stats) {
  if (auto kept = npu::CompiledModel::load_cached(device, options_from(arguments))) return *kept;
  std::string why;
  for (const auto& warning : stats.warnings) why += (why.empty() ? ": " : "; ") + warning;
  throw npu::Error(npu::ErrorCode::kIo, "the compiled model could not be kept in the cache" + why);
}

int run(const Arguments& arguments) {
  const bool writes = !arguments.has_id() || !arguments.output.empty();
  if (writes) {
    check_outputs(arguments.output_path(), arguments.inputs());
  }
  const auto start = std::chrono::steady_clock::now();
  auto compiled = compile(arguments);
  if (!compiled) return kInterrupted;
  const auto stats = compiled->load_stats();
  const auto time = time_line(std::chrono::steady_clock::now() - start, stats.from);
  if (writes) {
    const auto model_info = write_blob(arguments, *compiled);
    const auto output = arguments.output_path();
    print_result(output.string(), *compiled,
                 "  size    " + std::to_string(fs::file_size(output)) + " bytes\n" + time);
    if (model_info) {
      print("  info    " + model_info->string() + '\n');
    }
  }
  if (arguments.has_id()) {
    const npu::Device device = compiled->device();
    compiled.reset();  // both together may not fit into memory
    const auto kept = kept_entry(arguments, device, stats);
    print_result(kept.get_property(npu::property::cache_id) + ", in " +
                     kept.get_property(npu::property::cache_dir),
                 kept, time);
  }
  return exit_code::kDone;
}

std::string since(const npu::PropertyInfo& info, const npu::Version& compiler) {
  const std::uint32_t has = compiler.major << 16 | compiler.minor;
  if (info.oldest_compiler <= has) return {};
  return " (this device's compiler is older than " + std::to_string(info.oldest_compiler >> 16) +
         '.' + std::to_string(info.oldest_compiler & 0xffff) + ", which introduced it)";
}

int list_options(const Arguments& arguments) {
  const auto device = npu::Device::open(arguments.device);
  for (const auto& info : npu::known_properties()) {
    if (info.access == npu::Access::kReadOnly || !(info.compile_time || info.in_cache_key)) {
      continue;
    }
    std::cout << info.name << "  " << info.values;
    if (!info.default_value.empty()) {
      std::cout << "; default " << info.default_value;
    }
    std::cout << "\n    " << info.meaning << since(info, device.info().compiler) << '\n';
  }
  return exit_code::kDone;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Compiles an OpenVINO IR for an NPU into a blob, which OpenVINO and, made with "
      "--frame, npuimport load without a compiler.\nExit code: 0 done, 1 failed, 2 wrong usage, "
      "130 interrupted.",
      "npu-compile");
  Arguments arguments;
  add_options(app, arguments);
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  log_to_stderr("npu-compile");
  return run_tool("npu-compile", [&] {
    if (arguments.list_options) return list_options(arguments);
    if (arguments.why) return find_refused_layer(arguments);
    return arguments.is_for_targets() ? compile_for_targets(arguments) : run(arguments);
  });
}
