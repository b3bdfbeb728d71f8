#pragma once

#include <cstdint>
#include <initializer_list>
#include <pugixml.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <npucore/types.hpp>

#include "document.hpp"
#include "weights.hpp"

namespace npu::ir {

/// A layer's result: its port, type and shape.
struct Value {
  PortRef port;
  ElementType type = ElementType::kUnknown;
  Shape shape;
};

/// Writes operators into an IR, in front of one layer. Names operators "<prefix><label>", and their
/// constants "<prefix><label>/<role>".
class GraphBuilder {
 public:
  GraphBuilder(Document& document, Weights& weights, pugi::xml_node place, std::string prefix);

  Value parameter(const std::string& name, const std::vector<std::string>& tensor_names,
                  ElementType type, const Shape& shape);

  struct Cut {
    std::int64_t axis, begin, end;
  };
  /// Leaves out axes that a cut keeps whole; adds no layer if it keeps all.
  Value slice(const std::string& label, const Value& input, std::vector<Cut> cuts);
  Value convert(const std::string& label, const Value& input, ElementType type);
  /// Bytes as f32. A FakeQuantize that changes nothing marks them as whole numbers of 0..255, so
  /// that an NPU's matrix unit converts them; a Convert alone is left to slower processors.
  Value convert_bytes(const std::string& label, const Value& input);
  Value reshape(const std::string& label, const Value& input, const Shape& shape);
  Value transpose(const std::string& label, const Value& input,
                  const std::vector<std::int64_t>& order);

  /// Joins values of equal shapes but for the axis.
  Value concat(const std::string& label, const std::vector<Value>& inputs, std::int64_t axis);

  struct Resize {
    std::int64_t size;  ///< result of this axis
    double scale;       ///< result pixels per input pixel; need not be size / input size
  };
  /// Resizes the last two axes of an NCHW value: linear, half-pixel centres, edges repeated, no
  /// anti-aliasing: below half size it skips pixels.
  Value resize(const std::string& label, const Value& input, Resize height, Resize width);
  /// As resize(), but the first result pixel's edge lies `offset` input pixels behind the first
  /// input pixel's: two matrix products with constant weights, which can begin anywhere.
  struct Shifted {
    Resize resize;
    double offset;
  };
  Value resample(const std::string& label, const Value& input, Shifted height, Shifted width);
  /// 1x1 convolution of an NCHW value; `weights` holds one row per output channel.
  Value mix_channels(const std::string& label, const Value& input,
                     const std::vector<std::vector<double>>& weights);
  /// Convolves an NCHW value without padding; `weights` of `shape` [outputs, channels, height,
  /// width].
  Value convolve(const std::string& label, const Value& input, const std::vector<double>& weights,
                 const Shape& shape, std::int64_t stride_y);
  Value add(const std::string& label, const Value& left, const Value& right);
  /// Adds to, or multiplies, each channel of an NCHW value.
  Value add(const std::string& label, const Value& input, const std::vector<double>& channels);
  Value multiply(const std::string& label, const Value& input, const std::vector<double>& channels);
  Value clamp(const std::string& label, const Value& input, double low, double high);
  Value round(const std::string& label, const Value& input);
  /// Borders of an NCHW value.
  struct Borders {
    std::int64_t top, left, bottom, right;
  };
  Value pad(const std::string& label, const Value& input, Borders borders, double value);

 private:
  struct Operator {
    const char* type;
    const char* opset;
    std::vector<std::pair<const char*, std::string>> attributes;
  };
  Value append(const std::string& label, const Operator& op, const std::vector<Value>& inputs,
               ElementType type, const Shape& shape);
  Value constant(const std::string& label, ElementType type, const Shape& shape,
                 std::span<const std::byte> bytes);
  Value multiply_matrices(const std::string& label, const Value& left, const Value& right,
                          const Shape& shape);
  Value indices(const std::string& label, const std::vector<std::int64_t>& values);
  Value floats(const std::string& label, const std::vector<double>& values, const Shape& shape);
  Value resize_to_sizes(const std::string& label, const Value& input, std::int64_t height,
                        std::int64_t width);
  Value resize_by_scales(const std::string& label, const Value& input, Resize height, Resize width);

  Document& document_;
  Weights& weights_;
  pugi::xml_node place_;
  std::string prefix_;
};

}  // namespace npu::ir
