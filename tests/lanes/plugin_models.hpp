#pragma once

#include <memory>
#include <openvino/openvino.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace lanes {

// A model of each kind that the plugin hands to the driver in its own way.
struct NamedModel {
  std::string name;
  std::shared_ptr<ov::Model> (*make)();
};
inline void PrintTo(const NamedModel& model, std::ostream* out) {
  *out << model.name;
}
std::vector<NamedModel> plugin_models();

// The first of plugin_models: f32 [1,3,32,32] -> f32 [1,8,32,32].
std::shared_ptr<ov::Model> conv_relu();

}  // namespace lanes
