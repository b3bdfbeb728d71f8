#include <filesystem>
#include <iostream>
#include <optional>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "blob_report.hpp"
#include "card_report.hpp"
#include "compiler_report.hpp"
#include "console.hpp"
#include "device_option.hpp"
#include "json_text.hpp"
#include "model_file.hpp"
#include "model_report.hpp"
#include "property_report.hpp"
#include "report.hpp"

namespace {

constexpr int kNoDevice = exit_code::kFailed;

struct Arguments {
  std::string file;
  std::string device = "auto";
  bool json = false;
  bool properties = false;
  bool compiler = false;
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("model", arguments.file,
                 "a model (.xml) or a blob to describe instead: its inputs and outputs, what it is "
                 "for and where that is written; of a blob also what wrote it, and its sections");
  app.add_flag("--json", arguments.json, "print one JSON object");
  app.add_flag("--properties", arguments.properties,
               "show every property instead: access, value on the device, default, meaning");
  app.add_flag("--compiler", arguments.compiler,
               "show Intel's compiler library instead, and the options it takes for each platform");
  app.add_option("--device", arguments.device, kDeviceNames)
      ->check(device_name())
      ->capture_default_str();
}

/// Drops the library's warnings: the report says itself that the software NPU stands in.
void keep_only_errors() {
  npu::set_log_sink([](npu::LogLevel level, std::string_view message) {
    if (level == npu::LogLevel::kError) {
      std::cerr << "npu-info: " << printable(message) << '\n';
    }
  });
}

/// Shows a blob or a model, with its card.
template <class Described>
int show_file(const Arguments& arguments, const Described& described, const CardReport& card) {
  if (arguments.json) {
    auto json = to_json(described);
    add_json(card, &json);
    print(json_text(json));
  } else {
    print(arguments.file + '\n' + to_text(described) + to_text(card));
  }
  return card.card ? exit_code::kDone : exit_code::kFailed;
}

int show_file(const Arguments& arguments) {
  if (is_ir_path(arguments.file)) {
    const auto model = npu::Model::read(arguments.file);
    return show_file(arguments, model, read_card(model));
  }
  const auto blob = npu::read_blob_info(arguments.file);
  return show_file(arguments, blob, read_card(arguments.file, blob.model_info));
}

int show_properties(const Arguments& arguments) {
  std::optional<npu::Device> device;
  try {
    device = npu::Device::open(arguments.device);
  } catch (const npu::Error& error) {
    std::cerr << "npu-info: " << printable(error.what()) << '\n';
  }
  const auto properties = property_values(device ? &*device : nullptr);
  print(arguments.json ? json_text(to_json(properties)) : to_text(properties));
  return device ? exit_code::kDone : kNoDevice;
}

int show_compiler(const Arguments& arguments) {
  const auto compilers = compiler_infos();
  print(arguments.json ? json_text(to_json(compilers)) : to_text(compilers));
  return exit_code::kDone;
}

int show_device(const Arguments& arguments) {
  const Report report = make_report(arguments.device);
  print(arguments.json ? json_text(to_json(report)) : to_text(report));
  return report.device ? exit_code::kDone : kNoDevice;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Shows the NPU, its driver, compiler and extensions, and what is missing if there is none; "
      "or all properties; or what is in a model or a blob.\nExit code: 0 done, 1 no device, or a "
      "file that cannot be read, 2 wrong usage.",
      "npu-info");
  Arguments arguments;
  add_options(app, arguments);
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  keep_only_errors();
  return run_tool("npu-info", [&] {
    if (!arguments.file.empty()) return show_file(arguments);
    if (arguments.compiler) return show_compiler(arguments);
    return arguments.properties ? show_properties(arguments) : show_device(arguments);
  });
}
