#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <npucore/device.hpp>

#include "ze_npu/ze_npu.h"

#include "loader.hpp"

namespace npu::ze {

/// An NPU that a driver offers. The driver owns the handles: nothing to destroy.
struct NpuDevice {
  const Loader* loader = nullptr;
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_device_properties_t properties = {};
  std::uint32_t driver_version = 0;
  std::map<std::string, std::uint32_t> extensions;  ///< name -> version word

  std::string name() const { return properties.name; }
  /// Whether it is the software NPU: its name begins with "Software NPU".
  bool is_software() const;
  bool is_integrated() const;
  /// "3720", "4000", ...; empty for an unknown PCI id.
  std::string platform() const;
  /// 0 if the driver does not have the extension.
  std::uint32_t extension_version(const std::string& extension_name) const;
  /// Whether the driver has the extension in this version or a later one of the same major.
  bool has_extension(const std::string& extension_name, std::uint32_t major,
                     std::uint32_t minor) const;
  /// Whether it imports a memfd as if it were a DMA-BUF, an option of the software NPU only.
  bool imports_memfd() const;
  /// The table of an extension. Null if the driver does not advertise it.
  const void* extension_table(const std::string& extension_name) const;
  /// "<name> <major>.<minor>" of each extension.
  std::vector<std::string> extension_lines() const;
};

/// A version word of extensions and compilers: (major << 16) | minor.
Version version_of(std::uint32_t word);
std::uint32_t version_word(const Version& version);

/// Every device of type VPU whose driver has the graph extension. `problem` takes the call that was
/// refused while looking.
std::vector<NpuDevice> find_npus(const Loader& loader,
                                 const std::vector<ze_driver_handle_t>& drivers,
                                 std::string& problem);

/// The device's UUID as 32 hexadecimal digits, in the order of its bytes.
std::string uuid(const NpuDevice& npu);

/// "0000:00:0b.0"; empty if the driver does not tell.
std::string pci_address(const NpuDevice& npu);

/// The ordinal of the first queue group that computes. Throws Error(kUnsupported) if none does.
std::uint32_t compute_queue_ordinal(const NpuDevice& npu);

}  // namespace npu::ze
