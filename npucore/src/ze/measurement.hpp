#pragma once

#include <cstdint>
#include <vector>

#include <npucore/request.hpp>

#include "graph.hpp"
#include "memory.hpp"

namespace npu::ze {

/// Measures each execution: its layers, the time of the whole, or nothing. Reading it while in
/// flight is a race.
class Measurement {
 public:
  /// Measures layers if the graph was made for that; `stamps`: when each list begins and ends.
  Measurement(const Graph& graph, std::uint32_t lists, bool stamps);

  bool has_layers() const { return !queries_.empty(); }
  bool has_stamps() const { return stamps_.address() != nullptr; }

  /// The last execution's first list, layer by layer. Needs has_layers().
  std::vector<LayerProfile> layers() const;
  /// Time on the device of all lists of the last execution. Needs layers or stamps.
  std::uint64_t elapsed_ns() const;

  /// The query that an execution in this list is recorded with; null without layers.
  ze_graph_profiling_query_handle_t query(std::uint32_t list) const;
  /// The place where the list writes the device's clock. Needs has_stamps().
  std::uint64_t* begin_stamp(std::uint32_t list) const;
  std::uint64_t* end_stamp(std::uint32_t list) const;

 private:
  void make_queries(const Graph& graph);
  std::vector<ze_profiling_layer_info> read(std::uint32_t list) const;

  const DeviceContext& device_;
  const std::uint32_t lists_;
  ProfilingPool pool_;
  std::vector<ProfilingQuery> queries_;  ///< one for each list; empty: no layers
  Memory stamps_;
};

}  // namespace npu::ze
