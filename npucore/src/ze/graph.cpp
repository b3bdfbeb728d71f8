#include "graph.hpp"

#include <algorithm>

#include "base/text.hpp"

#include "result.hpp"

namespace npu::ze {
namespace {

using base::text;

template <class GetString>
std::string read_log(GetString get_string) {
  std::uint32_t size = 0;
  if (get_string(&size, nullptr) != ZE_RESULT_SUCCESS || size == 0) return {};
  std::string log(size, '\0');
  if (get_string(&size, log.data()) != ZE_RESULT_SUCCESS) return {};
  log.resize(std::min<std::size_t>(log.find('\0'), log.size()));
  while (!log.empty() && (log.back() == '\n' || log.back() == ' ')) log.pop_back();
  return log;
}

/// The log of the calling thread's last failure.
std::string last_log(const GraphTable& graph) {
  if (!graph.has(4)) return {};
  return read_log([&](std::uint32_t* size, char* log) {
    return graph->pfnBuildLogGetString(nullptr, size, log);
  });
}

/// The driver's answer to a new graph, whose handle nobody owns yet.
struct CreateOutcome {
  ze_result_t result = ZE_RESULT_SUCCESS;
  const char* call = "";
  ze_graph_handle_t graph = nullptr;
  std::string log;  // only after a failure
};

CreateOutcome create_with_log(const DeviceContext& device, const ze_graph_desc_2_t& desc) {
  CreateOutcome outcome{.call = "pfnCreate3"};
  ze_graph_build_log_handle_t log = nullptr;
  outcome.result = device.graph->pfnCreate3(device.context.get(), device.npu.device, &desc,
                                            &outcome.graph, &log);
  const BuildLog owner(*device.graph, log);
  if (outcome.result != ZE_RESULT_SUCCESS && log) {
    outcome.log = read_log([&](std::uint32_t* size, char* words) {
      return device.graph->pfnBuildLogGetString2(log, size, words);
    });
  }
  if (outcome.result != ZE_RESULT_SUCCESS && outcome.log.empty()) {
    outcome.log = last_log(device.graph);
  }
  return outcome;
}

CreateOutcome create_plain(const DeviceContext& device, const ze_graph_desc_2_t& desc) {
  CreateOutcome outcome;
  if (device.graph.has(5)) {
    outcome.call = "pfnCreate2";
    outcome.result =
        device.graph->pfnCreate2(device.context.get(), device.npu.device, &desc, &outcome.graph);
  } else {
    const ze_graph_desc_t old = {ZE_STRUCTURE_TYPE_GRAPH_DESC_PROPERTIES,
                                 nullptr,
                                 desc.format,
                                 desc.inputSize,
                                 desc.pInput,
                                 desc.pBuildFlags};
    outcome.call = "pfnCreate";
    outcome.result =
        device.graph->pfnCreate(device.context.get(), device.npu.device, &old, &outcome.graph);
  }
  if (outcome.result != ZE_RESULT_SUCCESS) {
    outcome.log = last_log(device.graph);
  }
  return outcome;
}

ErrorCode create_error_code(const DeviceContext& device, ze_result_t result,
                            GraphSource::Format format) {
  const ErrorCode code = device.judge(result);
  if (code == ErrorCode::kOutOfMemory || code == ErrorCode::kDeviceLost) return code;
  if (format == GraphSource::Format::kModel) {
    return code == ErrorCode::kUnsupported ? code : ErrorCode::kCompileFailed;
  }
  // A file that is no blob is the caller's mistake; another build's blob is not.
  return code == ErrorCode::kInternal ? ErrorCode::kIncompatible : code;
}

const char* create_advice(ErrorCode code, GraphSource::Format format) {
  if (code == ErrorCode::kOutOfMemory || code == ErrorCode::kDeviceLost) return "";
  return format == GraphSource::Format::kModel
             ? "; the driver's log names the operator or option it refused"
             : "; the blob is damaged, or was made for another device or driver: compile the model "
               "again";
}

ze_graph_flags_t flags_of(const GraphSource& source) {
  ze_graph_flags_t flags = 0;
  if (source.profile_layers) {
    flags |= ZE_GRAPH_FLAG_ENABLE_PROFILING;
  }
  if (source.bypass_cache) {
    flags |= ZE_GRAPH_FLAG_DISABLE_CACHING;
  }
  if (source.bytes_persist) {
    flags |= ZE_GRAPH_FLAG_INPUT_GRAPH_PERSISTENT;
  }
  return flags;
}

ze_graph_desc_2_t desc_of(const GraphSource& source) {
  const bool is_model = source.format == GraphSource::Format::kModel;
  ze_graph_desc_2_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_GRAPH_DESC_2;
  desc.format = is_model ? ZE_GRAPH_FORMAT_NGRAPH_LITE : ZE_GRAPH_FORMAT_NATIVE;
  desc.inputSize = source.bytes.size();
  desc.pInput = reinterpret_cast<const std::uint8_t*>(source.bytes.data());
  desc.pBuildFlags = is_model ? source.build_flags.c_str() : nullptr;
  desc.flags = flags_of(source);
  return desc;
}

}  // namespace

Graph::Graph(const DeviceContext& device, const GraphSource& source) : device_(&device) {
  ze_graph_desc_2_t desc = desc_of(source);
  ze_graph_input_hash_t hash = {ZE_STRUCTURE_TYPE_GRAPH_INPUT_HASH, nullptr,
                                source.input_hash.value_or(0)};
  if (source.input_hash && device.graph.has(14)) {
    desc.pNext = &hash;  // the only place where the driver looks
  }
  CreateOutcome outcome =
      device.graph.has(12) ? create_with_log(device, desc) : create_plain(device, desc);
  if (outcome.result != ZE_RESULT_SUCCESS) {
    const ErrorCode code = create_error_code(device, outcome.result, source.format);
    throw make_error(code, outcome.result, outcome.call,
                     source.what + create_advice(code, source.format), std::move(outcome.log));
  }
  handle_ = GraphHandle(*device.graph, outcome.graph);
  read_properties(source.profile_layers);
}

void Graph::read_properties(bool profiling_asked) {
  ze_graph_properties_3_t properties = {};
  ze_result_t result = ZE_RESULT_SUCCESS;
  const char* call = "pfnGetProperties";
  init_stage_ = ZE_GRAPH_STAGE_COMMAND_LIST_INITIALIZE;
  if (device_->graph.has(12)) {
    properties.stype = ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3;
    call = "pfnGetProperties3";
    result = device_->graph->pfnGetProperties3(handle(), &properties);
    init_stage_ = properties.initStageRequired;
    flags_ = properties.flags;
  } else if (device_->graph.has(8)) {
    ze_graph_properties_2_t older = {};
    older.stype = ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_2;
    call = "pfnGetProperties2";
    result = device_->graph->pfnGetProperties2(handle(), &older);
    properties.numGraphArgs = older.numGraphArgs;
    init_stage_ = older.initStageRequired;
  } else {
    ze_graph_properties_t oldest = {};
    oldest.stype = ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES;
    result = device_->graph->pfnGetProperties(handle(), &oldest);
    properties.numGraphArgs = oldest.numGraphArgs;
  }
  device_->check(result, call);
  argument_count_ = properties.numGraphArgs;
  if (!device_->graph.has(16)) {  // the flag is younger than the structure
    flags_ &= ~kProfiling;
    if (profiling_asked) {
      flags_ |= kProfiling;
    }
  }
}

void Graph::initialize(const CommandQueue& queue) const {
  constexpr const char* kAdvice = "loading the graph's weights into the device";
  if (device_->graph.has(8) && (init_stage_ & ZE_GRAPH_STAGE_INITIALIZE)) {
    device_->check(device_->graph->pfnGraphInitialize(handle()), "pfnGraphInitialize", kAdvice);
  }
  if (init_stage_ & ZE_GRAPH_STAGE_COMMAND_LIST_INITIALIZE) {
    initialize_by_list(queue);
  }
}

void Graph::initialize_by_list(const CommandQueue& queue) const {
  constexpr std::uint64_t kTimeoutNs = 60'000'000'000;
  const Loader& loader = device_->loader;
  const CommandList list = make_command_list(*device_);
  const Fence fence = make_fence(*device_, queue);
  device_->check(
      device_->graph->pfnAppendGraphInitialize(list.get(), handle(), nullptr, 0, nullptr),
      "pfnAppendGraphInitialize", "loading the graph's weights into the device");
  device_->check(loader.zeCommandListClose(list.get()), "zeCommandListClose");
  ze_command_list_handle_t lists[] = {list.get()};
  device_->check(loader.zeCommandQueueExecuteCommandLists(queue.get(), 1, lists, fence.get()),
                 "zeCommandQueueExecuteCommandLists", "initialising a graph");
  device_->check(loader.zeFenceHostSynchronize(fence.get(), kTimeoutNs), "zeFenceHostSynchronize",
                 "the graph was not initialised within 60 s");
}

std::vector<ArgumentInfo> Graph::arguments() const {
  std::vector<ArgumentInfo> arguments;
  for (std::uint32_t index = 0; index < argument_count_; ++index) {
    arguments.push_back(read_argument(*device_, handle(), index));
  }
  return arguments;
}

std::span<const std::byte> Graph::native_binary(std::vector<std::byte>& copy) const {
  std::size_t size = 0;
  if (device_->graph.has(7)) {
    const std::uint8_t* view = nullptr;
    device_->check(device_->graph->pfnGetNativeBinary2(handle(), &size, &view),
                   "pfnGetNativeBinary2", "exporting a graph");
    return {reinterpret_cast<const std::byte*>(view), size};
  }
  device_->check(device_->graph->pfnGetNativeBinary(handle(), &size, nullptr), "pfnGetNativeBinary",
                 "exporting a graph");
  copy.resize(size);
  device_->check(device_->graph->pfnGetNativeBinary(handle(), &size,
                                                    reinterpret_cast<std::uint8_t*>(copy.data())),
                 "pfnGetNativeBinary", "exporting a graph");
  return copy;
}

std::string supported_layers(const DeviceContext& device, const GraphSource& model) {
  if (!device.graph.has(5)) return {};
  ze_graph_desc_2_t desc = desc_of(model);
  // A query takes the compiler's options only.
  desc.pBuildFlags += std::min(model.build_flags.find("--config"), model.build_flags.size());
  ze_graph_query_network_handle_t made = nullptr;
  const ze_result_t result =
      device.graph->pfnQueryNetworkCreate2(device.context.get(), device.npu.device, &desc, &made);
  const NetworkQuery query(*device.graph, made);
  std::size_t size = 0;
  const auto read = [&](char* names) {
    return device.graph->pfnQueryNetworkGetSupportedLayers(query.get(), &size, names) ==
           ZE_RESULT_SUCCESS;
  };
  if (result != ZE_RESULT_SUCCESS || !read(nullptr)) return {};
  std::string names(size, '\0');
  return read(names.data()) ? names : std::string();
}

}  // namespace npu::ze
