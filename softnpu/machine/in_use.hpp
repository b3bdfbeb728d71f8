// Reports objects that the application destroys while a job in flight uses them.
#pragma once

#include <memory>

namespace softnpu {

class Allocation;
class Job;

/// Reports "<kind> <handle> is <done_to_it>" if there is a user.
void check_not_in_use(const char* kind, const void* handle, const std::shared_ptr<Job>& user,
                      const char* done_to_it = "destroyed");
void check_memory_not_in_use(const Allocation& memory);
void check_graph_not_in_use(const void* graph);

}  // namespace softnpu
