// Reads the input of pfnCreate* or pfnQueryNetworkCreate* into a graph's image.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include <ze_npu/ze_npu.h>

#include "build_flags.hpp"
#include "image.hpp"

namespace softnpu {

/// Throws INVALID_NULL_POINTER or INVALID_SIZE if there is none.
std::span<const std::byte> input_of(const ze_graph_desc_2_t& desc);

/// The text that comes with an IR and stays with its native binary; it includes the description's
/// flags.
std::string flags_text_of(const ze_graph_desc_2_t& desc);

/// Reads an IR in the layout that the flags give; the image holds the one copy of its weights.
std::shared_ptr<const Image> image_of_ir(std::span<const std::byte> input, const std::string& text,
                                         const BuildFlags& flags);

/// The input's key in the driver's cache; nothing if the cache is off or unwanted. A
/// ze_graph_input_hash_t that comes first stands for the input's bytes.
std::optional<std::string> cache_key_of(const ze_graph_desc_2_t& desc, const std::string& text);

}  // namespace softnpu
