#pragma once

#include <string>
#include <vector>

#include <npucore/model.hpp>

#include "binding.hpp"

namespace pynpu {

/// A copy of a Model, or one from a path, from the text of an .xml in memory, or from what OpenVINO
/// converts. `weights`: a path or an object with bytes, which the model uses in place; or None.
npu::Model read_model(nb::handle source, nb::handle weights = nb::none());

/// The port's name for Python's dicts: the first tensor name, which OpenVINO's users know.
const std::string& key_of(const npu::Port& port);
/// Index of a port by name, tensor name or number. Throws Error(kNotFound) that lists the names.
std::size_t index_of(const std::vector<npu::Port>& ports, nb::handle name, const char* kind);
/// `input "images"`
std::string quoted(const char* kind, const npu::Port& port);

}  // namespace pynpu
