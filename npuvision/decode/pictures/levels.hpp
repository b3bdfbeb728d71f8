// Classification with levels: some labels exclude each other, some count only below another.
#pragma once

#include <memory>
#include <string>

#include "contract.hpp"

namespace npu::vision {

/// Why the card's levels contradict themselves; empty where they do not.
std::string doubt_about_levels(const ModelCard& card);
/// The output must have a value for each of the card's `level_values`.
std::unique_ptr<Decoder> make_level_decoder(const Found& found, std::size_t output);

}  // namespace npu::vision
