#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace npu::vision {

/// One section of a .modelinfo file: an input or output of the model.
struct ModelInfoTensor {
  std::string name;                ///< the tensor's name in the model
  std::string id;                  ///< from the tensor registry, like "yolo-v8-out"; may be empty
  std::string type;                ///< "float32", ...; may be empty
  std::vector<std::int64_t> dims;  ///< -1: any; may be empty
  bool is_input = false;
  bool is_column_major = false;

  /// npucore's own keys for outputs of detectors.
  std::vector<std::string> labels;  ///< from `labels` or `labels-file`
  std::optional<double> confidence_threshold;
  std::optional<double> iou_threshold;
};

/// The file that describes a model for GStreamer 1.28 and later; npuvision reads it with every
/// version.
struct ModelInfo {
  std::string file;
  std::string group_id;
  std::vector<ModelInfoTensor> tensors;  ///< in the file's order

  /// Null where the output has no section.
  const ModelInfoTensor* find_output(const std::string& name) const;
  /// The first output with this id; null where there is none.
  const ModelInfoTensor* find_output_by_id(const std::string& id) const;
};

/// Finds `<model>.modelinfo`, else `<model without extension>.modelinfo`.
std::optional<std::string> find_model_info(const std::string& model);

/// Throws Error that names file, group and key.
ModelInfo read_model_info(const std::string& path);

}  // namespace npu::vision
