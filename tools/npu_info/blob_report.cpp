#include "blob_report.hpp"

#include <cstdio>
#include <sstream>

#include <npuvision/model_card.hpp>

#include "port_report.hpp"
#include "report.hpp"

namespace {

using nlohmann::ordered_json;

bool is_known(const npu::Version& version) {
  return version.major != 0 || version.minor != 0 || version.patch != 0;
}

ordered_json version_json(const npu::Version& version, bool with_patch) {
  return is_known(version) ? ordered_json(dotted(version, with_patch)) : ordered_json(nullptr);
}

void print_versions(std::ostream& out, const npu::BlobInfo& blob) {
  const auto print = [&out](const char* label, const std::string& value) {
    out << "  " << label << value << '\n';
  };
  if (!blob.platform.empty()) {
    print("platform  ", blob.platform);
  }
  if (blob.tiles != 0) {
    print("tiles     ", std::to_string(blob.tiles));
  }
  if (is_known(blob.compiler)) {
    print("compiler  ", dotted(blob.compiler, false));
  }
  if (is_known(blob.elf)) {
    print("ELF       ", dotted(blob.elf, true));
  }
  if (is_known(blob.runtime)) {
    print("runtime   ", dotted(blob.runtime, true));
  }
  if (blob.driver_version != 0) {
    print("driver    ", std::to_string(blob.driver_version));
  }
}

void print_section(std::ostream& out, const npu::BlobSection& section) {
  char text[160] = {};
  std::snprintf(text, sizeof(text), "  %-32s type %-10u at %-10llu %llu bytes\n",
                section.name.c_str(), section.type, static_cast<unsigned long long>(section.offset),
                static_cast<unsigned long long>(section.size_bytes));
  out << text;
}

}  // namespace

ordered_json to_json(const npu::BlobInfo& blob) {
  ordered_json json;
  json["writer"] = blob.writer.empty() ? ordered_json(nullptr) : ordered_json(blob.writer);
  json["file_bytes"] = blob.file_bytes;
  json["native_bytes"] = blob.native_bytes;
  json["model"] = blob.model_name.empty() ? ordered_json(nullptr) : ordered_json(blob.model_name);
  json["platform"] = blob.platform.empty() ? ordered_json(nullptr) : ordered_json(blob.platform);
  json["tiles"] = blob.tiles == 0 ? ordered_json(nullptr) : ordered_json(blob.tiles);
  json["compiler"] = version_json(blob.compiler, false);
  json["elf"] = version_json(blob.elf, true);
  json["runtime"] = version_json(blob.runtime, true);
  json["driver_version"] = blob.driver_version;
  json["requirements"] = blob.requirements;
  json["inputs"] = ports_json(blob.inputs);
  json["outputs"] = ports_json(blob.outputs);
  json["frame"] = blob.frame_input ? ordered_json(blob.frame_input->preprocess.frame.describe())
                                   : ordered_json(nullptr);
  json["model_info"] = blob.model_info;
  json["sections"] = ordered_json::array();
  for (const auto& section : blob.sections) {
    json["sections"].push_back({{"name", section.name},
                                {"type", section.type},
                                {"offset", section.offset},
                                {"bytes", section.size_bytes}});
  }
  return json;
}

std::string to_text(const npu::BlobInfo& blob) {
  std::ostringstream out;
  out << "  writer  " << (blob.writer.empty() ? "unknown: a bare ELF" : blob.writer) << '\n';
  out << "  size    " << blob.file_bytes << " bytes, of which the driver reads "
      << blob.native_bytes << '\n';
  print_versions(out, blob);
  if (!blob.model_name.empty()) {
    out << "  model   " << blob.model_name << '\n';
  }
  print_ports(out, "input ", blob.inputs);
  print_ports(out, "output", blob.outputs);
  if (blob.frame_input) {
    out << "  frame   " << blob.frame_input->preprocess.frame.describe() << '\n';
  }
  for (const auto& [key, value] : blob.model_info) {
    if (key == npu::vision::kCardKey) continue;  // its content is shown elsewhere
    out << "  info    " << key << " = " << value << '\n';
  }
  out << "sections of the ELF:\n";
  for (const auto& section : blob.sections) print_section(out, section);
  return out.str();
}
