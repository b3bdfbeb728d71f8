#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <npucore/device.hpp>

namespace npu::internal {

/// Places of the parts of a real NPU; tests have others.
struct SystemPaths {
  std::filesystem::path nodes = "/dev/accel";
  std::filesystem::path classes = "/sys/class/accel";
  std::vector<std::string> driver_libraries = {"libze_intel_npu.so.1", "libze_intel_vpu.so.1"};
  std::string loader;  ///< empty: ze::Loader::default_library()
};

/// The steps that need no driver to run: device node, permission, driver library, loader.
struct Diagnosis {
  std::vector<Finding> findings;
  std::string driver_library;  ///< the one found, by its name

  /// Whether asking the loader for an NPU makes sense.
  bool real_npu_possible() const;
};
Diagnosis diagnose_parts(const SystemPaths& paths);

/// The findings that are not ok, one line each: "device node: ...; cure".
std::string describe_missing(const std::vector<Finding>& findings);

/// The first finding that is not ok: "device node: ...". Empty if all are ok.
std::string first_missing(const std::vector<Finding>& findings);

}  // namespace npu::internal
