#include "report.hpp"

#include <cstdio>
#include <sstream>

#include <npucore/error.hpp>

namespace {

using nlohmann::ordered_json;

bool has_compiler(const npu::DeviceInfo& info) {
  return info.compiler.major != 0 || info.compiler.minor != 0;
}

std::string pci_id(const npu::DeviceInfo& info) {
  char text[16] = {};
  std::snprintf(text, sizeof(text), "8086:%04x", info.pci_device_id);
  return text;
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? "unknown" : text;
}

ordered_json device_json(const npu::DeviceInfo& info) {
  ordered_json json;
  json["name"] = info.name;
  json["software"] = info.is_software;
  json["platform"] = info.platform;
  json["pci_id"] = pci_id(info);
  json["pci_address"] = info.pci_address;
  json["uuid"] = info.uuid;
  json["tiles"] = info.tiles;
  json["memory_bytes"] = info.memory_bytes;
  json["driver_version"] = info.driver_version;
  json["driver_library"] = info.driver_library;
  json["loader_version"] = info.loader_version;
  json["graph_extension"] = dotted(info.graph_extension, false);
  json["compiler"] = has_compiler(info) ? ordered_json(dotted(info.compiler, false)) : nullptr;
  json["blob_elf"] = dotted(info.blob_elf, true);
  json["blob_runtime"] = dotted(info.blob_runtime, true);
  json["extensions"] = info.extensions;
  return json;
}

void line(std::ostream& out, const char* label, const std::string& value) {
  char padded[32] = {};
  std::snprintf(padded, sizeof(padded), "  %-16s", label);
  out << padded << value << '\n';
}

void print_device(std::ostream& out, const npu::DeviceInfo& info) {
  out << info.name << (info.is_software ? " (no hardware: runs on the CPU)\n" : "\n");
  line(out, "platform", or_unknown(info.platform) + ", " + std::to_string(info.tiles) + " tiles");
  line(out, "PCI", pci_id(info) + " at " + or_unknown(info.pci_address));
  line(out, "UUID", info.uuid);
  line(out, "memory", std::to_string(info.memory_bytes >> 20) + " MiB");
  line(out, "driver", std::to_string(info.driver_version) + ", " + or_unknown(info.driver_library));
  line(out, "loader", or_unknown(info.loader_version));
  line(out, "graph extension", dotted(info.graph_extension, false));
  line(out, "compiler", has_compiler(info) ? dotted(info.compiler, false) : "none: blobs only");
  line(out, "blobs",
       "ELF " + dotted(info.blob_elf, true) + ", runtime " + dotted(info.blob_runtime, true));
  for (std::size_t index = 0; index < info.extensions.size(); ++index) {
    line(out, index == 0 ? "extensions" : "", info.extensions[index]);
  }
}

void print_findings(std::ostream& out, const std::vector<npu::Finding>& findings,
                    const char* not_ok) {
  for (const auto& finding : findings) {
    line(out, finding.what.c_str(), (finding.ok ? "ok: " : not_ok) + finding.detail);
    if (!finding.cure.empty()) {
      line(out, "", "-> " + finding.cure);
    }
  }
}

ordered_json findings_json(const std::vector<npu::Finding>& findings) {
  ordered_json json = ordered_json::array();
  for (const auto& finding : findings) {
    json.push_back({{"what", finding.what},
                    {"ok", finding.ok},
                    {"detail", finding.detail},
                    {"cure", finding.cure}});
  }
  return json;
}

}  // namespace

std::string dotted(const npu::Version& version, bool with_patch) {
  std::string text = std::to_string(version.major) + '.' + std::to_string(version.minor);
  if (with_patch) {
    text += '.' + std::to_string(version.patch);
  }
  return text;
}

Report make_report(const std::string& device_name) {
  Report report;
  // Opened first: looking for a real NPU may start the driver loader without the software NPU.
  try {
    const npu::Device device = npu::Device::open(device_name);
    report.device = device.info();
    report.dmabuf_sources = device.dmabuf_sources();
  } catch (const npu::Error& error) {
    report.error = error.what();
  }
  report.findings = npu::diagnose();
  return report;
}

ordered_json to_json(const Report& report) {
  ordered_json json;
  json["device"] = report.device ? device_json(*report.device) : ordered_json(nullptr);
  json["error"] = report.error.empty() ? ordered_json(nullptr) : ordered_json(report.error);
  json["looking_for_an_npu"] = findings_json(report.findings);
  json["dmabuf_sources"] = findings_json(report.dmabuf_sources);
  return json;
}

std::string to_text(const Report& report) {
  std::ostringstream out;
  if (report.device) {
    print_device(out, *report.device);
    out << "Sources of DMA-BUFs that other devices can fill (the first that works is used):\n";
    print_findings(out, report.dmabuf_sources, "no: ");
  }
  if (!report.device || report.device->is_software) {
    out << "Looking for an NPU in this machine:\n";
    print_findings(out, report.findings, "MISSING: ");
  }
  if (!report.device) {
    out << report.error << '\n';
  }
  return out.str();
}
