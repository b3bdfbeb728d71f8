#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "detector.hpp"
#include "tensor_view.hpp"

namespace gstnpu {

struct Classification {
  std::uint32_t label_id = 0;
  float confidence = 0;
};

/// Whether it has one value for each of two classes or more: f32 or f16, all dimensions but one 1.
bool looks_like_classes(const TensorView& tensor);

/// The best class. Values from 0 to 1 whose sum is 1 are probabilities; others become some by
/// softmax. nullopt where a value is not finite. Throws npu::Error for a tensor that is larger than
/// its memory. looks_like_classes() holds.
std::optional<Classification> best_class(const TensorView& tensor);

/// Puts on a frame's objects what models said of them. One thread.
class RegionClassifier {
 public:
  /// Holds from the next frame on; reads .modelinfo and labels anew.
  void configure(DetectorSettings settings);

  /// Of each region that nobody has decoded yet; the buffer is writable. How many there were.
  /// Throws npu::Error.
  std::size_t classify(GstBuffer* buffer);

 private:
  void describe_model(const GstNpuInferenceMeta& meta);
  const ModelInfoTensor* find_section() const;
  GstNpuTensor find_tensor(const std::vector<InferredTensor>& tensors) const;
  void attach(GstBuffer* buffer, const GstNpuInferenceMeta& meta,
              const Classification& found) const;

  DetectorSettings settings_;
  bool described_ = false;  // the members below are right for model_ and model_labels_
  std::string model_, model_labels_;
  std::optional<ModelInfo> info_;
  std::string tensor_name_;
  std::vector<std::string> labels_;
  float threshold_ = 0;
};

}  // namespace gstnpu
