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

/// What an output is in the registry of tensors by which GStreamer's elements know them.
/// https://github.com/collabora/tensor-id-registry
struct RegisteredTensor {
  std::string id;  ///< "yolo-v8-out"; empty: nobody gave it one
  /// The word of the registry for the order of its dimensions: not how it lies in memory, which is
  /// always row after row.
  bool is_column_major = false;
};

/// The outputs of a model that one decoder takes together.
struct TensorGroup {
  std::string id;                         ///< "yolo-v8-out"; empty: no decoder knows them
  std::vector<RegisteredTensor> outputs;  ///< of each of the model's, in their order
  /// Whether places are in pixels of the model's input, so that decoders that know nothing of how a
  /// frame was scaled are right for frames of that size only.
  bool is_in_model_pixels = true;
};

/// What the .modelinfo beside the model says; without an id where it gives none. The views need no
/// data. Throws Error for a file that cannot be read.
NPU_API TensorGroup read_tensor_group(const std::filesystem::path& model,
                                      std::span<const TensorView> outputs);

/// What card and shapes show; without an id where a registered decoder would take them for
/// something else, or none is known.
NPU_API TensorGroup tensor_group_of(const ModelCard& card, std::span<const TensorView> outputs,
                                    InputSize input);

}  // namespace npu::vision
