#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <npucore/export.hpp>
#include <npucore/frame.hpp>
#include <npucore/types.hpp>

namespace npu {

namespace internal {
struct ModelState;
}

/// An OpenVINO IR (version 11 or 10) as it lies on disk, editable until it is compiled. The weights
/// are mapped, never read into the heap.
class NPU_API Model {
 public:
  /// `weights` empty: the .bin beside the .xml. Errors name the file, and the line or layer where
  /// there is one.
  static Model read(const std::filesystem::path& xml, const std::filesystem::path& weights = {});
  ~Model();
  Model(const Model&);  ///< an independent copy; the mapped weights are shared
  Model(Model&&) noexcept;
  Model& operator=(const Model&);
  Model& operator=(Model&&) noexcept;

  const std::filesystem::path& path() const;
  const std::string& name() const;
  /// A dynamic dimension is -1; a bounded one too, and is compiled at its bound.
  const std::vector<Port>& inputs() const;
  /// -1 where a dimension depends on the inputs' sizes: CompiledModel::outputs() has it.
  const std::vector<Port>& outputs() const;

  /// The rt_info section "model_info" (OpenVINO Model API): "labels", "scale_values",
  /// "resize_type", ...
  const std::map<std::string, std::string>& model_info() const;

  /// Sizes for inputs, by name or tensor name, each whole and static: what an NPU needs of a model
  /// with dynamic dimensions. Static inputs take another size too, where the model's operators
  /// allow it; the compiler says when they do not. Throws Error(kNotFound) that lists the inputs,
  /// Error(kInvalidArgument) for another number of dimensions, one below 1, or the planes of
  /// add_preprocess: reshape before that. Nothing is changed by a call that throws.
  void reshape(const std::map<std::string, Shape>& shapes);

  /// For frames of this layout, with resize mode ("resize_type"), border ("pad_value", 0 where only
  /// resize_type is given), channel order ("reverse_input_channels": YES is RGB, NO is BGR), mean
  /// ("mean_values") and scale ("scale_values") as model_info tells them.
  Preprocess default_preprocess(const FrameLayout& frame) const;
  /// Puts in front of the image input what turns such frames into it. At most once per model.
  void add_preprocess(const Preprocess& preprocess);
  /// Set by add_preprocess.
  const std::optional<FrameInput>& frame_input() const;

  /// What may surprise on an NPU though it compiles: one sentence each.
  std::vector<std::string> warnings() const;
  /// Throws Error(kUnsupported) for what no NPU compiles, naming layer, input and dimension.
  void check_supported() const;

  const std::shared_ptr<internal::ModelState>& state() const { return state_; }

 private:
  explicit Model(std::shared_ptr<internal::ModelState> state);
  std::shared_ptr<internal::ModelState> state_;
};

}  // namespace npu
