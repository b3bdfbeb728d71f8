#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include "base/live_objects.hpp"

#include "completion.hpp"

namespace softnpu {

class Context;

/// An event's state, shared by commands, so that it outlives the event's handle.
class EventState {
 public:
  bool signalled() const { return signal_.is_set(); }
  void signal() { signal_.set(); }
  void reset() { signal_.reset(); }
  /// A submitted job signals this event; `done`, a part of that job, is set when it has ended.
  void add_signaller(const std::shared_ptr<const Completion>& done);
  /// SUCCESS, or NOT_READY when the deadline comes first or no submitted job will signal the event.
  ze_result_t wait(Deadline deadline);

 private:
  bool has_pending_signaller();

  Completion signal_;
  std::mutex mutex_;                                         // guards signallers_
  std::vector<std::weak_ptr<const Completion>> signallers_;  // jobs' ends
};

/// Slots for events.
class EventPool : Counted<Kind::kEventPool> {
 public:
  EventPool(Context& context, const ze_event_pool_desc_t& desc)
      : context_(context), flags_(desc.flags), used_(desc.count, false) {}

  /// False if the index is out of range or taken.
  bool take(uint32_t index);
  void give_back(uint32_t index);
  Context& context() const { return context_; }
  ze_event_pool_flags_t flags() const { return flags_; }

 private:
  Context& context_;
  ze_event_pool_flags_t flags_;
  std::mutex mutex_;  // guards used_
  std::vector<bool> used_;
};

/// An event, and the slot of its pool that it holds until its end.
struct Event : Counted<Kind::kEvent> {
  Event(EventPool& owner, uint32_t slot) : pool(owner), index(slot) {}
  ~Event() { pool.give_back(index); }
  EventPool& pool;
  uint32_t index;
  std::shared_ptr<EventState> state = std::make_shared<EventState>();
};

}  // namespace softnpu
