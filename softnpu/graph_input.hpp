// From what a client hands to pfnCreate* or pfnQueryNetworkCreate* to a graph's image.
#pragma once

#include <ze_npu/ze_npu.h>

#include <memory>
#include <span>
#include <string>

#include "build_flags.hpp"
#include "image.hpp"

namespace softnpu {

// Throws INVALID_NULL_POINTER or INVALID_SIZE where there is none.
std::span<const std::byte> input_of(const ze_graph_desc_2_t& desc);

// The text that comes with an IR and stays with its native binary; the description's flags are part
// of it.
std::string flags_text_of(const ze_graph_desc_2_t& desc);

// Reads an IR in the layout that the flags say; the image holds the one copy of its weights.
std::shared_ptr<const Image> image_of_ir(std::span<const std::byte> input, const std::string& text,
                                         const BuildFlags& flags);

}  // namespace softnpu
