#include "job.hpp"

#include <algorithm>
#include <cstdio>

#include "base/failure.hpp"

namespace softnpu {
namespace {

/// Brackets the device's access to a command's memory.
class DeviceAccess {
 public:
  explicit DeviceAccess(const Command& command) : command_(command) {
    for (const auto& memory : command_.memory) memory->begin_device_access();
  }
  ~DeviceAccess() {
    for (const auto& memory : command_.memory) memory->end_device_access();
  }
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;

 private:
  const Command& command_;
};

ze_result_t run(const Command& command) noexcept {
  try {
    const DeviceAccess access(command);
    command.run();
    return ZE_RESULT_SUCCESS;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "softnpu: a command failed: %s\n", failure.what());
    return failure.result();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "softnpu: a command failed: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "softnpu: a command failed\n");
  }
  return ZE_RESULT_ERROR_UNKNOWN;
}

}  // namespace

bool Command::ready() const {
  return std::all_of(waits.begin(), waits.end(),
                     [](const auto& event) { return event->signalled(); });
}

bool Command::memory_usable() const {
  return (!code || code->open()) &&
         std::all_of(memory.begin(), memory.end(),
                     [](const auto& allocation) { return allocation->usable_by_device(); });
}

// A write to read-only memory is a fault of the device's MMU: the job is aborted, and its context
// is lost.
ze_result_t Job::attempt(const Command& command) const {
  const bool may_write = std::none_of(command.written.begin(), command.written.end(),
                                      [](const Allocation* memory) { return memory->read_only(); });
  if (may_write) return run(command);
  std::fprintf(stderr, "softnpu: a command writes to memory that was imported read-only\n");
  if (faulted_) {
    *faulted_ = true;
  }
  return ZE_RESULT_ERROR_DEVICE_LOST;
}

uint64_t Job::next_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

std::string Job::text() const {
  char text[128];
  std::snprintf(text, sizeof text, "job %llu of list %p on queue %p",
                static_cast<unsigned long long>(number_), origin_.list, origin_.queue);
  return text;
}

void Job::announce(const std::shared_ptr<Job>& self) const {
  const std::shared_ptr<const Completion> done(self, &done_);
  for (const Command& command : *commands_) {
    if (command.signals) {
      command.signals->add_signaller(done);
    }
  }
}

bool Job::waits_for_events() const {
  return std::any_of(commands_->begin(), commands_->end(),
                     [](const Command& command) { return !command.waits.empty(); });
}

void Job::step() {
  const Command& command = next();
  if (result_ == ZE_RESULT_SUCCESS && command.run) {
    result_ = attempt(command);
  }
  if (position_ + 1 == commands_->size()) {
    ran_.store(true, std::memory_order_release);
  }
  if (command.signals) {
    command.signals->signal();
  }
  ++position_;
}

void Job::abort(ze_result_t result) {
  if (result_ == ZE_RESULT_SUCCESS) {
    result_ = result;
  }
  while (!finished()) step();
  complete();
}

std::shared_ptr<Job> first_in_flight(const Jobs& jobs) {
  const auto found =
      std::find_if(jobs.begin(), jobs.end(), [](const auto& job) { return job->in_flight(); });
  return found == jobs.end() ? nullptr : *found;
}

ze_result_t wait_for(const Jobs& jobs, Deadline deadline) {
  ze_result_t result = ZE_RESULT_SUCCESS;
  for (const auto& job : jobs) {
    if (!job->wait(deadline)) return ZE_RESULT_NOT_READY;
    if (result == ZE_RESULT_SUCCESS) {
      result = job->result();
    }
  }
  return result;
}

}  // namespace softnpu
