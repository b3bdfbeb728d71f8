#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <npucore/device.hpp>

namespace npu::internal {

/// Where the parts of a real NPU are looked for; tests look elsewhere.
struct SystemPaths {
  std::filesystem::path nodes = "/dev/accel";
  std::filesystem::path classes = "/sys/class/accel";
  std::vector<std::string> driver_libraries = {"libze_intel_npu.so.1", "libze_intel_vpu.so.1"};
  std::string loader;  ///< empty: ze::Loader::default_library()
};

/// The steps that need no driver to run: device node, permission, driver library, loader.
struct Diagnosis {
  std::vector<Finding> findings;
  std::string driver_library;  ///< the one that was found, by its name

  /// Whether asking the loader for an NPU makes sense.
  bool real_npu_possible() const;
};
Diagnosis diagnose_parts(const SystemPaths& paths);

/// What is not ok, one line each: "device node: ...; cure".
std::string describe_missing(const std::vector<Finding>& findings);

/// The first that is not ok: "device node: ...". Empty when all are.
std::string first_missing(const std::vector<Finding>& findings);

}  // namespace npu::internal
