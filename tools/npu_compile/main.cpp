#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>

#include "console.hpp"
#include "deferred_signals.hpp"
#include "frame_spec.hpp"
#include "model_info_file.hpp"
#include "npucore/npucore.hpp"

namespace {

struct Arguments {
  std::string model, output, weights, frame, input, matrix, range, resize, mean, scale, channels;
  std::string device = "auto";
  std::optional<float> pad_value;
  std::vector<std::string> config;
};

void add_preprocess_options(CLI::App& app, Arguments& arguments) {
  auto* frame = app.add_option(
      "--frame", arguments.frame,
      "make the model take video frames: FORMAT:WIDTHxHEIGHT[:stride=N[,N,N]][:rows=N[,N,N]]"
      "[:crop=LEFT,TOP]; FORMAT is NV12, I420, RGB, BGR, RGBx, BGRx or GRAY8");
  const auto add = [&](const char* name, std::string& value, const char* help) {
    return app.add_option(name, value, help)->needs(frame);
  };
  add("--input", arguments.input, "the model's input that takes the picture");
  add("--matrix", arguments.matrix, "bt601, bt709 or bt2020 (default: by the frame's height)");
  add("--range", arguments.range, "limited or full (default: limited; full for GRAY8)");
  add("--resize", arguments.resize, "stretch or letterbox (default: as the model says)");
  add("--mean", arguments.mean, "subtracted from the grey levels, one or one per channel: a,b,c");
  add("--scale", arguments.scale, "divides what is left, one or one per channel: a,b,c");
  add("--channels", arguments.channels, "order that the model expects: rgb or bgr");
  app.add_option("--pad-value", arguments.pad_value, "grey level of letterbox borders, 0..255")
      ->needs(frame);
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("model", arguments.model, "the IR's .xml file")->required();
  app.add_option("-o,--output", arguments.output, "the blob to write (default: model.blob)");
  app.add_option("--weights", arguments.weights, "the IR's weights (default: the .bin beside it)");
  add_preprocess_options(app, arguments);
  app.add_option("--device", arguments.device, "auto, npu or software")
      ->check(CLI::IsMember({"auto", "npu", "software"}))
      ->capture_default_str();
  app.add_option("--config", arguments.config, "an option for the compiler, KEY=VALUE; repeatable")
      ->take_all();
}

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

npu::Preprocess preprocess_from(const Arguments& arguments, const npu::Model& model) {
  auto frame = parse_frame_spec(arguments.frame);
  if (!arguments.matrix.empty()) frame.matrix = npu::color_matrix_from_string(arguments.matrix);
  if (!arguments.range.empty()) frame.range = npu::color_range_from_string(arguments.range);
  auto preprocess = model.default_preprocess(frame);
  preprocess.input = arguments.input;
  if (!arguments.resize.empty()) {
    preprocess.resize = npu::resize_mode_from_string(arguments.resize);
  }
  if (!arguments.mean.empty()) preprocess.mean = parse_numbers("--mean", arguments.mean);
  if (!arguments.scale.empty()) preprocess.scale = parse_numbers("--scale", arguments.scale);
  if (!arguments.channels.empty()) {
    preprocess.channels = npu::channel_order_from_string(upper(arguments.channels));
  }
  if (arguments.pad_value) preprocess.pad_value = *arguments.pad_value;
  return preprocess;
}

npu::CompileOptions options_from(const Arguments& arguments) {
  npu::CompileOptions options;
  for (const auto& entry : arguments.config) {
    const auto equals = entry.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw npu::Error(npu::ErrorCode::kInvalidArgument,
                       "--config needs KEY=VALUE, not '" + entry + "'");
    }
    options.config[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return options;
}

void print_ports(const char* kind, const std::vector<npu::Port>& ports) {
  for (const auto& port : ports) {
    const auto& name = port.tensor_names.empty() ? port.name : port.tensor_names.front();
    std::cout << "  " << kind << "  " << name << "  " << npu::to_string(port.type)
              << npu::to_string(port.shape) << '\n';
  }
}

void print_frame(const npu::FrameInput& input) {
  const auto& geometry = input.geometry;
  std::cout << "  frame   " << input.preprocess.frame.describe() << " -> " << geometry.model_width
            << 'x' << geometry.model_height << ' ' << npu::to_string(input.preprocess.resize) << ' '
            << npu::to_string(input.preprocess.channels) << '\n';
}

void print_result(const npu::CompiledModel& compiled, const std::filesystem::path& output,
                  double seconds) {
  std::cout << output.string() << '\n';
  std::cout << "  device  " << compiled.device().info().name << '\n';
  print_ports("input ", compiled.inputs());
  print_ports("output", compiled.outputs());
  if (compiled.frame_input()) print_frame(*compiled.frame_input());
  std::cout << "  size    " << std::filesystem::file_size(output) << " bytes\n";
  std::cout << "  time    " << std::fixed << std::setprecision(2) << seconds << " s to compile"
            << (compiled.load_stats().loaded_from_driver_cache ? ", from the driver's cache" : "")
            << '\n';
}

void run(const Arguments& arguments) {
  const std::filesystem::path source = arguments.model;
  const auto output = arguments.output.empty()
                          ? std::filesystem::path(source).replace_extension(".blob")
                          : std::filesystem::path(arguments.output);
  const auto options = options_from(arguments);
  auto model = npu::Model::read(source, arguments.weights);
  if (!arguments.frame.empty()) model.add_preprocess(preprocess_from(arguments, model));
  const auto device = npu::Device::open(npu::device_kind_from_string(arguments.device));
  const auto start = std::chrono::steady_clock::now();
  const auto compiled = npu::CompiledModel::compile(device, model, options);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::optional<std::filesystem::path> model_info;
  {
    const DeferredSignals until_written;
    compiled.export_blob(output);
    model_info = copy_model_info(source, output);
  }
  print_result(compiled, output, taken.count());
  if (model_info) std::cout << "  info    " << model_info->string() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Compiles an OpenVINO IR for an NPU into a blob, which npuimport and OpenVINO load without a "
      "compiler.\nExit code: 0 done, 1 failed, 2 wrong usage.",
      "npu-compile");
  Arguments arguments;
  add_options(app, arguments);
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  log_to_stderr("npu-compile");
  return run_tool("npu-compile", [&] {
    run(arguments);
    return exit_code::kDone;
  });
}
