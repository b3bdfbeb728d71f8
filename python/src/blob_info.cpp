#include <npucore/compiled_model.hpp>

#include "binding.hpp"
#include "device.hpp"

namespace pynpu {
namespace {

using npu::BlobInfo;

nb::list sections_of(const BlobInfo& info) {
  nb::list sections;
  for (const npu::BlobSection& section : info.sections) {
    sections.append(nb::make_tuple(section.name, section.type, section.offset, section.size_bytes));
  }
  return sections;
}

nb::object frame_of(const BlobInfo& info) {
  return info.frame_input ? nb::cast(info.frame_input->preprocess.frame) : nb::none();
}

}  // namespace

void bind_blob_info(nb::module_& module) {
  const auto version = [](npu::Version BlobInfo::*field) {
    return [field](const BlobInfo& info) { return tuple_of(info.*field); };
  };
  nb::class_<BlobInfo>(module, "BlobInfo",
                       "The facts that a blob's file holds. Versions are (major, minor, patch). "
                       "Empty or 0: it does not tell.")
      .def_ro("writer", &BlobInfo::writer, "'OpenVINO 2026.4.1', 'npucore'; empty: a bare ELF.")
      .def_ro("file_bytes", &BlobInfo::file_bytes)
      .def_ro("native_bytes", &BlobInfo::native_bytes, "Of the driver's own blob in it.")
      .def_ro("platform", &BlobInfo::platform, "It was built for: '3720', '4000', ...")
      .def_prop_ro("compiler", version(&BlobInfo::compiler))
      .def_prop_ro("elf", version(&BlobInfo::elf))
      .def_prop_ro("runtime", version(&BlobInfo::runtime))
      .def_ro("driver_version", &BlobInfo::driver_version)
      .def_ro("tiles", &BlobInfo::tiles, "A device with fewer refuses it.")
      .def_ro("requirements", &BlobInfo::requirements,
              "RUNTIME_REQUIREMENTS, for Device.check_compatibility().")
      .def_prop_ro("sections", &sections_of, "(name, type, offset, bytes) of each, of its ELF.")
      .def_ro("model_name", &BlobInfo::model_name, "This and the rest: if npucore wrote it.")
      .def_prop_ro("inputs", [](const BlobInfo& info) { return info.inputs; })
      .def_prop_ro("outputs", [](const BlobInfo& info) { return info.outputs; })
      .def_prop_ro("frame", &frame_of, "The Frame that its image input takes, or None.")
      .def_prop_ro("model_info", [](const BlobInfo& info) { return info.model_info; })
      .def("__repr__", [](const BlobInfo& info) {
        return "<npucore.BlobInfo " + info.writer + " for " + info.platform + ">";
      });
  module.def(
      "read_blob_info",
      [](const std::filesystem::path& path) {
        return without_gil([&] { return npu::read_blob_info(path); });
      },
      nb::arg("path"), "Reads what a blob's file tells of itself, without a device.");
}

}  // namespace pynpu
