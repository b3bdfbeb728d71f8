#include "npu_device.hpp"

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"

#include "result.hpp"

namespace npu::ze {
namespace {

/// Whether the call succeeded; if not, describes the result in `problem`.
bool succeeded(ze_result_t result, const char* call, std::string& problem) {
  if (result == ZE_RESULT_SUCCESS) return true;
  problem = base::text(call, " failed with ", describe(result));
  return false;
}

std::map<std::string, std::uint32_t> extensions_of(const Loader& loader, ze_driver_handle_t driver,
                                                   std::string& problem) {
  constexpr const char* kCall = "zeDriverGetExtensionProperties";
  std::uint32_t count = 0;
  std::vector<ze_driver_extension_properties_t> list;
  if (succeeded(loader.zeDriverGetExtensionProperties(driver, &count, nullptr), kCall, problem)) {
    list.resize(count);
    if (!succeeded(loader.zeDriverGetExtensionProperties(driver, &count, list.data()), kCall,
                   problem)) {
      list.clear();
    }
  }
  std::map<std::string, std::uint32_t> extensions;
  for (const auto& extension : list) {
    auto& version = extensions[extension.name];
    version = std::max(version, extension.version);
  }
  return extensions;
}

std::uint32_t driver_version_of(const Loader& loader, ze_driver_handle_t driver) {
  ze_driver_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  const bool known = loader.zeDriverGetProperties(driver, &properties) == ZE_RESULT_SUCCESS;
  return known ? properties.driverVersion : 0;
}

std::vector<ze_device_handle_t> devices_of(const Loader& loader, ze_driver_handle_t driver,
                                           std::string& problem) {
  std::uint32_t count = 0;
  std::vector<ze_device_handle_t> devices;
  if (!succeeded(loader.zeDeviceGet(driver, &count, nullptr), "zeDeviceGet", problem)) {
    return devices;
  }
  devices.resize(count);
  if (!succeeded(loader.zeDeviceGet(driver, &count, devices.data()), "zeDeviceGet", problem)) {
    count = 0;
  }
  devices.resize(count);
  return devices;
}

void append_npus(const NpuDevice& driver, std::vector<NpuDevice>& npus, std::string& problem) {
  for (ze_device_handle_t device : devices_of(*driver.loader, driver.driver, problem)) {
    NpuDevice npu = driver;
    npu.device = device;
    npu.properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (succeeded(npu.loader->zeDeviceGetProperties(device, &npu.properties),
                  "zeDeviceGetProperties", problem) &&
        npu.properties.type == ZE_DEVICE_TYPE_VPU) {
      npus.push_back(std::move(npu));
    }
  }
}

}  // namespace

bool NpuDevice::is_software() const {
  return name().rfind("Software NPU", 0) == 0;
}

bool NpuDevice::is_integrated() const {
  return (properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0;
}

std::string NpuDevice::platform() const {
  const auto* known = ze_npu_platform_of_pci_id(properties.deviceId);
  return known ? std::to_string(known->platform) : std::string();
}

std::vector<std::string> NpuDevice::extension_lines() const {
  std::vector<std::string> lines;
  for (const auto& [extension, word] : extensions) {
    lines.push_back(
        base::text(extension, ' ', ze_npu_version_major(word), '.', ze_npu_version_minor(word)));
  }
  return lines;
}

Version version_of(std::uint32_t word) {
  return {ze_npu_version_major(word), ze_npu_version_minor(word), 0};
}

std::uint32_t version_word(const Version& version) {
  return ze_npu_version(version.major, version.minor);
}

std::uint32_t NpuDevice::extension_version(const std::string& extension_name) const {
  const auto found = extensions.find(extension_name);
  return found == extensions.end() ? 0 : found->second;
}

bool NpuDevice::has_extension(const std::string& extension_name, std::uint32_t major,
                              std::uint32_t minor) const {
  return ze_npu_version_has(extension_version(extension_name), major, minor);
}

bool NpuDevice::imports_memfd() const {
  return has_extension(ZE_SOFTNPU_MEMFD_IMPORT_EXT_NAME, 1, 0);
}

const void* NpuDevice::extension_table(const std::string& extension_name) const {
  if (extensions.count(extension_name) == 0) return nullptr;
  void* table = nullptr;
  const ze_result_t result =
      loader->zeDriverGetExtensionFunctionAddress(driver, extension_name.c_str(), &table);
  return result == ZE_RESULT_SUCCESS ? table : nullptr;
}

std::vector<NpuDevice> find_npus(const Loader& loader,
                                 const std::vector<ze_driver_handle_t>& drivers,
                                 std::string& problem) {
  std::vector<NpuDevice> npus;
  for (ze_driver_handle_t handle : drivers) {
    NpuDevice driver;
    driver.loader = &loader;
    driver.driver = handle;
    driver.extensions = extensions_of(loader, handle, problem);
    driver.driver_version = driver_version_of(loader, handle);
    if (driver.has_extension(ZE_GRAPH_EXT_NAME, 1, 0)) {
      append_npus(driver, npus, problem);
    }
  }
  return npus;
}

std::string uuid(const NpuDevice& npu) {
  std::string digits;
  for (const auto byte : npu.properties.uuid.id) {
    char pair[3] = {};
    std::snprintf(pair, sizeof(pair), "%02x", byte);
    digits += pair;
  }
  return digits;
}

std::string pci_address(const NpuDevice& npu) {
  ze_pci_ext_properties_t pci = {};
  pci.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
  if (npu.loader->zeDevicePciGetPropertiesExt(npu.device, &pci) != ZE_RESULT_SUCCESS) return {};
  char line[64] = {};
  std::snprintf(line, sizeof(line), "%04x:%02x:%02x.%x", pci.address.domain, pci.address.bus,
                pci.address.device, pci.address.function);
  return line;
}

std::uint32_t compute_queue_ordinal(const NpuDevice& npu) {
  std::uint32_t count = 0;
  check(npu.loader->zeDeviceGetCommandQueueGroupProperties(npu.device, &count, nullptr),
        "zeDeviceGetCommandQueueGroupProperties");
  std::vector<ze_command_queue_group_properties_t> groups(count);
  for (auto& group : groups) group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  check(npu.loader->zeDeviceGetCommandQueueGroupProperties(npu.device, &count, groups.data()),
        "zeDeviceGetCommandQueueGroupProperties");
  for (std::uint32_t ordinal = 0; ordinal < count; ++ordinal) {
    if (groups[ordinal].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) return ordinal;
  }
  throw Error(ErrorCode::kUnsupported,
              base::text(npu.name(), " has no compute queue group among its ", count));
}

}  // namespace npu::ze
