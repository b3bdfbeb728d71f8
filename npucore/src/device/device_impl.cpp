#include "core/device_state.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "npucore/error.hpp"

namespace npu::internal {
namespace {

Version version_of(const ze_graph_version_info_t& info) {
  return {info.major, info.minor, info.patch};
}

std::string platform_of(std::uint32_t pci_device_id) {
  const auto* platform = ze_npu_platform_of_pci_id(pci_device_id);
  return platform ? std::to_string(platform->platform) : std::string();
}

std::vector<std::string> extension_lines(const ze::NpuDevice& npu) {
  std::vector<std::string> lines;
  for (const auto& [name, version] : npu.extensions)
    lines.push_back(
        base::text(name, ' ', ze_npu_version_major(version), '.', ze_npu_version_minor(version)));
  return lines;
}

DeviceInfo describe(const ze::DeviceContext& ze) {
  const ze::NpuDevice& npu = ze.npu;
  const ze::GraphCapabilities capabilities = ze::graph_capabilities(ze);
  DeviceInfo info;
  info.name = npu.name();
  info.is_software = npu.is_software();
  info.pci_device_id = npu.properties.deviceId;
  info.platform = platform_of(info.pci_device_id);
  info.pci_address = ze::pci_address(npu);
  info.tiles = npu.properties.numSlices;
  info.driver_version = npu.driver_version;
  info.driver_library = ze::driver_library(ze);
  info.loader_version = ze.loader.version();
  info.graph_extension = {ze_npu_version_major(ze.graph.version()),
                          ze_npu_version_minor(ze.graph.version()), 0};
  info.compiler = {capabilities.compiler.major, capabilities.compiler.minor, 0};
  info.newest_opset = capabilities.newest_opset;
  info.blob_elf = version_of(capabilities.elf);
  info.blob_runtime = version_of(capabilities.runtime);
  info.memory_bytes = ze::memory_bytes(ze);
  info.extensions = extension_lines(npu);
  return info;
}

}  // namespace

DeviceState::DeviceState(const ze::NpuDevice& npu)
    : context_(std::make_shared<const ze::DeviceContext>(npu)), info(describe(*context_)) {}

std::shared_ptr<const ze::DeviceContext> DeviceState::ze() const {
  std::scoped_lock lock(mutex_);
  if (context_->lost) context_ = std::make_shared<const ze::DeviceContext>(context_->npu);
  return context_;
}

double DeviceState::utilization() {
  const auto now = ze::engine_activity(*ze());
  if (!now)
    throw Error(
        ErrorCode::kUnsupported,
        base::text("neither loader ", info.loader_version, " nor the driver of ", info.name,
                   " tells how busy it is (zesInit, zesDriverGet, zesDeviceGet, "
                   "zesDeviceGetProperties, zesDeviceEnumEngineGroups, zesEngineGetActivity)"));
  std::scoped_lock lock(mutex_);
  const auto last = std::exchange(last_activity_, now);
  if (!last || now->at_us <= last->at_us) return 0;
  const auto busy = static_cast<double>(now->busy_us - last->busy_us);
  return std::clamp(busy / static_cast<double>(now->at_us - last->at_us), 0.0, 1.0);
}

}  // namespace npu::internal
