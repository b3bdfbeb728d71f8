#include <algorithm>
#include <cstdio>

#include <npucore/error.hpp>
#include <npuvision/model_card.hpp>

#include "compile_command.hpp"
#include "graph_source.hpp"
#include "own_scaling.hpp"
#include "tensor_ids.hpp"

namespace gstnpu {
namespace {

class BlobSource : public GraphSource {
 public:
  BlobSource(std::shared_ptr<Graph> graph, const npu::vision::TensorGroup& ids,
             std::vector<std::string> warnings)
      : graph_(std::move(graph)),
        warnings_(std::move(warnings)),
        group_(caps_group_of(ids, graph_->model().outputs(),
                             {graph_->geometry().model_width, graph_->geometry().model_height})) {}

  std::optional<npu::FrameLayout> fixed_layout() const override { return graph_->layout(); }
  std::string command_for(const npu::FrameLayout& layout) const override {
    return compile_command(graph_->file(), graph_->preprocess(), layout);
  }
  const TensorGroup& tensor_group() const override { return group_; }
  std::vector<std::string> warnings() const override { return warnings_; }
  std::vector<std::string> repairs() const override { return {}; }
  std::uint64_t compile_ns() const override {
    const npu::LoadStats stats = graph_->model().load_stats();
    return stats.compile_ns + stats.initialize_ns;
  }
  std::shared_ptr<Graph> find(const npu::FrameLayout&) override { return graph_; }
  std::shared_ptr<Compilation> start(const npu::FrameLayout&) override { return nullptr; }
  std::optional<RegionTarget> region_target() override {
    const npu::Preprocess& preprocess = graph_->preprocess();
    const npu::FrameGeometry& geometry = graph_->geometry();
    return RegionTarget{graph_->layout(), preprocess.resize, preprocess.pad_value,
                        static_cast<double>(geometry.model_width) / geometry.model_height};
  }
  void drop_idle_requests() override { graph_->drop_idle_requests(); }

 private:
  const std::shared_ptr<Graph> graph_;
  const std::vector<std::string> warnings_;
  const TensorGroup group_;
};

bool is_u8_image(const npu::Port& port, std::int64_t channels) {
  return port.type == npu::ElementType::kU8 && port.shape.size() == 4 && port.shape[0] == 1 &&
         port.shape[1] > 0 && port.shape[2] > 0 && port.shape[3] == channels;
}

std::string port_name(const npu::Port& port) {
  return port.tensor_names.empty() ? port.name : port.tensor_names.front();
}

bool is_plane(const npu::Port& port, const std::string& suffix) {
  return port_name(port).ends_with(suffix);
}

npu::FrameInput frame_input_of(npu::PixelFormat format, const npu::Port& first,
                               std::vector<std::string> plane_inputs) {
  npu::FrameInput frame;
  const auto width = static_cast<std::uint32_t>(first.shape[2]);
  const auto height = static_cast<std::uint32_t>(first.shape[1]);
  frame.preprocess.frame = npu::FrameLayout::tight(format, width, height);
  frame.geometry.model_width = width;
  frame.geometry.model_height = height;
  frame.plane_inputs = std::move(plane_inputs);
  return frame;
}

/// Whether the chroma plane's name ends in "/uv" (NV12) or "/vu" (NV21).
bool is_luma_and_chroma(const npu::Port& y, const npu::Port& chroma) {
  return is_plane(y, "/y") && (is_plane(chroma, "/uv") || is_plane(chroma, "/vu")) &&
         is_u8_image(y, 1) && is_u8_image(chroma, 2) && chroma.shape[1] == (y.shape[1] + 1) / 2 &&
         chroma.shape[2] == (y.shape[2] + 1) / 2;
}

/// A blob takes frames one by one; its batch cannot be changed.
void check_batch(const npu::Port& port, const std::string& file) {
  if (port.shape.size() != 4 || port.shape[0] <= 1) return;
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   "the input " + port_name(port) + " of " + file + " has a batch of " +
                       std::to_string(port.shape[0]) +
                       ", but frames are inferred one by one: compile the model with a batch of 1");
}

}  // namespace

npu::FrameInput derive_frame_input(const std::vector<npu::Port>& inputs, const std::string& file) {
  if (inputs.size() == 1 && is_u8_image(inputs[0], 3)) {
    return frame_input_of(npu::PixelFormat::kRGB, inputs[0], {port_name(inputs[0])});
  }
  if (inputs.size() == 1 && is_u8_image(inputs[0], 1)) {
    return frame_input_of(npu::PixelFormat::kGray8, inputs[0], {port_name(inputs[0])});
  }
  if (inputs.size() == 2) {
    const bool in_order = is_plane(inputs[0], "/y");
    const npu::Port& y = inputs[in_order ? 0 : 1];
    const npu::Port& chroma = inputs[in_order ? 1 : 0];
    if (is_luma_and_chroma(y, chroma)) {
      const auto format =
          is_plane(chroma, "/vu") ? npu::PixelFormat::kNV21 : npu::PixelFormat::kNV12;
      return frame_input_of(format, y, {port_name(y), port_name(chroma)});
    }
  }
  std::string found;
  for (const npu::Port& port : inputs) {
    check_batch(port, file);
    found += (found.empty() ? "" : ", ") + port_name(port) + " " + npu::to_string(port.type) +
             npu::to_string(port.shape);
  }
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   file + " does not say what frames it takes, and its inputs (" + found +
                       ") do not show it; compile it with npu-compile --frame FORMAT:WIDTHxHEIGHT");
}

namespace {

/// Frames of a blob whose graph takes BGR, as npu-compile notes.
void note_channels(const std::map<std::string, std::string>& model_info, npu::FrameInput* frame) {
  const auto noted = model_info.find(npu::vision::kChannelsKey);
  const npu::FrameLayout& layout = frame->preprocess.frame;
  if (layout.format != npu::PixelFormat::kRGB || noted == model_info.end()) return;
  if (noted->second == npu::to_string(npu::ChannelOrder::kBGR)) {
    frame->preprocess.frame =
        npu::FrameLayout::tight(npu::PixelFormat::kBGR, layout.width, layout.height);
  }
}

/// Boxes of a graph that scales its picture are in pixels of what it scales to, which npu-compile
/// notes.
void note_own_scaling(const std::map<std::string, std::string>& model_info,
                      const npu::vision::ModelCard& card, npu::FrameGeometry* geometry) {
  const auto said = [&](const char* key) {
    const auto found = model_info.find(key);
    return found == model_info.end() ? std::string() : found->second;
  };
  unsigned width = 0, height = 0;
  if (std::sscanf(said(npu::vision::kPictureSizeKey).c_str(), "%ux%u", &width, &height) != 2 ||
      width == 0 || height == 0) {
    return;
  }
  *geometry =
      own_scaling(model_info, card, geometry->model_width, geometry->model_height, {width, height});
}

std::vector<std::string> warnings_of(const npu::FrameInput& frame,
                                     const npu::vision::ModelCard& card) {
  const npu::FrameLayout& layout = frame.preprocess.frame;
  return stretch_warnings(frame.geometry, layout.width, layout.height, card.resize,
                          "compile the model without its own scaling, by npu-compile --frame "
                          "FORMAT:WIDTHxHEIGHT");
}

}  // namespace

std::unique_ptr<GraphSource> open_blob(const npu::Device& device, const Settings& settings) {
  npu::CompiledModel model =
      npu::CompiledModel::import(device, settings.model, compile_options(settings));
  npu::FrameInput frame = model.frame_input() ? *model.frame_input()
                                              : derive_frame_input(model.inputs(), settings.model);
  const npu::vision::ModelCard card =
      npu::vision::read_model_card(settings.model, model.model_info());
  if (!model.frame_input()) {
    note_own_scaling(model.model_info(), card, &frame.geometry);
    note_channels(model.model_info(), &frame);
  }
  const npu::vision::TensorGroup ids =
      ids_of(settings.model, card, model.outputs(),
             {frame.geometry.model_width, frame.geometry.model_height});
  std::vector<std::string> warnings = warnings_of(frame, card);
  const npu::vision::InputSize size{frame.geometry.model_width, frame.geometry.model_height};
  if (std::string doubt = pixel_doubt_of(card, model.outputs(), size); !doubt.empty()) {
    warnings.push_back(std::move(doubt));
  }
  return std::make_unique<BlobSource>(std::make_shared<Graph>(std::move(model), std::move(frame),
                                                              settings.model, card.to_json(), ids),
                                      ids, std::move(warnings));
}

}  // namespace gstnpu
