#include "openvino_run.hpp"

#include <array>
#include <cstring>
#include <openvino/openvino.hpp>
#include <pugixml.hpp>
#include <sstream>
#include <stdexcept>

#include "ir/graph/constant.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/model_impl.hpp"

#include "interpreter.hpp"

namespace npu::test {
namespace {

// Never destroyed: at the end its threads lock what OpenVINO has already destroyed.
ov::Core& core() {
  static auto* const instance = new ov::Core;
  return *instance;
}

std::shared_ptr<ov::Model> to_openvino(const Model& model, ir::CompilerVersion version) {
  const auto buffer = ir::serialize(model, version);
  const auto* data = reinterpret_cast<const char*>(buffer.bytes().data());
  std::uint64_t xml_size = 0, weights_size = 0;
  std::memcpy(&xml_size, data + 8, 8);
  std::memcpy(&weights_size, data + 16 + xml_size, 8);
  ov::Tensor weights(ov::element::u8, {weights_size});
  std::memcpy(weights.data(), data + 24 + xml_size, weights_size);
  return core().read_model(std::string(data + 16, xml_size), weights);
}

/// Gathers what the addresses point to, and what was copied, behind one another.
std::shared_ptr<ov::Model> to_openvino(std::span<const std::byte> weightless) {
  std::array<std::uint64_t, 6> header{};
  std::memcpy(header.data(), weightless.data(), sizeof header);
  const auto* data = reinterpret_cast<const char*>(weightless.data());
  std::string weights(data + header[2], header[3]);
  pugi::xml_document xml;
  xml.load_buffer(data + header[4], header[5]);
  for (auto constant : ir::all_constants(xml.child("net"))) {
    const auto pointer = constant.child("rt_info").find_child_by_attribute(
        "attribute", "name", "WeightsPointerAttribute");
    if (!pointer) continue;
    const auto size = pointer.attribute("ms").as_ullong();
    constant.child("data").attribute("offset").set_value(std::to_string(weights.size()).c_str());
    constant.child("data").attribute("size").set_value(std::to_string(size).c_str());
    weights.append(reinterpret_cast<const char*>(pointer.attribute("mp").as_ullong()), size);
  }
  ov::Tensor bytes(ov::element::u8, {weights.size()});
  std::memcpy(bytes.data(), weights.data(), weights.size());
  std::ostringstream text;
  xml.save(text);
  return core().read_model(text.str(), bytes);
}

template <class T>
std::vector<double> numbers(const ov::Tensor& tensor) {
  const auto* values = tensor.data<T>();
  return {values, values + tensor.get_size()};
}

std::vector<double> to_numbers(const ov::Tensor& tensor) {
  if (tensor.get_element_type() == ov::element::f32) return numbers<float>(tensor);
  if (tensor.get_element_type() == ov::element::f16) return numbers<ov::float16>(tensor);
  if (tensor.get_element_type() == ov::element::u8) return numbers<std::uint8_t>(tensor);
  if (tensor.get_element_type() == ov::element::i8) return numbers<std::int8_t>(tensor);
  throw std::runtime_error("unexpected output type");
}

void fill(ov::Tensor& tensor, const std::string& name, const Bytes& bytes) {
  if (tensor.get_byte_size() != bytes.size()) {
    throw std::runtime_error(name + " takes " + std::to_string(tensor.get_byte_size()) +
                             " bytes, not " + std::to_string(bytes.size()));
  }
  std::memcpy(tensor.data(), bytes.data(), bytes.size());
}

std::vector<double> run(const std::shared_ptr<ov::Model>& model,
                        const std::map<std::string, Bytes>& inputs) {
  auto compiled = core().compile_model(
      model, "CPU", ov::hint::inference_precision(ov::element::f32), ov::inference_num_threads(1));
  auto request = compiled.create_infer_request();
  for (const auto& [name, bytes] : inputs) {
    auto tensor = request.get_tensor(name);
    fill(tensor, name, bytes);
  }
  request.infer();
  return to_numbers(request.get_output_tensor(0));
}

std::vector<double> interpret(const std::shared_ptr<ov::Model>& model,
                              const std::map<std::string, Bytes>& inputs) {
  if (inputs.size() != model->inputs().size()) {
    throw std::runtime_error("the model has other inputs");
  }
  make_interpretable(model);
  ov::TensorVector in, out;
  for (const auto& input : model->inputs()) {
    const auto& bytes = inputs.at(input.get_any_name());
    in.emplace_back(input.get_element_type(), input.get_shape());
    fill(in.back(), input.get_any_name(), bytes);
  }
  for (const auto& output : model->outputs()) {
    out.emplace_back(output.get_element_type(), output.get_shape());
  }
  if (!model->evaluate(out, in)) throw std::runtime_error("OpenVINO does not interpret the model");
  return to_numbers(out.front());
}

std::vector<std::string> wrong_shapes(const Model& model, const ov::Model& read) {
  std::map<std::string, Shape> inferred;
  for (const auto& node : read.get_ops()) {
    if (node->get_output_size() == 0) continue;
    const auto& shape = node->get_output_shape(0);
    inferred[node->get_friendly_name()] = Shape(shape.begin(), shape.end());
  }
  std::vector<std::string> wrong;
  for (auto layer : ir::impl_of(model).document.layers()) {
    const auto ports = ir::output_ports(layer);
    if (ports.empty()) continue;
    const auto written = ir::port_shape(ports.front());
    const auto& actual = inferred.at(ir::layer_name(layer));
    if (written == actual) continue;
    wrong.push_back(ir::describe_layer(layer) + ": written " + to_string(written) + ", inferred " +
                    to_string(actual));
  }
  return wrong;
}

}  // namespace

std::vector<double> run_with_openvino(const Model& model,
                                      const std::map<std::string, Bytes>& inputs,
                                      ir::CompilerVersion version) {
  return run(to_openvino(model, version), inputs);
}

std::vector<double> check_and_run(const Model& model, const std::map<std::string, Bytes>& inputs,
                                  By by) {
  const auto read = to_openvino(model, {7, 0});
  const auto wrong = wrong_shapes(model, *read);
  if (!wrong.empty()) throw std::runtime_error(wrong.front());
  return by == By::kPlugin ? run(read, inputs) : interpret(read, inputs);
}

std::vector<double> run_weightless_with_openvino(const Model& model,
                                                 const std::map<std::string, Bytes>& inputs,
                                                 ir::CompilerVersion version,
                                                 std::size_t threshold_bytes) {
  const auto buffer = ir::serialize_weightless(model, version, threshold_bytes);
  return run(to_openvino(buffer.bytes()), inputs);
}

std::vector<std::string> wrong_shapes(const Model& model) {
  return wrong_shapes(model, *to_openvino(model, {7, 0}));
}

}  // namespace npu::test
