#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>

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

void print_result(const npu::CompiledModel& compiled, const std::filesystem::path& output,
                  double seconds) {
  std::ostringstream out;
  out << output.string() << '\n';
  out << "  device  " << compiled.device().info().name << '\n';
  print_ports(out, "input ", compiled.inputs());
  print_ports(out, "output", compiled.outputs());
  if (compiled.frame_input()) {
    print_frame(out, *compiled.frame_input());
  }
  out << "  size    " << std::filesystem::file_size(output) << " bytes\n";
  out << "  time    " << std::fixed << std::setprecision(2) << seconds << " s, from the "
      << npu::to_string(compiled.load_stats().from) << '\n';
  print(out.str());
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
  const auto device = npu::Device::open(npu::device_kind_from_string(arguments.device));
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

int run(const Arguments& arguments) {
  const auto output = arguments.output_path();
  check_outputs(output, arguments.inputs());
  const auto start = std::chrono::steady_clock::now();
  const auto compiled = compile(arguments);
  if (!compiled) return kInterrupted;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::optional<std::filesystem::path> model_info;
  {
    const DeferredSignals until_written;
    arguments.raw ? npu::write_output(output, compiled->native_binary())
                  : compiled->export_blob(output);
    model_info = copy_model_info(arguments.model, output);
  }
  print_result(*compiled, output, taken.count());
  if (model_info) {
    print("  info    " + model_info->string() + '\n');
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
  const auto device = npu::Device::open(npu::device_kind_from_string(arguments.device));
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
