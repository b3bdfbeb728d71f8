// Runs the producers that can run here and writes which way their frames went, as JSON.
//
// usage: produce-table [--devices]    --devices: only those that need a device, else only the
// others
#include <gst/gst.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "support/temp_dir.hpp"
#include "support/tiny_ir.hpp"

#include "producer.hpp"

namespace {

using npu::test::Producer;
using npu::test::ProducerRun;

std::string version() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return std::to_string(major) + "." + std::to_string(minor);
}

/// A cell of the table; empty where this machine cannot say.
std::string way_of(const ProducerRun& run) {
  if (run.lacks_device) return {};
  if (run.lacks_element) return "no such element";
  if (!run.not_run.empty()) return "does not run";
  std::string way;
  for (const auto& [name, count] : {std::pair<const char*, guint64>{"offered", run.offered},
                                    {"imported", run.imported},
                                    {"copied", run.copied}}) {
    if (count > 0) {
      way += (way.empty() ? "" : " and ") + std::string(name);
    }
  }
  return way;
}

nlohmann::ordered_json row_of(const Producer& producer, const ProducerRun& run) {
  nlohmann::ordered_json row = {{"producer", producer.name}, {"way", way_of(run)}};
  if (!run.not_run.empty()) {
    row["not_run"] = run.not_run;
  }
  if (!run.not_run.empty()) return row;
  row["frames"] = run.frames;
  row["offered"] = run.offered;
  row["imported"] = run.imported;
  row["imports"] = run.imports;
  row["copied"] = run.copied;
  row["copied_bytes"] = run.copied_bytes;
  row["counted_bytes"] = npu::test::total_bytes(run.our_copies);
  row["copy_reasons"] = run.copy_reasons;
  row["memory"] = run.memory;
  row["caps"] = run.caps;
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const bool devices = argc > 1 && std::string_view(argv[1]) == "--devices";
  const npu::test::TempDir folder;
  const std::string model = folder.write("pixels.xml", npu::test::pixels_ir(16, 16)).string();
  nlohmann::ordered_json result = {{"gstreamer", version()},
                                   {"rows", nlohmann::ordered_json::array()}};
  for (const Producer& producer : npu::test::producers()) {
    if (producer.needs_device != devices) continue;
    std::cerr << producer.name << std::endl;
    result["rows"].push_back(row_of(producer, run(producer, {model, false})));
  }
  std::cout << result.dump(1) << std::endl;
  return 0;
}
