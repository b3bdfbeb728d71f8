#include "targets.hpp"

#include <iomanip>
#include <sstream>

#include "console.hpp"
#include "deferred_signals.hpp"
#include "describe.hpp"
#include "estimate_text.hpp"
#include "model_info_file.hpp"
#include "output_check.hpp"

namespace {

namespace fs = std::filesystem;

/// The output file of a target: model.4000.blob if there are several.
fs::path output_for(const Arguments& arguments, const std::string& platform) {
  fs::path output = arguments.output_path();
  if (arguments.targets.size() > 1) {
    output.replace_extension("." + platform + ".blob");
  }
  return output;
}

std::string describe(const std::string& platform, const npu::Model& model,
                     const npu::TargetBlob& blob, const fs::path& output) {
  std::ostringstream out;
  out << output.string() << '\n';
  out << "  target  NPU " << platform << '\n';
  print_ports(out, "input ", model.inputs());
  print_ports(out, "output", blob.outputs);
  if (model.frame_input()) {
    print_frame(out, *model.frame_input());
  }
  out << "  size    " << fs::file_size(output) << " bytes\n";
  out << "  time    " << std::fixed << std::setprecision(2)
      << static_cast<double>(blob.stats.load_ns) / 1e9 << " s, from the compiler\n";
  out << "  latency " << estimate_text(blob.estimate) << '\n';
  return out.str();
}

/// The path of the written .modelinfo, if there is one.
std::optional<fs::path> write(const Arguments& arguments, const npu::TargetBlob& blob,
                              const fs::path& output) {
  const std::span<const std::byte> file = blob.file;
  const DeferredSignals until_written;
  npu::write_output(output, arguments.raw ? file.first(blob.native_bytes) : file);
  return copy_model_info(arguments.model, output);
}

}  // namespace

npu::CompileTarget target_from(const Arguments& arguments, const std::string& platform) {
  npu::CompileTarget target{platform, 0};
  const auto tiles = arguments.named_properties.find("NPU_MAX_TILES");
  if (tiles != arguments.named_properties.end()) {
    target.tiles = static_cast<std::uint32_t>(std::stoul(tiles->second));
  }
  return target;
}

int compile_for_targets(const Arguments& arguments) {
  const auto options = options_from(arguments);
  const auto model = model_from(arguments);
  for (const auto& platform : arguments.targets) {
    const fs::path output = output_for(arguments, platform);
    if (!arguments.estimate) {
      check_outputs(output, arguments.inputs());
    }
    const auto blob = npu::compile_for(target_from(arguments, platform), model, options);
    if (arguments.estimate) {
      print("NPU " + platform + "  " + estimate_text(blob.estimate) + '\n');
    } else {
      const auto model_info = write(arguments, blob, output);
      print(describe(platform, model, blob, output));
      if (model_info) {
        print("  info    " + model_info->string() + '\n');
      }
    }
  }
  return exit_code::kDone;
}
