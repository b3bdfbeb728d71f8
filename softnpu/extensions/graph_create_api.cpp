// Creates graphs, and returns the compiler's log.
#include "abi/handles.hpp"
#include "base/trace.hpp"
#include "graph/graph.hpp"
#include "machine/engine.hpp"
#include "machine/in_use.hpp"

#include "build_log.hpp"
#include "graph_api.hpp"
#include "real_compiler.hpp"
#include "validation.hpp"

namespace softnpu::graph_api {
namespace {

// Turns every version's description into the second version.
ze_graph_desc_2_t as_second_version(const ze_graph_desc_t& desc) {
  return {desc.stype,  desc.pNext,       desc.format,       desc.inputSize,
          desc.pInput, desc.pBuildFlags, ZE_GRAPH_FLAG_NONE};
}

void check_target(ze_context_handle_t context, ze_device_handle_t device, const void* desc,
                  const ze_graph_handle_t* graph) {
  object_of<Context>(context);
  check_device(device);
  require(!Engine::instance().stopped(), ZE_RESULT_ERROR_UNINITIALIZED);  // as OpenVINO may be
  require(desc != nullptr && graph != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

std::unique_ptr<Graph> make_graph(const ze_graph_desc_2_t& desc) {
  trace::note_anonymous_bytes("anon_bytes");
  trace::note("format", desc.format);
  trace::note("input_bytes", desc.inputSize);
  trace::note("flags", desc.flags);
  if (desc.pBuildFlags != nullptr) {
    trace::note_text("build_flags", desc.pBuildFlags);
  }
  try {
    const std::string real_log = log_of_real_compiler(desc);
    auto graph = std::make_unique<Graph>(desc);
    Engine::instance().stop_at_exit();
    if (const std::string said = real_log + graph->cache_status(); !said.empty()) {
      remember(said);
    }
    return graph;
  } catch (const Failure& failure) {
    remember(failure.what());
    throw;
  } catch (const std::bad_alloc&) {
    remember("out of memory");
    throw;
  }
}

}  // namespace

ze_result_t create(ze_context_handle_t context, ze_device_handle_t device,
                   const ze_graph_desc_t* desc, ze_graph_handle_t* graph) {
  check_target(context, device, desc, graph);
  check_stype(desc->stype, ZE_STRUCTURE_TYPE_GRAPH_DESC_PROPERTIES);
  hand_out(make_graph(as_second_version(*desc)), graph);
  trace::note_pointer("created", *graph);
  return ZE_RESULT_SUCCESS;
}

ze_result_t create2(ze_context_handle_t context, ze_device_handle_t device,
                    const ze_graph_desc_2_t* desc, ze_graph_handle_t* graph) {
  check_target(context, device, desc, graph);
  check_stype(desc->stype, ZE_STRUCTURE_TYPE_GRAPH_DESC_2);
  hand_out(make_graph(*desc), graph);
  trace::note_pointer("created", *graph);
  return ZE_RESULT_SUCCESS;
}

ze_result_t create3(ze_context_handle_t context, ze_device_handle_t device,
                    const ze_graph_desc_2_t* desc, ze_graph_handle_t* graph,
                    ze_graph_build_log_handle_t* log) {
  if (log == nullptr) return create2(context, device, desc, graph);
  auto own_log = std::make_unique<BuildLog>();
  *log = nullptr;
  remember({});
  try {
    create2(context, device, desc, graph);
  } catch (...) {
    own_log->text = last_words();
    hand_out(std::move(own_log), log);
    throw;
  }
  own_log->text = last_words();
  hand_out(std::move(own_log), log);
  return ZE_RESULT_SUCCESS;
}

ze_result_t destroy(ze_graph_handle_t graph) {
  check_graph_not_in_use(&object_of<Graph>(graph));
  take_back<Graph>(graph);
  return ZE_RESULT_SUCCESS;
}

ze_result_t initialize(ze_graph_handle_t graph) {
  object_of<Graph>(graph).initialise();
  return ZE_RESULT_SUCCESS;
}

ze_result_t build_log_get_string(ze_graph_handle_t graph, uint32_t* size, char* text) {
  require(size != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  // Like Intel's driver: a graph that was made has no log.
  if (graph == nullptr) {
    copy_text(last_words(), size, text);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t build_log_get_string2(ze_graph_build_log_handle_t log, uint32_t* size, char* text) {
  copy_text(object_of<BuildLog>(log).text, size, text);
  return ZE_RESULT_SUCCESS;
}

ze_result_t build_log_destroy(ze_graph_build_log_handle_t log) {
  take_back<BuildLog>(log);
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu::graph_api
