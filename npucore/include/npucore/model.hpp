#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <npucore/frame.hpp>

namespace npu {

/// A layer of a model that computes something from the inputs. Its outputs have the names that
/// add_output() gives them; its inputs have none.
struct Layer {
  std::string name, type;
  std::vector<Port> inputs, outputs;
};

/// Key in model_info(), as "256x256", that reading adds: the size to which the graph of an f32
/// picture scales it first and does nothing else, which may be pre-processing or the network's own
/// step. Decoders count boxes to tell.
inline constexpr const char* kInnerSizeKey = "npu_inner_size";

/// An OpenVINO IR (version 11 or 10), editable until it is compiled. Weights of more than 1 MiB
/// are mapped. Copies are independent, but share the weights.
class NPU_API Model {
 public:
  struct Impl;
  /// `path`: an .xml, or a folder with one in it. `weights` empty: the .bin beside the .xml. Errors
  /// name the file, and the line or layer if any.
  static Model read(const std::filesystem::path& path, const std::filesystem::path& weights = {});
  /// A model in memory: the text of its .xml, and the bytes of its .bin. The model and its copies
  /// keep the `owner`, and use bytes in place that nobody changes; without one they are copied.
  static Model read(std::string_view xml, std::span<const std::byte> weights,
                    std::shared_ptr<const void> owner = {});
  Model(const Model& other);
  Model(Model&&) noexcept = default;
  Model& operator=(const Model& other);
  Model& operator=(Model&&) noexcept = default;

  const std::filesystem::path& path() const;  ///< of the .xml; empty for a model in memory
  const std::string& name() const;
  /// A dynamic dimension is -1; so is a bounded one, which is compiled at its bound.
  const std::vector<Port>& inputs() const;
  /// -1 where a dimension depends on the inputs' sizes: CompiledModel::outputs() knows it.
  const std::vector<Port>& outputs() const;
  /// The rt_info section "model_info" (OpenVINO Model API): "labels", "scale_values", ...
  const std::map<std::string, std::string>& model_info() const;
  /// Adds or replaces an entry, for the compiled model and its blob; the compiler does not see it.
  /// Throws Error(kInvalidArgument) for an empty key, and for a zero byte in key or value.
  void set_model_info(const std::string& key, const std::string& value);
  /// All layers, each after those that feed it.
  std::vector<Layer> layers() const;
  /// Appends a layer's outputs to those of the model, unless they are there already: shows what
  /// happens inside. Throws Error(kNotFound).
  void add_output(const std::string& layer_name);
  /// Keeps the first `count` of layers(). Values of theirs that the others used become outputs.
  void keep_first(std::size_t count);

  /// Gives inputs, by name or tensor name, static shapes, as an NPU needs them. Static inputs can
  /// change too if the operators allow it; if not, the compiler says so. Throws Error(kNotFound)
  /// that lists the inputs, or Error(kInvalidArgument) for another number of dimensions, one below
  /// 1, or planes of add_preprocess(): reshape before that. A call that throws changes nothing.
  void reshape(const std::map<std::string, Shape>& shapes);
  /// Changes what NPUs refuse or compute wrongly (docs/models.md); returns one sentence a change.
  /// Outputs may become the raw ones of a detector, with "host_postprocess" in model_info.
  std::vector<std::string> repair();
  /// The usual pre-processing for such frames. model_info gives resize mode ("resize_type"), border
  /// ("pad_value", 0 if only resize_type is there), channel order ("reverse_input_channels": YES is
  /// RGB, NO is BGR), mean ("mean_values") and scale ("scale_values").
  Preprocess default_preprocess(const FrameLayout& frame) const;
  /// Takes mean and scale out of `preprocess` where the graph normalises its picture by the same
  /// numbers itself, where its input is u8, or model_info says so ("embedded_processing"), and sets
  /// the order of channels that a graph takes which turns them. Returns a sentence for each.
  /// `doubts` gets one for each of "scale", "mean" and "channels" that the graph may do or not;
  /// without it they are among those returned. Throws as add_preprocess() does where there is no
  /// image input.
  std::vector<std::string> leave_out_own_steps(
      Preprocess* preprocess, std::map<std::string, std::string>* doubts = nullptr) const;
  /// Width and height to which the graph scales its picture itself before the network, if it does.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> own_picture_size() const;
  /// Inserts the pre-processing in front of the image input. At most once per model.
  void add_preprocess(const Preprocess& preprocess);
  const std::optional<FrameInput>& frame_input() const;  ///< set by add_preprocess()

  /// Surprises to expect on an NPU although the model compiles: one sentence each.
  std::vector<std::string> warnings() const;
  /// Throws Error(kUnsupported) if no NPU compiles it, naming layer, input and dimension.
  void check_supported() const;

 private:
  friend struct internal::Pimpl;
  explicit Model(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// Reads a file that belongs to a model: labels, a .modelinfo. Throws Error, without waiting, if it
/// is no regular file, has more than `most_bytes`, or leads out of a given `folder`.
NPU_API std::string read_input(const std::filesystem::path& file, std::size_t most_bytes,
                               const std::filesystem::path& folder = {});
/// Replaces `file` by a whole new one, as CompiledModel::export_blob() does, or throws.
NPU_API void write_output(const std::filesystem::path& file, std::span<const std::byte> bytes);

}  // namespace npu
