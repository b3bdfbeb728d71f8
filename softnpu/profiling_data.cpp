#include "profiling_data.hpp"

#include <string>

namespace softnpu {
namespace {

template <size_t kSize>
void put_text(const std::string& text, char (&field)[kSize]) {
  field[text.copy(field, kSize - 1)] = '\0';
}

ze_layer_status_t status_of(ov::ProfilingInfo::Status status) {
  switch (status) {
    case ov::ProfilingInfo::Status::EXECUTED:
      return ZE_LAYER_STATUS_EXECUTED;
    case ov::ProfilingInfo::Status::OPTIMIZED_OUT:
      return ZE_LAYER_STATUS_OPTIMIZED_OUT;
    case ov::ProfilingInfo::Status::NOT_RUN:
      break;
  }
  return ZE_LAYER_STATUS_NOT_RUN;
}

}  // namespace

// The plugin tells durations only: the layers are laid one behind the other.
void ProfilingData::store(const std::vector<ov::ProfilingInfo>& layers) {
  std::vector<ze_profiling_layer_info> records;
  uint64_t start_ns = 0;
  for (const ov::ProfilingInfo& layer : layers) {
    ze_profiling_layer_info record{};
    put_text(layer.node_name, record.name);
    put_text(layer.node_type, record.layer_type);
    record.status = status_of(layer.status);
    record.start_time_ns = start_ns;
    record.duration_ns = static_cast<uint64_t>(layer.real_time.count()) * 1000;
    record.layer_id = static_cast<uint32_t>(records.size());
    record.sw_ns = record.duration_ns;
    start_ns += record.duration_ns;
    records.push_back(record);
  }
  const std::lock_guard lock(mutex_);
  layers_ = std::move(records);
}

std::vector<ze_profiling_layer_info> ProfilingData::layers() const {
  const std::lock_guard lock(mutex_);
  return layers_;
}

}  // namespace softnpu
