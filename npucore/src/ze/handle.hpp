#pragma once

#include <utility>

#include "base/forked.hpp"
#include "ze_npu/ze_npu.h"

#include "loader.hpp"

namespace npu::ze {

/// Owns one handle of Level Zero or of an extension; `kDestroy` is the member of `Table` that
/// destroys it. The table outlives every handle. A forked child owns none: the parent destroys
/// them.
template <class Native, class Table, auto kDestroy>
class Handle {
 public:
  Handle() = default;
  Handle(const Table& table, Native native) : table_(&table), native_(native) {}
  Handle(Handle&& other) noexcept
      : table_(other.table_), native_(std::exchange(other.native_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(native_, other.native_);
    return *this;
  }
  ~Handle() {
    if (native_ && !base::is_forked_child()) {
      static_cast<void>((table_->*kDestroy)(native_));
    }
  }

  Native get() const { return native_; }
  explicit operator bool() const { return native_ != nullptr; }

 private:
  const Table* table_ = nullptr;
  Native native_ = nullptr;
};

using Context = Handle<ze_context_handle_t, Loader, &Loader::zeContextDestroy>;
using CommandQueue = Handle<ze_command_queue_handle_t, Loader, &Loader::zeCommandQueueDestroy>;
using CommandList = Handle<ze_command_list_handle_t, Loader, &Loader::zeCommandListDestroy>;
using Fence = Handle<ze_fence_handle_t, Loader, &Loader::zeFenceDestroy>;
using EventPool = Handle<ze_event_pool_handle_t, Loader, &Loader::zeEventPoolDestroy>;
using Event = Handle<ze_event_handle_t, Loader, &Loader::zeEventDestroy>;
using GraphHandle =
    Handle<ze_graph_handle_t, ze_graph_dditable_ext_t, &ze_graph_dditable_ext_t::pfnDestroy>;
using BuildLog = Handle<ze_graph_build_log_handle_t, ze_graph_dditable_ext_t,
                        &ze_graph_dditable_ext_t::pfnBuildLogDestroy>;
using NetworkQuery = Handle<ze_graph_query_network_handle_t, ze_graph_dditable_ext_t,
                            &ze_graph_dditable_ext_t::pfnQueryNetworkDestroy>;
using ProfilingPool = Handle<ze_graph_profiling_pool_handle_t, ze_graph_profiling_dditable_ext_t,
                             &ze_graph_profiling_dditable_ext_t::pfnProfilingPoolDestroy>;
using ProfilingQuery = Handle<ze_graph_profiling_query_handle_t, ze_graph_profiling_dditable_ext_t,
                              &ze_graph_profiling_dditable_ext_t::pfnProfilingQueryDestroy>;

}  // namespace npu::ze
