// Writes OpenVINO IRs as OpenVINO does: layers in order, each with numbered ports (inputs first,
// then outputs), then the edges between them; the constants' bytes stand apart. Nothing but the
// standard library, so that any test may use it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npu::test {

/// The parts of an IR's text.
std::string dims(const std::vector<int>& shape);
std::string edge(int from_layer, int from_port, int to_layer, int to_port);
std::string net(const std::string& layers, const std::string& edges,
                const std::string& rt_info = {}, const std::string& version = "11",
                const std::string& name = "tested");
/// As ports spell it: "FP32" for "f32".
std::string precision_of(const std::string& type);
/// `text` with its first `from` replaced; throws where there is none.
std::string replaced(std::string text, const std::string& from, const std::string& to);

using IrShape = std::vector<int>;  ///< -1: not known

/// An output port that later layers may read.
struct IrValue {
  int layer = 0, port = 0;
  std::string type{};  ///< "f32", "u8"
  IrShape shape{};
  std::string name{};  ///< the layer's
};

/// Attributes that most layers leave at their defaults.
struct IrOptions {
  std::string name{};                         ///< none: l and the layer's number
  std::string data{};                         ///< the inside of <data .../>
  std::string type{};                         ///< the output's; none: the first input's
  std::optional<IrShape> shape{};             ///< the output's; none: the first input's
  std::optional<std::string> tensor_names{};  ///< the output's; none: the name above
  std::string opset = "opset1";
  std::string inside{};       ///< elements behind <data>
  std::string inside_port{};  ///< elements in the output's port
  int outputs = 1;            ///< all alike
};

class IrWriter {
 public:
  using Value = IrValue;
  using Shape = IrShape;

  explicit IrWriter(std::string name = "tested", std::string version = "11")
      : name_(std::move(name)), version_(std::move(version)) {}

  /// `layout` as in "[N,C,H,W]".
  Value parameter(const std::string& name, const std::string& type, const Shape& shape,
                  const std::string& layout = {}, const std::string& tensor_names = {});
  Value constant(const std::string& name, const std::string& type, const Shape& shape,
                 std::string_view bytes);
  Value constant(const std::string& name, const std::vector<float>& values, const Shape& shape);
  /// One whose bytes the caller puts into the weights.
  Value constant_at(const std::string& name, const std::string& type, const Shape& shape,
                    std::size_t offset, std::size_t size, const std::string& inside = {});
  /// One whose bytes stay where they are, as compilers take it that read no copies of weights.
  Value constant_in_place(const std::string& name, const std::string& type, const Shape& shape,
                          const void* address, std::size_t size);
  /// The first of its outputs.
  Value layer(const std::string& type, const std::vector<Value>& inputs, IrOptions options = {});
  /// Add, Multiply and their kind; of the shape of `a`.
  Value binary(const std::string& type, const Value& a, const Value& b,
               const std::string& name = {});
  /// A state; without `initial` it begins with zeros.
  Value read_value(const std::string& id, const std::string& type, const Shape& shape,
                   const std::vector<Value>& initial = {});
  void assign(const std::string& id, const Value& value);
  void result(const Value& value, const std::string& name = "out");
  /// The inside of <rt_info>.
  void rt_info(const std::string& text) { rt_info_ = text; }

  const std::string& layers() const { return layers_; }
  /// The inside of a <body>.
  std::string body() const {
    return "<layers>" + layers_ + "</layers><edges>" + edges_ + "</edges>";
  }
  std::string xml() const { return net(layers_, edges_, rt_info_, version_, name_); }
  const std::string& weights() const { return weights_; }
  const std::vector<Value>& inputs() const { return inputs_; }
  const std::vector<Value>& outputs() const { return outputs_; }
  /// Writes NAME.xml, and NAME.bin where there are weights; the former's path.
  std::filesystem::path write(const std::filesystem::path& folder, const std::string& name) const;

 private:
  std::string name_, version_;
  std::string layers_, edges_, rt_info_, weights_;
  std::vector<Value> inputs_, outputs_;
  int next_ = 0;
};

}  // namespace npu::test
