// The versions that the driver acts as, of its graph extension and of its compiler. Both come from
// the environment, to test clients of older drivers.
#pragma once

#include <cstdint>
#include <string>

namespace softnpu {

/// Version of the driver itself.
constexpr uint16_t kDriverMajor = 1;
constexpr uint16_t kDriverMinor = 0;
constexpr uint32_t kDriverVersion = (uint32_t{kDriverMajor} << 16) | kDriverMinor;

/// Minor versions of the graph extension, 1.<minor>.
constexpr uint32_t kOldestGraphMinor = 5;
constexpr uint32_t kNewestGraphMinor = 16;

struct CompilerVersion {
  uint16_t major;
  uint16_t minor;

  constexpr bool at_least(uint32_t other_major, uint32_t other_minor) const {
    return major != other_major ? major > other_major : minor >= other_minor;
  }
  std::string text() const { return std::to_string(major) + "." + std::to_string(minor); }
};

constexpr CompilerVersion kDefaultCompiler{8, 4};
/// The newest of OpenVINO's opsets that the compiler knows.
constexpr uint32_t kNewestOpset = 11;

/// Version of the runtime of native binaries: on hardware the firmware, here OpenVINO.
struct RuntimeVersion {
  uint32_t major;
  uint32_t minor;
  uint32_t patch;

  /// A binary of another major or a newer minor version cannot run.
  constexpr bool runs(const RuntimeVersion& binary) const {
    return binary.major == major && binary.minor <= minor;
  }
  std::string text() const {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }
};

uint32_t graph_minor();
/// Whether the graph extension is 1.<minor> or newer.
bool graph_has(uint32_t minor);
CompilerVersion compiler_version();
/// The device's platform, as NPU_PLATFORM names it.
uint32_t platform_number();

}  // namespace softnpu
