#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/session.hpp"
#include "core/strides.hpp"
#include "ze/memory.hpp"

namespace npu::internal {

struct Allocation;

/// What one argument of the graph is bound to.
struct ArgumentValue {
  const std::byte* address = nullptr;
  std::size_t item_bytes = 0;  ///< from one list's part to the next one's, in a batch
  std::optional<ElementStrides> strides;
  std::shared_ptr<Allocation> memory = nullptr;  ///< that the address is in

  bool operator==(const ArgumentValue&) const = default;
};

/// What is measured of each execution, besides its results.
struct Measurement {
  std::optional<ze::ProfilingSlots> layers;  ///< a query for each list
  ze::Memory timestamps;                     ///< kTimestampBytes for each list; may be empty
  static constexpr std::size_t kTimestampBytes = 128;  ///< begin, and from the middle on end
};

/// A request's command lists: one for each item of its batch. Where driver and loader have mutable
/// command lists, the one recording is changed to what is bound. Elsewhere what was recorded for
/// earlier bindings is kept and used again when they come back: at most kMostRecordings of them,
/// because a driver may keep a copy of the graph's per-inference state for each list.
///
/// A driver's list keeps the buffers that it was recorded with. Freeing a DMA-BUF's import while a
/// list still has it would close the buffer's handle only later, and with it that of a newer import
/// of the same buffer; so recordings keep the memory until their lists have let go of it.
class Recorder {
 public:
  static constexpr std::size_t kMostRecordings = 16;

  Recorder(Session& session, std::uint32_t lists, const Measurement& measurement);

  /// The lists that execute the graph on `values`, ready to be submitted. Not while in flight.
  std::span<ze_command_list_handle_t> lists_for(const std::vector<ArgumentValue>& values);
  /// The same with events, which are of one submission only: recorded each time. With the chain's
  /// mutex held.
  std::span<ze_command_list_handle_t> chained_lists_for(const std::vector<ArgumentValue>& values);

 private:
  struct Recording {
    std::vector<ArgumentValue> values;  ///< empty: not usable as it is
    /// What the lists may keep besides: a changed list lets go of the old values when it is
    /// submitted.
    std::vector<ArgumentValue> held;
    std::vector<ze::CommandList> lists;
    std::vector<ze_command_list_handle_t> handles;
    std::vector<std::uint64_t> commands;  ///< of the execution in each list, for changing it
    std::uint64_t last_use = 0;
  };

  Recording make_recording() const;
  void drop_forgotten();
  Recording& recording_for(const std::vector<ArgumentValue>& values);
  void record(Recording& recording, const std::vector<ArgumentValue>& values, bool chained);
  void append(Recording& recording, std::uint32_t list, const std::vector<ArgumentValue>& values,
              const Chain::Link& link);
  void set_argument(std::uint32_t argument, const ArgumentValue& value, std::uint32_t list) const;
  std::uint64_t next_command(ze_command_list_handle_t list);
  void change(Recording& recording, const std::vector<ArgumentValue>& values);
  void change_list(Recording& recording, std::uint32_t list,
                   const std::vector<ArgumentValue>& values);

  Session& session_;
  const ze::DeviceContext& device_;
  const std::uint32_t list_count_;
  const Measurement& measurement_;
  bool mutable_;
  std::vector<Recording> recordings_;
  std::size_t last_ = 0;  ///< index of the recording that was used last
  std::uint64_t uses_ = 0;
  // Of one change; members, so that their memory is used again.
  std::vector<ze_npu_core_mutable_graph_argument_exp_desc_t> changes_;
  std::vector<ze_graph_argument_value_strides_t> stride_changes_;
};

}  // namespace npu::internal
