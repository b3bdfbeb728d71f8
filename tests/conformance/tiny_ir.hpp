#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ze_npu/ze_npu.h>

namespace conformance {

// Writes OpenVINO IR version 11 by hand, so that the suite needs no framework: layers in order,
// each with numbered ports (inputs first, then the one output), then the edges between them.
class TinyIr {
 public:
  // An output port that later layers may read.
  struct Value {
    int layer = 0;
    int port = 0;
    std::string type;  // as <data element_type> spells it: "f32", "u8"
    std::vector<int> shape;
  };

  explicit TinyIr(std::string name) : name_(std::move(name)) {}

  Value parameter(const std::string& name, const std::string& type, std::vector<int> shape);
  Value constant(const std::string& name, std::span<const float> values, std::vector<int> shape);
  // `attributes` is the inside of <data .../>; empty for none.
  Value layer(const std::string& name, const std::string& type, const std::vector<Value>& inputs,
              const std::string& attributes, Value output);
  void result(const std::string& name, const Value& value);

  std::string xml() const;
  const std::vector<uint8_t>& weights() const { return weights_; }
  // --inputs_precisions and its three siblings, arguments by index.
  std::string build_flags() const;

 private:
  std::string name_;
  std::string layers_;
  std::string edges_;
  std::vector<uint8_t> weights_;
  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
  int next_layer_ = 0;
};

// The classic NGRAPH_LITE buffer: u16 major, u16 minor, u32 2, u64 xml bytes, xml, u64 weight
// bytes, weights.
std::vector<uint8_t> ngraph_lite_buffer(ze_graph_compiler_version_info_t compiler,
                                        const std::string& xml, std::span<const uint8_t> weights);

// y = max(0, x + bias[channel]); x and y are f32 [1,3,4,4].
inline constexpr float kBias[3] = {-10.0f, 0.5f, 3.0f};
inline constexpr size_t kAddReluElements = 48;
inline constexpr size_t kAddReluBytes = kAddReluElements * sizeof(float);
TinyIr add_relu_ir();
std::vector<float> add_relu_expected(std::span<const float> x);

// Inputs a (u8) and b (f32), outputs sum = a + b and relu = max(0, b); all [1,8]. Shows the order
// of arguments.
inline constexpr size_t kTwoByTwoElements = 8;
TinyIr two_by_two_ir();

}  // namespace conformance
