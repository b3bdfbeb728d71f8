#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include "completion.hpp"
#include "live_objects.hpp"

namespace softnpu {

class Job;

// An event's state; commands share it, so that it outlives the event's handle.
class EventState {
 public:
  bool signalled() const { return signal_.is_set(); }
  void signal() { signal_.set(); }
  void reset() { signal_.reset(); }
  // Remembers a submitted job that signals this event.
  void add_signaller(const std::shared_ptr<Job>& job);
  // SUCCESS, or NOT_READY when the deadline comes first or no submitted job will signal the event.
  ze_result_t wait(Deadline deadline);

 private:
  bool has_pending_signaller();

  Completion signal_;
  std::mutex mutex_;  // guards signallers_
  std::vector<std::weak_ptr<Job>> signallers_;
};

class EventPool;

struct Event : Counted<Kind::kEvent> {
  Event(EventPool& owner, uint32_t slot) : pool(owner), index(slot) {}
  EventPool& pool;
  uint32_t index;
  std::shared_ptr<EventState> state = std::make_shared<EventState>();
};

// The state behind a handle; throws INVALID_NULL_HANDLE.
std::shared_ptr<EventState> event_state(ze_event_handle_t event);

}  // namespace softnpu
