#include "profiling.hpp"

#include <algorithm>
#include <string>

namespace softnpu {
namespace {

template <size_t kSize>
void put_name(const std::string& text, char (&field)[kSize]) {
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

ze_profiling_layer_info layer_record(const ov::ProfilingInfo& layer, uint32_t id,
                                     uint64_t start_ns) {
  ze_profiling_layer_info record{};
  put_name(layer.node_name, record.name);
  put_name(layer.node_type, record.layer_type);
  record.status = status_of(layer.status);
  record.start_time_ns = start_ns;
  record.duration_ns = static_cast<uint64_t>(layer.real_time.count()) * 1000;
  record.layer_id = id;
  record.sw_ns = record.duration_ns;
  return record;
}

// Takes the kernel that the plugin chose as the task's type.
ze_profiling_task_info task_record(const ov::ProfilingInfo& layer,
                                   const ze_profiling_layer_info& parent, uint32_t id) {
  ze_profiling_task_info record{};
  put_name(layer.node_name, record.name);
  put_name(layer.exec_type, record.layer_type);
  record.exec_type = ZE_TASK_EXECUTE_SW;
  record.start_time_ns = parent.start_time_ns;
  record.duration_ns = parent.duration_ns;
  record.task_id = id;
  record.parent_layer_id = parent.layer_id;
  return record;
}

}  // namespace

// Lays the layers one behind the other, because the plugin gives durations only.
void ProfilingData::store(const std::vector<ov::ProfilingInfo>& layers) {
  std::vector<ze_profiling_layer_info> records;
  std::vector<ze_profiling_task_info> tasks;
  uint64_t start_ns = 0;
  for (const ov::ProfilingInfo& layer : layers) {
    const ze_profiling_layer_info record =
        layer_record(layer, static_cast<uint32_t>(records.size()), start_ns);
    if (record.status == ZE_LAYER_STATUS_EXECUTED) {
      tasks.push_back(task_record(layer, record, static_cast<uint32_t>(tasks.size())));
    }
    start_ns += record.duration_ns;
    records.push_back(record);
  }
  const std::scoped_lock lock(mutex_);
  layers_ = std::move(records);
  tasks_ = std::move(tasks);
}

std::vector<ze_profiling_layer_info> ProfilingData::layers() const {
  const std::scoped_lock lock(mutex_);
  return layers_;
}

std::vector<ze_profiling_task_info> ProfilingData::tasks() const {
  const std::scoped_lock lock(mutex_);
  return tasks_;
}

bool ProfilingPool::take(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  if (used_[index]) return false;
  return used_[index] = true;
}

void ProfilingPool::give_back(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  used_[index] = false;
}

bool ProfilingPool::in_use() {
  const std::scoped_lock lock(mutex_);
  return std::find(used_.begin(), used_.end(), true) != used_.end();
}

}  // namespace softnpu
