#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <npucore/export.hpp>
#include <npucore/properties.hpp>

namespace npu {

enum class DeviceKind {
  kAuto,      ///< a real NPU, else the software NPU with one warning
  kNpu,       ///< a real NPU, else an error that lists what is missing
  kSoftware,  ///< the software NPU
};

NPU_API const char* to_string(DeviceKind kind);
NPU_API DeviceKind device_kind_from_string(const std::string& name);  ///< "auto", "npu", "software"

struct Version {
  std::uint32_t major = 0, minor = 0, patch = 0;
  bool operator==(const Version&) const = default;
};

struct DeviceInfo {
  std::string name;  ///< as the driver gives it
  bool is_software = false;
  std::string platform;  ///< "3720", "4000", "5010", "5020"; empty when the PCI id is unknown
  std::uint32_t pci_device_id = 0;
  std::string pci_address;  ///< "0000:00:0b.0"
  std::uint32_t tiles = 0;
  std::uint32_t driver_version = 0;
  std::string driver_library;  ///< path of the driver that the loader opened, where it can be told
  std::string loader_version;
  Version graph_extension;
  Version compiler;                ///< 0.0 when the driver has no compiler: blobs only
  std::uint32_t newest_opset = 0;  ///< of OpenVINO's operators that the compiler knows
  Version blob_elf;      ///< ELF version the driver reads; 0.0.0 before graph extension 1.6
  Version blob_runtime;  ///< mapped-inference version of the firmware; 0.0.0 before 1.6
  std::uint64_t memory_bytes = 0;
  std::vector<std::string> extensions;  ///< the driver's, "<name> 1.12"
};

/// Memory that the device can use, in bytes.
struct DeviceMemory {
  std::uint64_t total_bytes = 0;
  std::uint64_t allocated_bytes = 0;  ///< by this process's context
};

/// Where the DMA-BUF behind a tensor comes from.
enum class DmabufSource {
  kNone,      ///< the memory is no DMA-BUF
  kDriver,    ///< driver memory that is exported
  kUdmabuf,   ///< made by /dev/udmabuf, imported
  kDmaHeap,   ///< made by /dev/dma_heap/system, imported
  kProducer,  ///< someone else's, imported
};

/// "none", "driver", "udmabuf", "dma-heap", "producer"
NPU_API const char* to_string(DmabufSource source);

/// One step of looking for a device, or for a way to share memory.
struct Finding {
  bool ok = false;
  std::string what;    ///< "device node", "udmabuf"
  std::string detail;  ///< what was found, with paths and numbers
  std::string cure;    ///< what to do next; empty when ok
};

namespace internal {
struct DeviceState;
}

/// An opened NPU. Copies share it; opening the same kind again in a process gives the same context.
class NPU_API Device {
 public:
  static Device open(DeviceKind kind = DeviceKind::kAuto);
  ~Device();
  Device(const Device&);
  Device(Device&&) noexcept;
  Device& operator=(const Device&);
  Device& operator=(Device&&) noexcept;

  const DeviceInfo& info() const;
  DeviceMemory memory() const;
  /// How much of the time since the last call (of any Device of the same NPU) the engines have
  /// computed, for whichever process: 0 to 1. The first call begins to count and gives 0. Throws
  /// Error(kUnsupported) where loader or driver do not tell.
  double utilization() const;

  /// A property's value. Throws Error(kInvalidArgument) with the near names for an unknown one, and
  /// Error(kUnsupported) for one that only a compiled model has.
  std::string get_property(const std::string& name) const;
  template <class T>
  T get_property(Property<T> property) const {
    return property_value<T>(get_property(std::string(property.name)));
  }
  /// For everything that is compiled or loaded on this device from now on, unless its own options
  /// say otherwise; every Device of the same context has it. Throws like Properties::set().
  void set_property(const std::string& name, const std::string& value);
  template <class T>
  void set_property(Property<T> property, const std::type_identity_t<T>& value) {
    set_property(std::string(property.name), property_text(value));
  }
  /// What was set so far.
  Properties properties() const;

  /// Where Tensor::allocate_shareable() takes its DMA-BUFs from; kNone where it cannot. The first
  /// call tries with one page, later ones ask nobody.
  DmabufSource shareable_memory() const;
  /// Driver, udmabuf and dma-heap, in the order in which they are tried, and why one does not work.
  std::vector<Finding> dmabuf_sources() const;

  /// Level Zero's context handle, for calls that npucore does not offer. Borrowed.
  void* native_context() const;

  const std::shared_ptr<internal::DeviceState>& state() const { return state_; }

 private:
  explicit Device(std::shared_ptr<internal::DeviceState> state);
  std::shared_ptr<internal::DeviceState> state_;
};

/// Looks for a real NPU step by step: device node, permission, driver library, loader, device.
/// Never throws for a missing part, opens no device.
NPU_API std::vector<Finding> diagnose();

}  // namespace npu
