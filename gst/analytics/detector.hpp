#pragma once

#include <gst/gst.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npuvision/model_info.hpp>
#include <npuvision/yolo.hpp>

#include "meta/npumeta.h"

#include "tensor_view.hpp"

namespace gstnpu {

/// What the user set. What is open comes from the model's .modelinfo, then from the model itself.
struct DetectorSettings {
  std::string tensor_name;  ///< empty: found by .modelinfo or shape
  YoloLayout layout = YoloLayout::kAuto;
  std::optional<float> threshold;
  std::optional<float> iou_threshold;
  std::size_t max_detections = YoloOptions{}.max_detections;
  std::string labels;       ///< comma list
  std::string labels_file;  ///< counts where `labels` is empty

  /// The user's, else those of the output's `section` of .modelinfo, which may be null, else the
  /// model's own, which blanks separate. Throws npu::Error.
  std::vector<std::string> find_labels(const ModelInfoTensor* section,
                                       const std::string& model_labels) const;
};

/// Finds the objects that a frame's tensors describe. One thread.
class Detector {
 public:
  /// Holds from the next frame on; reads .modelinfo and labels anew.
  void configure(DetectorSettings settings);

  /// Best first, valid until the next call; nothing for a buffer without tensors of a whole frame
  /// that nobody has decoded yet. The buffer is writable: notes there what is decoded. Throws
  /// npu::Error.
  std::optional<std::span<const Detection>> detect(GstBuffer* buffer, FrameSize frame);

  const std::vector<std::string>& labels() const { return labels_; }
  /// A sentence for the user, once; else empty.
  std::string take_warning();

 private:
  void describe_model(const GstNpuInferenceMeta* meta);
  void find_section();
  std::vector<InferredTensor> candidates_of(GstBuffer* buffer) const;
  GstNpuInferenceMeta* choose_inference(const std::vector<InferredTensor>& candidates) const;
  GstNpuTensor find_tensor(const std::vector<InferredTensor>& candidates) const;
  void compare_labels(const YoloTensor& tensor);

  DetectorSettings settings_;
  bool described_ = false;  // the members below are right for model_ and model_labels_
  std::string model_, model_labels_;
  std::optional<ModelInfo> info_;
  const ModelInfoTensor* section_ = nullptr;  // of info_: the output to decode
  std::vector<std::string> labels_;
  YoloOptions options_;
  bool compared_labels_ = false;
  std::string warning_;
  YoloDecoder decoder_;
};

}  // namespace gstnpu
