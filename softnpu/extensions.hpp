// The extensions that the driver offers.
#pragma once

#include <level_zero/ze_api.h>
#include <ze_npu/ze_npu.h>

#include <string_view>
#include <vector>

namespace softnpu {

struct Extension {
  const char* name;
  uint32_t version;
};

const std::vector<Extension>& advertised_extensions();

// The function table behind an extension's name, null for an unknown one. Any name that contains
// "ZE_extension_graph" means the graph extension.
void* extension_table(std::string_view name);

// The NPU options that may be chained to a queue's description; throws what Intel's driver answers.
void check_queue_options(const ze_command_queue_desc_t& desc);

// The tables, each beside its functions.
void* graph_table();
void* profiling_table();
void* queue_table();
void* context_table();

}  // namespace softnpu
