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

// y = x + s0 + s1 + s2, f32 [1,4]; each state becomes what is summed up to it.
std::shared_ptr<ov::Model> three_states();
// y = 2 * x, f32 [1,4]; a constant without elements makes the factor a scalar.
std::shared_ptr<ov::Model> doubled_by_a_scalar();

}  // namespace lanes
