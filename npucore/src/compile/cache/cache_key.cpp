#include "cache_key.hpp"

#include "base/text.hpp"

namespace npu::internal {
namespace {

using base::text;

constexpr const char* kFirstLine = "npucore cache 2\n";

std::string version_text(const Version& version) {
  return text(version.major, '.', version.minor, '.', version.patch);
}

std::string lines_of(const CompiledBy& by) {
  const DeviceInfo& device = by.device;
  return text("profiling ", by.layer_times, "\ndevice ", device.name, " pci ", device.pci_device_id,
              " platform ", device.platform, " tiles ", device.tiles, "\ndriver ",
              device.driver_version, " extension ", version_text(device.graph_extension),
              " compiler ", version_text(device.compiler), " elf ", version_text(device.blob_elf),
              " runtime ", version_text(device.blob_runtime), '\n',
              by.extra_build_flags.empty() ? "" : text("extra ", by.extra_build_flags, '\n'),
              by.library.empty() ? "" : text("library ", by.library, '\n'));
}

}  // namespace

std::string key_of_model(std::uint64_t content, const std::string& build_flags,
                         const CompiledBy& by) {
  return text(kFirstLine, "model ", std::hex, content, std::dec, "\nflags ", build_flags, '\n',
              lines_of(by));
}

std::string key_of_id(const std::string& id, const CompilerConfig& config, const CompiledBy& by) {
  std::string options;
  for (const auto& [name, value] : in_cache_key(config)) {
    options += text(' ', name, "=\"", value, '"');
  }
  return text(kFirstLine, "id ", id, "\noptions", options, '\n', lines_of(by));
}

}  // namespace npu::internal
