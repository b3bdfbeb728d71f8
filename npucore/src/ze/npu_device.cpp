#include "ze/npu_device.hpp"

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "ze/result.hpp"

namespace npu::ze {
namespace {

std::map<std::string, std::uint32_t> extensions_of(const Loader& loader,
                                                   ze_driver_handle_t driver) {
  std::uint32_t count = 0;
  std::vector<ze_driver_extension_properties_t> list;
  if (loader.zeDriverGetExtensionProperties(driver, &count, nullptr) == ZE_RESULT_SUCCESS) {
    list.resize(count);
    if (loader.zeDriverGetExtensionProperties(driver, &count, list.data()) != ZE_RESULT_SUCCESS)
      list.clear();
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

std::vector<ze_device_handle_t> devices_of(const Loader& loader, ze_driver_handle_t driver) {
  std::uint32_t count = 0;
  std::vector<ze_device_handle_t> devices;
  if (loader.zeDeviceGet(driver, &count, nullptr) != ZE_RESULT_SUCCESS) return devices;
  devices.resize(count);
  if (loader.zeDeviceGet(driver, &count, devices.data()) != ZE_RESULT_SUCCESS) count = 0;
  devices.resize(count);
  return devices;
}

void append_npus(const NpuDevice& driver, std::vector<NpuDevice>& npus) {
  for (ze_device_handle_t device : devices_of(*driver.loader, driver.driver)) {
    NpuDevice npu = driver;
    npu.device = device;
    npu.properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (npu.loader->zeDeviceGetProperties(device, &npu.properties) == ZE_RESULT_SUCCESS &&
        npu.properties.type == ZE_DEVICE_TYPE_VPU)
      npus.push_back(std::move(npu));
  }
}

}  // namespace

bool NpuDevice::is_software() const {
  return name().rfind("Software NPU", 0) == 0;
}

std::uint32_t NpuDevice::extension_version(const std::string& extension_name) const {
  const auto found = extensions.find(extension_name);
  return found == extensions.end() ? 0 : found->second;
}

bool NpuDevice::has_extension(const std::string& extension_name, std::uint32_t major,
                              std::uint32_t minor) const {
  return ze_npu_version_has(extension_version(extension_name), major, minor);
}

const void* NpuDevice::extension_table(const std::string& extension_name) const {
  if (extensions.count(extension_name) == 0) return nullptr;
  void* table = nullptr;
  const ze_result_t result =
      loader->zeDriverGetExtensionFunctionAddress(driver, extension_name.c_str(), &table);
  return result == ZE_RESULT_SUCCESS ? table : nullptr;
}

std::vector<NpuDevice> find_npus(const Loader& loader,
                                 const std::vector<ze_driver_handle_t>& drivers) {
  std::vector<NpuDevice> npus;
  for (ze_driver_handle_t handle : drivers) {
    NpuDevice driver;
    driver.loader = &loader;
    driver.driver = handle;
    driver.extensions = extensions_of(loader, handle);
    driver.driver_version = driver_version_of(loader, handle);
    if (driver.has_extension(ZE_GRAPH_EXT_NAME, 1, 0)) append_npus(driver, npus);
  }
  return npus;
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
  for (std::uint32_t ordinal = 0; ordinal < count; ++ordinal)
    if (groups[ordinal].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) return ordinal;
  throw Error(ErrorCode::kUnsupported,
              base::text(npu.name(), " has no queue group that computes, of ", count));
}

}  // namespace npu::ze
