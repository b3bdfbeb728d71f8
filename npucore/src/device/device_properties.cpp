#include "device_properties.hpp"

#include <algorithm>
#include <map>

#include <npucore/error.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "properties/property_table.hpp"
#include "properties/property_values.hpp"
#include "ze/device_queries.hpp"
#include "ze/platforms.hpp"
#include "ze/queue.hpp"

#include "requirements.hpp"
#include "runtime.hpp"

namespace npu::internal {
namespace {

using base::text;
using Answer = std::string (*)(const Device::Impl&);

constexpr const char* kCompatibilityCheck = "COMPATIBILITY_CHECK";

std::string names_where(bool (*wanted)(const PropertyInfo&)) {
  std::vector<std::string> names;
  for (const auto& row : property_rows()) {
    if (row.info.of_device && wanted(row.info)) {
      names.push_back(row.info.name);
    }
  }
  return base::join(names, " ");
}

/// Intel's own rule: clock x tiles x operations per tile and clock; f16 has half of i8.
std::string gops(const Device::Impl& device) {
  const auto& properties = device.context()->npu.properties;
  const double clock_ghz = properties.coreClockRate / 1000.0;
  const double i8 = clock_ghz * properties.numSlices * properties.physicalEUSimdWidth;
  return text("f16:", i8 / 2, " i8:", i8, " u8:", i8);
}

std::string compiler_version(const Device::Impl& device) {
  return std::to_string(ze::version_word(device.info.compiler));
}

const std::map<std::string, Answer>& answers() {
  // Never destroyed, as property_rows().
  static const auto* const table = new std::map<std::string, Answer>{
      {"SUPPORTED_CONFIG_KEYS",
       [](const Device::Impl&) {
         return names_where([](const auto& info) { return info.access == Access::kReadWrite; });
       }},
      {"SUPPORTED_METRICS",
       [](const Device::Impl&) {
         return names_where([](const auto& info) { return info.access == Access::kReadOnly; });
       }},
      {"SUPPORTED_PROPERTIES", [](const Device::Impl&) { return supported_properties(false); }},
      {"CACHING_PROPERTIES",
       [](const Device::Impl&) {
         return names_where([](const auto& info) { return info.in_cache_key; });
       }},
      {"CACHE_HEADER_ALIGNMENT", [](const Device::Impl&) { return std::string("4096"); }},
      {"AVAILABLE_DEVICES",
       [](const Device::Impl&) { return base::join(Runtime::instance().platforms(), " "); }},
      {"FULL_DEVICE_NAME", [](const Device::Impl& device) { return device.info.name; }},
      {"DEVICE_UUID", [](const Device::Impl& device) { return device.info.uuid; }},
      {"DEVICE_ARCHITECTURE", [](const Device::Impl& device) { return device.info.platform; }},
      {"DEVICE_TYPE",
       [](const Device::Impl& device) {
         return std::string(device.context()->npu.is_integrated() ? "INTEGRATED" : "DISCRETE");
       }},
      {"DEVICE_GOPS", gops},
      {"DEVICE_PCI_INFO", [](const Device::Impl& device) { return device.info.pci_address; }},
      {"NPU_DEVICE_ALLOC_MEM_SIZE",
       [](const Device::Impl& device) {
         return std::to_string(ze::query_memory(*device.context()).allocated_bytes);
       }},
      {"NPU_DEVICE_TOTAL_MEM_SIZE",
       [](const Device::Impl& device) {
         return std::to_string(ze::query_memory(*device.context()).total_bytes);
       }},
      {"NPU_DRIVER_VERSION",
       [](const Device::Impl& device) { return std::to_string(device.info.driver_version); }},
      {"NPU_COMPILER_VERSION", compiler_version},
      {"OPTIMIZATION_CAPABILITIES",
       [](const Device::Impl&) { return std::string("FP16 INT8 EXPORT_IMPORT"); }},
      {"OPTIMAL_NUMBER_OF_INFER_REQUESTS",
       [](const Device::Impl& device) {
         return std::to_string(optimal_number_of_requests(device.info, device.properties.values()));
       }},
      {"RANGE_FOR_ASYNC_INFER_REQUESTS",
       [](const Device::Impl&) { return text("1,", ze::Queue::kPlaces, ",1"); }},
      {"RANGE_FOR_STREAMS", [](const Device::Impl&) { return text("0,", kMostStreams); }},
      {kCompatibilityCheck, [](const Device::Impl&) { return std::string("NOT_APPLICABLE"); }},
  };
  return *table;
}

void check_device_id(const Device::Impl& device, const Properties& properties) {
  const std::string wanted = properties.get(property::device_id);
  if (wanted.empty() || wanted == device.info.platform) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      text("DEVICE_ID is ", wanted, ", but ", device.info.name, " is ",
           device.info.platform.empty() ? "of no known platform" : "a " + device.info.platform,
           "; leave DEVICE_ID empty to take any"));
}

void bring_into_force(Device::Impl& device, const Properties& properties) {
  check_device_id(device, properties);
  if (properties.is_set(property::log_level)) {
    base::set_log_limit(properties.get(property::log_level));
  }
  if (properties.is_set(property::disable_idle_memory_pruning)) {
    device.set_idle_pruning(!properties.get(property::disable_idle_memory_pruning));
  }
}

}  // namespace

std::string supported_properties(bool of_model) {
  std::vector<std::string> names;
  for (const auto& row : property_rows()) {
    if (of_model ? !row.info.of_model : !row.info.of_device) continue;
    const bool writable =
        row.info.access == Access::kReadWrite && (!of_model || row.info.changeable);
    names.push_back(row.info.name + (writable ? ":RW" : ":RO"));
  }
  return base::join(names, " ");
}

std::string device_property(const Device::Impl& device, const std::string& name) {
  const PropertyRow* row = find_property_row(name);
  if (!row) {
    fail_unknown_property(name);
  }
  if (!row->info.of_device) {
    throw Error(ErrorCode::kUnsupported,
                text("the property ", name, " belongs to compiled models: ", row->info.meaning));
  }
  if (name == property::log_level.name) return base::log_limit();
  const Properties set = device.properties.values();
  if (name == property::max_tiles.name && !set.is_set(name)) {
    return std::to_string(device.info.tiles);
  }
  if (row->info.access == Access::kReadWrite) return set.get(name);
  return answers().at(name)(device);
}

std::string compatibility_property(const Device::Impl& device, const std::string& name,
                                   const std::string& requirements) {
  if (name != kCompatibilityCheck) {
    throw Error(ErrorCode::kInvalidArgument, text("the property ", name, " takes no argument; ",
                                                  kCompatibilityCheck, " alone does"));
  }
  return compatibility(read_requirements(requirements), device.info);
}

void set_device_property(Device::Impl& device, const std::string& name, const std::string& value) {
  Properties one;
  one.set(name, value);
  if (!find_property_row(name)->info.of_device) {
    throw Error(ErrorCode::kInvalidArgument,
                text("the property ", name,
                     " belongs to one model, not to a device: set it in "
                     "CompileOptions"));
  }
  bring_into_force(device, one);
  device.properties.set(one);
}

Properties effective_properties(Device::Impl& device, const Properties& options) {
  bring_into_force(device, options);
  Properties all = options.over(device.properties.values());
  check_device_id(device, all);
  return all;
}

std::uint32_t optimal_number_of_requests(const DeviceInfo& device, const Properties& properties) {
  const PerformanceHint hint = properties.get(property::performance_hint);
  const bool throughput =
      hint == PerformanceHint::kThroughput || hint == PerformanceHint::kCumulativeThroughput;
  const auto* const known = ze::known_platform(device.platform);
  const std::uint32_t best = !throughput ? 1 : known ? known->numRequests : 8;
  if (!properties.is_set(property::performance_hint_num_requests)) return best;
  const auto planned =
      static_cast<std::uint32_t>(properties.get(property::performance_hint_num_requests));
  return planned == 0 ? best : std::min(best, planned);
}

}  // namespace npu::internal
