// The part of a model's description that concerns the host's work.
#pragma once

#include <map>
#include <string>

#include "tail.hpp"

namespace npu::ir {

/// The entries of model_info that a decoder needs to do the tail's work.
std::map<std::string, std::string> host_notes(const Tail& tail);
/// The operators that the tail is made of, for messages.
std::string name_of(const Tail& tail);

}  // namespace npu::ir
