#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chain.hpp"
#include "graph.hpp"
#include "measurement.hpp"

namespace npu::ze {

/// Strides as the driver wants them: in elements, innermost first, 0 past the rank.
using ElementStrides = std::array<std::uint32_t, 5>;

/// The memory bound to one argument of the graph; its owner keeps it.
struct ArgumentValue {
  const std::byte* address = nullptr;
  std::size_t item_bytes = 0;  ///< from one list's part to the next one's, in a batch
  std::optional<ElementStrides> strides;

  bool operator==(const ArgumentValue&) const = default;
};

/// Command lists that execute a graph on one set of values: one list for each item of a batch. The
/// graph and the measurement outlive it. Call nothing of it in flight.
///
/// A driver's list keeps the buffers that it was recorded with. Freeing a DMA-BUF's import while a
/// list has it would close the buffer's handle only later, and with it that of a newer import of
/// the same buffer. So lists are reset before memory that they name is freed (drop()).
class Recording {
 public:
  /// `changeable`: lists whose arguments can be changed without recording them anew.
  Recording(const Graph& graph, const Measurement& measurement, std::uint32_t lists,
            bool changeable);

  const std::vector<ArgumentValue>& values() const { return values_; }
  /// False from the driver's first refusal to say what can be changed.
  bool is_changeable() const { return changeable_; }

  /// Records the lists for these values, or changes them if possible.
  void set(const std::vector<ArgumentValue>& values);
  /// Only notes the values: record_in() records them.
  void note(const std::vector<ArgumentValue>& values) { values_ = values; }
  /// Records the lists as the next ones of the chain, for one submission. Hold the chain's mutex.
  void record_in(Chain& chain) { record(values_, &chain); }
  /// Forgets replaced values: a submitted list has let go of them.
  void was_submitted() { replaced_.clear(); }
  /// Whether the lists keep any of this memory.
  bool names(const MemoryRange& range) const;
  /// Makes the lists let go of all memory; they are recorded again before their next use.
  void drop() noexcept;

  std::span<ze_command_list_handle_t> lists() { return handles_; }

 private:
  void record(const std::vector<ArgumentValue>& values, Chain* chain);
  void append(std::uint32_t list, const std::vector<ArgumentValue>& values,
              const Chain::Link& link);
  void append_stamp(ze_command_list_handle_t list, std::uint64_t* where) const;
  void append_barrier(ze_command_list_handle_t list) const;
  void set_argument(std::uint32_t argument, const ArgumentValue& value, std::uint32_t list) const;
  std::uint64_t next_command(ze_command_list_handle_t list);
  void change(const std::vector<ArgumentValue>& values);
  void change_list(std::uint32_t list, const std::vector<ArgumentValue>& values);

  const Graph* graph_;
  const DeviceContext* device_;
  const Measurement* measurement_;
  bool changeable_;
  std::vector<ArgumentValue> values_;    ///< empty: must be recorded before use
  std::vector<ArgumentValue> replaced_;  ///< by a change, and kept until the next submission
  std::vector<CommandList> lists_;
  std::vector<ze_command_list_handle_t> handles_;
  std::vector<std::uint64_t> commands_;  ///< the execution's id in each list, for changing it
  // Scratch for one change; members, so that their memory is used again.
  std::vector<ze_npu_core_mutable_graph_argument_exp_desc_t> changes_;
  std::vector<ze_graph_argument_value_strides_t> stride_changes_;
};

}  // namespace npu::ze
