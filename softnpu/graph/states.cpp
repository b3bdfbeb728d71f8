#include "states.hpp"

#include <memory>
#include <openvino/op/parameter.hpp>
#include <openvino/op/result.hpp>
#include <openvino/op/util/assign_base.hpp>
#include <openvino/op/util/read_value_base.hpp>
#include <string>

namespace softnpu {
namespace {

using Read = ov::op::util::ReadValueBase;
using Assign = ov::op::util::AssignBase;

void expose_read(ov::Model& model, const std::shared_ptr<Read>& read) {
  auto input = std::make_shared<ov::op::v0::Parameter>(read->get_output_element_type(0),
                                                       read->get_output_partial_shape(0));
  input->set_friendly_name("vpux_ie_read_value_" + read->get_variable_id());
  read->output(0).replace(input->output(0));
  model.add_parameters({input});
}

void expose_assign(ov::Model& model, const std::shared_ptr<Assign>& assign) {
  auto output = std::make_shared<ov::op::v0::Result>(assign->input_value(0));
  output->set_friendly_name("vpux_ie_assign_" + assign->get_variable_id());
  model.remove_sink(assign);
  model.add_results({output});
}

}  // namespace

void expose_states(ov::Model& model) {
  const auto variables = model.get_variables();
  if (variables.empty()) return;
  for (const auto& node : model.get_ordered_ops()) {
    if (const auto read = std::dynamic_pointer_cast<Read>(node)) {
      expose_read(model, read);
    }
  }
  const ov::SinkVector sinks = model.get_sinks();  // a copy, because every Assign is removed
  for (const auto& sink : sinks) {
    if (const auto assign = std::dynamic_pointer_cast<Assign>(sink)) {
      expose_assign(model, assign);
    }
  }
  for (const auto& variable : variables) model.remove_variable(variable);
}

}  // namespace softnpu
