#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device_impl.hpp"
#include "diagnosis.hpp"

namespace npu::internal {

/// The loader and the contexts of this process. The loader reads its driver list once, when it is
/// first asked for a driver, so the first open decides which drivers there are.
class Runtime {
 public:
  static Runtime& instance();

  explicit Runtime(SystemPaths paths) : paths_(std::move(paths)) {}
  std::shared_ptr<Device::Impl> open(DeviceKind kind);
  /// `address`: a PCI address or a UUID.
  std::shared_ptr<Device::Impl> open(const std::string& address);
  std::vector<DeviceInfo> list();
  std::vector<Finding> diagnose();
  /// The platform of each NPU found; "unknown" for an unknown PCI id.
  std::vector<std::string> platforms();

 private:
  void start(DeviceKind kind);
  void start_again_with_software();
  void bind_drivers() const;
  void look_for_devices();
  std::string named_drivers() const;
  std::vector<std::string> expected_drivers() const;
  bool some_driver_is_loaded() const;
  void look_again();
  std::string loader_library() const;
  std::string drivers_for(DeviceKind kind) const;
  std::optional<std::size_t> find(bool software) const;
  std::shared_ptr<Device::Impl> open_context(std::size_t index);
  std::shared_ptr<Device::Impl> open_kind(DeviceKind kind);
  std::shared_ptr<Device::Impl> open_software_instead(std::size_t index, const std::string& why);
  std::vector<DeviceInfo> infos() const;
  std::vector<Finding> all_findings() const;
  std::string no_npu() const;
  std::string no_software_npu() const;

  const SystemPaths paths_;
  std::mutex mutex_;  // guards everything below
  Diagnosis diagnosis_;
  std::unique_ptr<const ze::Loader> loader_;           ///< set once it was asked for drivers
  std::vector<ze::NpuDevice> npus_;                    ///< real ones first
  std::vector<std::weak_ptr<Device::Impl>> contexts_;  ///< of npus_, by index
  std::string drivers_;                                ///< for the loader; empty: its own list
  std::string start_error_;                            ///< why the loader gave no driver
  bool users_choice_ = false;  ///< the user told the loader which drivers to open
  bool warned_ = false;
};

/// The software NPU's driver: the environment variable NPUCORE_SOFTNPU, else one near this library.
/// Empty if there is none.
std::string software_npu_library();

}  // namespace npu::internal
