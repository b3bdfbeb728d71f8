// Is what the application destroys used by a job that is in flight? Then it is reported.
#pragma once

#include <memory>

namespace softnpu {

class Allocation;
class Job;

/// "<kind> <handle> is <done_to_it>" is reported where there is a user.
void check_not_in_use(const char* kind, const void* handle, const std::shared_ptr<Job>& user,
                      const char* done_to_it = "destroyed");
void check_memory_not_in_use(const Allocation& memory);
void check_graph_not_in_use(const void* graph);

}  // namespace softnpu
