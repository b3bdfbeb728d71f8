#include "measurement.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/text.hpp"

#include "device_queries.hpp"

namespace npu::ze {
namespace {

/// Stamps of one list: its begin, and in the second half its end.
constexpr std::size_t kStampBytes = 128;

LayerStatus status_of(ze_layer_status_t status) {
  switch (status) {
    case ZE_LAYER_STATUS_EXECUTED:
      return LayerStatus::kExecuted;
    case ZE_LAYER_STATUS_OPTIMIZED_OUT:
      return LayerStatus::kOptimizedOut;
    default:
      return LayerStatus::kNotRun;
  }
}

LayerProfile to_profile(const ze_profiling_layer_info& layer, std::uint64_t begin_ns) {
  return {.name = base::bounded_string(layer.name),
          .type = base::bounded_string(layer.layer_type),
          .status = status_of(layer.status),
          .start_ns = layer.start_time_ns < begin_ns ? 0 : layer.start_time_ns - begin_ns,
          .duration_ns = layer.duration_ns,
          .dpu_ns = layer.dpu_ns,
          .software_ns = layer.sw_ns,
          .dma_ns = layer.dma_ns};
}

/// First and last moment of the layers that ran; both 0 if none did.
std::pair<std::uint64_t, std::uint64_t> span_of(
    const std::vector<ze_profiling_layer_info>& layers) {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end = 0;
  for (const auto& layer : layers) {
    if (layer.status != ZE_LAYER_STATUS_EXECUTED) continue;
    begin = std::min(begin, layer.start_time_ns);
    end = std::max(end, layer.start_time_ns + layer.duration_ns);
  }
  return {std::min(begin, end), end};
}

}  // namespace

Measurement::Measurement(const Graph& graph, std::uint32_t lists, bool stamps)
    : device_(graph.device()), lists_(lists) {
  if (graph.profiling_enabled()) {
    make_queries(graph);
  }
  if (stamps) {
    stamps_ = Memory::allocate(device_, lists * kStampBytes, Memory::CpuCaching::kCached, false);
  }
}

void Measurement::make_queries(const Graph& graph) {
  if (!device_.profiling) {
    throw Error(ErrorCode::kUnsupported,
                base::text("the graph was compiled with profiling, but the driver of ",
                           device_.npu.name(), " lacks ", ZE_PROFILING_DATA_EXT_NAME));
  }
  ze_graph_profiling_pool_handle_t pool = nullptr;
  device_.check(device_.profiling->pfnProfilingPoolCreate(graph.handle(), lists_, &pool),
                "pfnProfilingPoolCreate");
  pool_ = ProfilingPool(*device_.profiling, pool);
  queries_.reserve(lists_);  // no reallocation: the driver writes each handle into its place
  for (std::uint32_t list = 0; list < lists_; ++list) {
    ze_graph_profiling_query_handle_t query = nullptr;
    device_.check(device_.profiling->pfnProfilingQueryCreate(pool, list, &query),
                  "pfnProfilingQueryCreate");
    queries_.emplace_back(*device_.profiling, query);
  }
}

std::vector<ze_profiling_layer_info> Measurement::read(std::uint32_t list) const {
  constexpr const char* kAdvice = "decoding needs the compiler of the driver package";
  std::uint32_t size_bytes = 0;
  device_.check(device_.profiling->pfnProfilingQueryGetData(
                    query(list), ZE_GRAPH_PROFILING_LAYER_LEVEL, &size_bytes, nullptr),
                "pfnProfilingQueryGetData", kAdvice);
  std::vector<ze_profiling_layer_info> layers(size_bytes / sizeof(ze_profiling_layer_info));
  if (layers.empty()) return layers;
  device_.check(device_.profiling->pfnProfilingQueryGetData(
                    query(list), ZE_GRAPH_PROFILING_LAYER_LEVEL, &size_bytes,
                    reinterpret_cast<std::uint8_t*>(layers.data())),
                "pfnProfilingQueryGetData", kAdvice);
  return layers;
}

std::vector<LayerProfile> Measurement::layers() const {
  const auto measured = read(0);
  const std::uint64_t begin_ns = span_of(measured).first;
  std::vector<LayerProfile> profile;
  profile.reserve(measured.size());
  for (const auto& layer : measured) profile.push_back(to_profile(layer, begin_ns));
  return profile;
}

std::uint64_t Measurement::elapsed_ns() const {
  if (!has_layers()) return timer_ns(device_, *end_stamp(lists_ - 1) - *begin_stamp(0));
  std::uint64_t all_ns = 0;
  for (std::uint32_t list = 0; list < lists_; ++list) {
    const auto [begin, end] = span_of(read(list));
    all_ns += end - begin;
  }
  return all_ns;
}

ze_graph_profiling_query_handle_t Measurement::query(std::uint32_t list) const {
  return has_layers() ? queries_[list].get() : nullptr;
}

std::uint64_t* Measurement::begin_stamp(std::uint32_t list) const {
  auto* stamps = static_cast<std::byte*>(stamps_.address());
  return reinterpret_cast<std::uint64_t*>(stamps + list * kStampBytes);
}

std::uint64_t* Measurement::end_stamp(std::uint32_t list) const {
  auto* stamps = static_cast<std::byte*>(stamps_.address());
  return reinterpret_cast<std::uint64_t*>(stamps + list * kStampBytes + kStampBytes / 2);
}

}  // namespace npu::ze
