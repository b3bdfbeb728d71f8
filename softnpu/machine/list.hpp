#pragma once

#include <level_zero/ze_api.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/live_objects.hpp"

#include "context.hpp"
#include "gem_handle.hpp"
#include "job.hpp"
#include "queue.hpp"

namespace softnpu {

/// A command list: recorded once, submitted many times, one submission at a time. An immediate list
/// has a queue of its own, and every append is a submission that first waits for the one before.
class CommandList : Counted<Kind::kList> {
 public:
  CommandList(Context& context, bool changeable) : context_(context), changeable_(changeable) {}
  CommandList(Context& context, const ze_command_queue_desc_t& desc)
      : context_(context), queue_(std::make_unique<CommandQueue>(context, desc)) {}

  Context& context() const { return context_; }
  bool immediate() const { return queue_ != nullptr; }
  bool closed() const { return closed_; }
  /// Whether the work of its commands may change after it is closed.
  bool changeable() const { return changeable_; }
  bool empty() const { return commands_->empty(); }

  /// Throws NOT_AVAILABLE if the list is closed.
  void check_open() const;
  void append(Command command);
  void close();
  void reset();
  ze_result_t synchronize(Deadline deadline);
  /// A submission of it in flight, null if there is none.
  std::shared_ptr<Job> user();

  /// The name of the next command to be appended. Throws INVALID_ARGUMENT if the list is closed or
  /// not changeable.
  uint64_t next_command_id();
  /// Throws INVALID_ARGUMENT if no command with work has this name.
  Work& named_work(uint64_t id) const;

  using Submit = std::function<std::shared_ptr<Job>(std::shared_ptr<const Commands>)>;
  /// Submits once the list's earlier submission is done; null if the deadline comes first. Throws
  /// UNKNOWN if the device has lost memory that the list uses.
  std::shared_ptr<Job> submit_once_idle(Deadline deadline, const Submit& submit);

 private:
  void settle_changes();

  Context& context_;
  bool changeable_ = false;
  std::unique_ptr<CommandQueue> queue_;  // of an immediate list, else null
  bool closed_ = false;
  std::vector<size_t> named_;  // positions in commands_ that got a name, ascending
  std::shared_ptr<Commands> commands_ = std::make_shared<Commands>();
  std::optional<GemHandle> buffer_;  // of the closed list's commands
  std::mutex mutex_;                 // guards last_
  std::shared_ptr<Job> last_;
};

}  // namespace softnpu
