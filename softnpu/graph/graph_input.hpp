// From what a client hands to pfnCreate* or pfnQueryNetworkCreate* to a graph's image.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include <ze_npu/ze_npu.h>

#include "build_flags.hpp"
#include "image.hpp"

namespace softnpu {

/// Throws INVALID_NULL_POINTER or INVALID_SIZE where there is none.
std::span<const std::byte> input_of(const ze_graph_desc_2_t& desc);

/// The text that comes with an IR and stays with its native binary; the description's flags are
/// part of it.
std::string flags_text_of(const ze_graph_desc_2_t& desc);

/// Reads an IR in the layout that the flags say; the image holds the one copy of its weights.
std::shared_ptr<const Image> image_of_ir(std::span<const std::byte> input, const std::string& text,
                                         const BuildFlags& flags);

/// What the driver's cache knows the input by; nothing where the cache is off or not wanted for it.
/// A ze_graph_input_hash_t stands for the input's bytes where it comes first.
std::optional<std::string> cache_key_of(const ze_graph_desc_2_t& desc, const std::string& text);

}  // namespace softnpu
