// Sets arguments and records executions.
#include "abi/event_api.hpp"
#include "abi/handles.hpp"
#include "graph/graph.hpp"
#include "graph/profiling.hpp"
#include "machine/list.hpp"

#include "build_log.hpp"
#include "graph_api.hpp"

namespace softnpu::graph_api {
namespace {

// A failure to load the graph has another code at each place where it may show up; the log gets the
// reason.
void initialise(Graph& graph, ze_result_t if_it_fails) {
  try {
    graph.initialise();
  } catch (const Failure& failure) {
    remember(failure.what());
    throw Failure(if_it_fails, failure.what());
  }
}

}  // namespace

ze_result_t set_argument_value(ze_graph_handle_t graph, uint32_t index, const void* pointer) {
  object_of<Graph>(graph).set_argument(index, pointer);
  return ZE_RESULT_SUCCESS;
}

ze_result_t set_argument_value2(ze_graph_handle_t graph, uint32_t index, const void* chain) {
  object_of<Graph>(graph).set_argument_chain(index, chain);
  return ZE_RESULT_SUCCESS;
}

// Like Intel's driver on Linux: the graph stays in place.
ze_result_t evict(ze_graph_handle_t graph) {
  object_of<Graph>(graph);
  return ZE_RESULT_SUCCESS;
}

ze_result_t append_initialize(ze_command_list_handle_t list, ze_graph_handle_t graph,
                              ze_event_handle_t signal, uint32_t wait_count,
                              ze_event_handle_t* waits) {
  auto& target = object_of<CommandList>(list);
  target.check_open();
  initialise(object_of<Graph>(graph, ZE_RESULT_ERROR_UNINITIALIZED), ZE_RESULT_ERROR_UNINITIALIZED);
  auto events = translated_events(wait_count, waits);
  if (signal == nullptr && events.empty()) return ZE_RESULT_SUCCESS;
  Command command;
  set_events(command, signal, wait_count, events.data());
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t append_execute(ze_command_list_handle_t list, ze_graph_handle_t graph,
                           ze_graph_profiling_query_handle_t query, ze_event_handle_t signal,
                           uint32_t wait_count, ze_event_handle_t* waits) {
  auto& target = object_of<CommandList>(list);
  auto& own = object_of<Graph>(graph);
  target.check_open();
  require(!own.profiling() || query != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  initialise(own, ZE_RESULT_ERROR_UNKNOWN);
  auto events = translated_events(wait_count, waits);
  Command command = own.record(target.context(), own.values(),
                               own.profiling() ? object_of<ProfilingQuery>(query).data() : nullptr);
  set_events(command, signal, wait_count, events.data());
  target.append(std::move(command));
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu::graph_api
