#pragma once

#include <string>
#include <variant>
#include <vector>

#include <npucore/compiled_model.hpp>

#include "binding.hpp"

namespace pynpu {

/// A property's value as npucore spells it: True is "YES", 4 is "4".
std::string property_text(nb::handle value);
/// A checked set from a mapping, a text "KEY=VALUE ..." or None.
npu::Properties properties_from(nb::handle properties);

/// The properties of a device or a compiled model, as Python's mapping.
class PropertyMap {
 public:
  explicit PropertyMap(npu::Device device) : owner_(std::move(device)) {}
  explicit PropertyMap(npu::CompiledModel model) : owner_(std::move(model)) {}
  /// Those that the owner answers.
  std::vector<std::string> names() const;
  bool has(const std::string& name) const;
  std::string get(const std::string& name) const;
  void set(const std::string& name, nb::handle value);

 private:
  std::variant<npu::Device, npu::CompiledModel> owner_;
};

}  // namespace pynpu
