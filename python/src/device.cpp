#include "device.hpp"

#include <nanobind/operators.h>

#include "properties.hpp"

namespace pynpu {
namespace {

using namespace nb::literals;

void bind_info(nb::module_& module) {
  using Info = npu::DeviceInfo;
  const auto version = [](npu::Version Info::*field) {
    return [field](const Info& info) { return tuple_of(info.*field); };
  };
  nb::class_<Info>(module, "DeviceInfo",
                   "Facts about a device. Versions are (major, minor, patch).")
      .def_ro("name", &Info::name, "As the driver gives it.")
      .def_ro("is_software", &Info::is_software, "Whether it is the software NPU.")
      .def_ro("platform", &Info::platform, "'3720', '4000', ...; empty: not known.")
      .def_ro("pci_device_id", &Info::pci_device_id)
      .def_ro("pci_address", &Info::pci_address, "'0000:00:0b.0'")
      .def_ro("uuid", &Info::uuid, "32 hexadecimal digits; Intel's drivers give all NPUs the same.")
      .def_ro("tiles", &Info::tiles)
      .def_ro("driver_version", &Info::driver_version)
      .def_ro("driver_library", &Info::driver_library, "Path of the driver; empty: not known.")
      .def_ro("loader_version", &Info::loader_version)
      .def_ro("newest_opset", &Info::newest_opset, "Of OpenVINO's operators.")
      .def_ro("memory_bytes", &Info::memory_bytes)
      .def_ro("extensions", &Info::extensions)
      .def_prop_ro("graph_extension", version(&Info::graph_extension))
      .def_prop_ro("compiler", version(&Info::compiler), "(0, 0, 0): it has none, only blobs run.")
      .def_prop_ro("blob_elf", version(&Info::blob_elf))
      .def_prop_ro("blob_runtime", version(&Info::blob_runtime))
      .def("__repr__", [](const Info& info) { return "<npucore.DeviceInfo " + info.name + ">"; });
}

void bind_finding(nb::module_& module) {
  using npu::Finding;
  nb::class_<Finding>(module, "Finding",
                      "One step of looking for a device or a way to share memory.")
      .def_ro("ok", &Finding::ok)
      .def_ro("what", &Finding::what, "'device node', 'udmabuf', ...")
      .def_ro("detail", &Finding::detail, "What was found.")
      .def_ro("cure", &Finding::cure, "What to do next; empty when ok.")
      .def("__repr__", [](const Finding& finding) {
        return "<npucore.Finding " + finding.what + (finding.ok ? ": ok>" : ": missing>");
      });
  module.def("diagnose", &npu::diagnose, nb::call_guard<nb::gil_scoped_release>(),
             "Looks for a real NPU step by step: device node, permission, driver, loader, device.");
}

/// A hint for the error where the software NPU cannot be had.
std::string prepare_software() {
  return nb::cast<std::string>(nb::module_::import_("npucore._software").attr("prepare")());
}

}  // namespace

nb::tuple tuple_of(const npu::Version& version) {
  return nb::make_tuple(version.major, version.minor, version.patch);
}

npu::Device open_device(const std::string& name) {
  const std::string hint = name == "npu" ? "" : prepare_software();
  try {
    return without_gil([&] { return npu::Device::open(name); });
  } catch (const npu::Error& error) {
    if (hint.empty() || error.code() != npu::ErrorCode::kNotFound) throw;
    throw npu::Error(error.code(), error.what() + hint, error.driver_log(), error.next_step());
  }
}

npu::Device device_from(nb::handle device) {
  if (device.is_none()) return open_device("auto");
  if (nb::isinstance<nb::str>(device)) return open_device(nb::cast<std::string>(device));
  return nb::cast<npu::Device>(device);
}

void bind_device(nb::module_& module) {
  bind_info(module);
  bind_finding(module);
  using npu::Device;
  module.def(
      "list_devices",
      [] {
        (void)prepare_software();
        return without_gil([] { return Device::list(); });
      },
      "DeviceInfo of all that this process can open, real NPUs first, without opening any.");
  nb::class_<Device>(
      module, "Device",
      "An opened NPU. Devices that a process opens for one NPU share one context.\n\n"
      "Device('auto') is a real NPU, else the software NPU; Device('npu') and "
      "Device('software') are just these; Device('0000:00:0b.0') is the NPU at that PCI address, "
      "or with that UUID.")
      .def(
          "__init__",
          [](Device* self, const std::string& name) { new (self) Device(open_device(name)); },
          "name"_a = "auto")
      .def_prop_ro("info", &Device::info, nb::rv_policy::copy)
      .def_prop_ro("name", [](const Device& device) { return device.info().name; })
      .def_prop_ro("is_software", [](const Device& device) { return device.info().is_software; })
      .def_prop_ro(
          "properties", [](const Device& device) { return PropertyMap(device); },
          "A mapping of names to values. What is set is the default of every model from now on.")
      .def_prop_ro(
          "memory",
          [](const Device& device) {
            const auto memory = without_gil([&] { return device.memory(); });
            return nb::make_tuple(memory.total_bytes, memory.allocated_bytes);
          },
          "(total, allocated) bytes; allocated: by this process.")
      .def(
          "utilization",
          [](const Device& device) { return without_gil([&] { return device.utilization(); }); },
          "The share of time, 0 to 1, that the engines were computing since the last call. The "
          "first gives 0.")
      .def(
          "check_compatibility",
          [](const Device& device, const std::string& requirements) {
            return without_gil(
                [&] { return device.get_property("COMPATIBILITY_CHECK", requirements); });
          },
          "requirements"_a,
          "Whether a model runs here: 'SUPPORTED', 'UNSUPPORTED' or 'NOT_APPLICABLE' (the text "
          "says "
          "nothing to compare). requirements: the property RUNTIME_REQUIREMENTS of a compiled "
          "model, also OpenVINO's, or read_blob_info(path).requirements.")
      .def("dmabuf_sources", &Device::dmabuf_sources, nb::call_guard<nb::gil_scoped_release>(),
           "The sources of memory that other devices can share, and why one does not work.")
      .def("__eq__",
           [](const Device& left, nb::handle right) {
             return nb::isinstance<Device>(right) && left == nb::cast<const Device&>(right);
           })
      .def("__hash__",
           [](const Device& device) { return std::hash<void*>()(device.native_context()); })
      .def("__repr__",
           [](const Device& device) { return "<npucore.Device " + device.info().name + ">"; });
}

}  // namespace pynpu
