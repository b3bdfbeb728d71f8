#include "in_use.hpp"

#include <algorithm>
#include <cstdio>

#include "base/early_destroy.hpp"

#include "engine.hpp"
#include "job.hpp"

namespace softnpu {

void check_not_in_use(const char* kind, const void* handle, const std::shared_ptr<Job>& user,
                      const char* done_to_it) {
  if (!user || Engine::instance().stopped()) return;
  char object[96];
  std::snprintf(object, sizeof object, "%s %p is %s", kind, handle, done_to_it);
  report_early_destroy(object, user->text());
}

void check_memory_not_in_use(const Allocation& memory) {
  const auto is_it = [&memory](const auto& used) { return used.get() == &memory; };
  const auto user = Engine::instance().user_of([&is_it](const Command& command) {
    return std::any_of(command.memory.begin(), command.memory.end(), is_it);
  });
  check_not_in_use("memory", memory.base(), user, "freed");
}

void check_graph_not_in_use(const void* graph) {
  const auto user = Engine::instance().user_of(
      [graph](const Command& command) { return command.graph == graph; });
  check_not_in_use("graph", graph, user);
}

}  // namespace softnpu
