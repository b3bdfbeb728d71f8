#pragma once

#include <memory>
#include <utility>

#include <npucore/properties.hpp>

namespace npu {

/// kNpu: a real NPU, else an error that lists what is missing. kAuto: a real NPU, else the software
/// NPU with one warning.
enum class DeviceKind { kAuto, kNpu, kSoftware };
NPU_API const char* to_string(DeviceKind kind);
NPU_API DeviceKind device_kind_from_string(const std::string& name);  ///< "auto", "npu", "software"

struct Version {
  std::uint32_t major = 0, minor = 0, patch = 0;
  bool operator==(const Version&) const = default;
};

struct DeviceInfo {
  std::string name;  ///< as the driver gives it
  bool is_software = false;
  std::string platform;  ///< "3720", "4000", ...; empty if the PCI id is unknown
  std::uint32_t pci_device_id = 0;
  std::string pci_address;  ///< "0000:00:0b.0"
  std::string uuid;         ///< 32 hexadecimal digits; Intel's drivers give all NPUs the same one
  std::uint32_t tiles = 0;
  std::uint32_t driver_version = 0;
  std::string driver_library;  ///< path of the driver that the loader opened; empty if unknown
  std::string loader_version;
  Version graph_extension;
  Version compiler;                ///< 0.0 if the driver has none: blobs only
  std::uint32_t newest_opset = 0;  ///< of OpenVINO's operators known to the compiler
  Version blob_elf;      ///< ELF version that the driver reads; 0.0.0 before graph extension 1.6
  Version blob_runtime;  ///< mapped-inference version of the firmware; 0.0.0 before 1.6
  std::uint64_t memory_bytes = 0;       ///< by list(), of a device not open: largest allocation
  std::vector<std::string> extensions;  ///< the driver's, "<name> 1.12"
};

/// Memory that the device can use.
struct DeviceMemory {
  std::uint64_t total_bytes = 0, allocated_bytes = 0;  ///< allocated: by this process's context
};

/// The maker of the DMA-BUF behind a tensor. kNone: it is no DMA-BUF. kDriver: the driver exported
/// it. The others are imported, from /dev/udmabuf, /dev/dma_heap/system or another producer.
enum class DmabufSource { kNone, kDriver, kUdmabuf, kDmaHeap, kProducer };
/// "none", "driver", "udmabuf", "dma-heap", "producer"
NPU_API const char* to_string(DmabufSource source);

/// One step of looking for a device, or for a way to share memory.
struct Finding {
  bool ok = false;
  std::string what;    ///< "device node", "udmabuf"
  std::string detail;  ///< what was found, with paths and numbers
  std::string cure;    ///< what to do next; empty when ok
};
/// Looks for a real NPU step by step: device node, permission, driver library, loader, device.
/// Opens no device, and throws nothing for a missing part.
NPU_API std::vector<Finding> diagnose();

/// An opened NPU. Copies share one context, as do all Devices that a process opens for one NPU.
class NPU_API Device {
 public:
  struct Impl;
  static Device open(DeviceKind kind = DeviceKind::kAuto);
  /// The device of a name: "auto", "npu", "software", or a PCI address ("0000:00:0b.0") or UUID,
  /// which means a real NPU, else the software NPU with one warning. Throws Error(kNotFound) that
  /// lists them all.
  static Device open(const std::string& name);
  /// All that this process can open, real NPUs first, without opening any; empty: see diagnose().
  /// The software NPU is missing if the process opened a real NPU before it was asked for.
  static std::vector<DeviceInfo> list();
  const DeviceInfo& info() const;
  DeviceMemory memory() const;
  /// The share of time, 0 to 1, that the engines were computing, for any process, since the last
  /// call for this NPU; the first gives 0. Error(kUnsupported) if loader or driver cannot tell.
  double utilization() const;

  /// Throws Error(kInvalidArgument), with similar names, for an unknown property, and
  /// Error(kUnsupported) for one that only compiled models have.
  std::string get_property(const std::string& name) const;
  template <class T>
  T get_property(Property<T> property) const;
  /// COMPATIBILITY_CHECK of a model's RUNTIME_REQUIREMENTS, or BlobInfo::requirements, here.
  std::string get_property(const std::string& name, const std::string& requirements) const;
  /// Sets a default for every model compiled or loaded on this NPU from now on; the model's own
  /// options win. Throws like Properties::set().
  void set_property(const std::string& name, const std::string& value);
  template <class T>
  void set_property(Property<T> property, const std::type_identity_t<T>& value);
  void set_property(Property<bool> property, const char* value);  ///< "NO" is not true
  Properties properties() const;                                  ///< what was set so far

  /// The source that Tensor::allocate_shareable() uses, tried out by the first call; kNone: none.
  DmabufSource shareable_memory() const;
  /// Driver, udmabuf and dma-heap in the order in which they are tried, and why one does not work.
  std::vector<Finding> dmabuf_sources() const;
  void* native_context() const;  ///< Level Zero's, for calls that npucore lacks; borrowed
  bool operator==(const Device&) const = default;  ///< whether both share one context

 private:
  friend struct internal::Pimpl;
  explicit Device(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace npu
