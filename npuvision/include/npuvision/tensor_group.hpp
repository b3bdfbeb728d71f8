#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <npucore/types.hpp>
#include <npuvision/decoder.hpp>
#include <npuvision/model_card.hpp>
#include <npuvision/tensor_view.hpp>

namespace npu::vision {

/// An output's entry in the tensor registry, by which GStreamer's elements know it.
/// https://github.com/collabora/tensor-id-registry
struct RegisteredTensor {
  std::string id;  ///< "yolo-v8-out"; empty: not registered
  /// The registry's word for the order of dimensions; memory is always row after row.
  bool is_column_major = false;
};

/// Outputs of a model that one decoder takes together.
struct TensorGroup {
  std::string id;                         ///< "yolo-v8-out"; empty: no decoder takes them
  std::vector<RegisteredTensor> outputs;  ///< for each of the model's outputs, in order
  /// Whether coordinates are in pixels of the model's input. Decoders that do not know how a frame
  /// was scaled are right only for frames of that size then.
  bool is_in_model_pixels = true;
};

/// Reads the group from the .modelinfo beside the model; without an id where that has none. The
/// views need no data. Throws Error for a file that cannot be read.
NPU_API TensorGroup read_tensor_group(const std::filesystem::path& model,
                                      std::span<const TensorView> outputs);

/// Derives the group from card and shapes; without an id where none is known, or a registered
/// decoder would misread the outputs.
NPU_API TensorGroup tensor_group_of(const ModelCard& card, std::span<const TensorView> outputs,
                                    InputSize input);

/// The card of a model of which only its outputs' ids in the registry are known: by the first that
/// stands there; empty where none does.
NPU_API ModelCard registered_card(std::span<const std::string> ids);

}  // namespace npu::vision
