#include "image_input.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <npucore/error.hpp>

#include "base/text.hpp"
#include "ir/graph/bounds.hpp"
#include "ir/graph/layer.hpp"

namespace npu::ir {
namespace {

using base::text;

constexpr std::size_t kImageRank = 4;
constexpr std::int64_t kLargestSide = 1 << 14;  // a resampling's matrix has as many rows

std::string describe(const Port& port) {
  return text(base::quoted(port.name), ' ', to_string(port.type), to_string(port.shape));
}

std::string list_inputs(const Model::Impl& model) {
  std::vector<std::string> lines;
  for (const auto& input : model.inputs) lines.push_back(describe(input));
  return lines.empty() ? "none" : base::join(lines, ", ");
}

std::size_t named_input(const Model::Impl& model, const std::string& name) {
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    if (model.inputs[i].answers_to(name)) return i;
  }
  throw Error(ErrorCode::kNotFound,
              text(model.document.title(), " has no input ", base::quoted(name),
                   "; its inputs are: ", list_inputs(model)));
}

/// Whether these inputs take the planes of NV12, or of I420, as OpenVINO's PrePostProcessor has
/// them.
bool are_planes(const Model::Impl& model, const std::vector<std::size_t>& inputs) {
  std::vector<std::int64_t> channels;
  for (const std::size_t index : inputs) {
    if (model.inputs[index].type != ElementType::kU8) return false;
    channels.push_back(model.inputs[index].shape[3]);
  }
  using Channels = std::vector<std::int64_t>;
  if (channels != Channels{1, 2} && channels != Channels{1, 1, 1}) return false;
  const Shape &luma = model.inputs[inputs[0]].shape, &chroma = model.inputs[inputs[1]].shape;
  return luma[1] < 0 || chroma[1] < luma[1];
}

std::size_t only_image(const Model::Impl& model) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    if (model.inputs[i].shape.size() == kImageRank) {
      found.push_back(i);
    }
  }
  if (found.size() == 1) return found.front();
  if (are_planes(model, found)) {
    throw Error(ErrorCode::kUnsupported,
                text(model.document.title(),
                     " takes each plane of a picture by an input of its own: compile it as it is, "
                     "by npu-compile without --frame, and give the blob to npuimport; its inputs "
                     "are: ",
                     list_inputs(model)));
  }
  throw Error(ErrorCode::kNotFound,
              text(model.document.title(), " has ",
                   found.empty() ? "no input of rank 4 that could take a picture"
                                 : "several inputs of rank 4: name the one that takes the picture",
                   "; its inputs are: ", list_inputs(model)),
              {}, found.empty() ? NextStep::kNone : NextStep::kNameInput);
}

bool is_channel_count(std::int64_t dimension) {
  return dimension == 3 || dimension == 1;
}

/// Follows the layout if there is one, else the axis with three entries, or with one.
std::optional<bool> channels_are_last(pugi::xml_node layer, const Shape& shape) {
  const auto letters = layout_letters(layer);
  if (letters == "NCHW") return false;
  if (letters == "NHWC") return true;
  for (const std::int64_t count : {3, 1}) {
    if (shape[1] == count) return false;
    if (shape[3] == count) return true;
  }
  return {};
}

[[noreturn]] void fail(const Model::Impl& model, const Port& port, const std::string& reason,
                       NextStep next_step = NextStep::kNone) {
  throw Error(ErrorCode::kUnsupported,
              text("input ", describe(port), " of ", model.document.title(),
                   " cannot take frames: ", reason),
              {}, next_step);
}

void check_port(const Model::Impl& model, const Port& port) {
  if (port.shape.size() != kImageRank) {
    fail(model, port, "a picture has four dimensions");
  }
  const auto dynamic = std::find_if(port.shape.begin(), port.shape.end(),
                                    [](std::int64_t dimension) { return dimension < 1; });
  if (dynamic != port.shape.end()) {
    const bool is_open = *dynamic < 0;
    fail(model, port,
         text("its dimension ", dynamic - port.shape.begin(), " is ",
              is_open ? "dynamic: reshape the model to a size first" : "0"),
         is_open ? NextStep::kReshape : NextStep::kNone);
  }
  if (port.shape[0] != 1) {
    fail(model, port, text("its batch is ", port.shape[0], ": reshape the model to a batch of 1"),
         NextStep::kReshape);
  }
  if (std::any_of(port.shape.begin(), port.shape.end(),
                  [](std::int64_t dimension) { return dimension > kLargestSide; })) {
    fail(model, port, text("no side of a picture may be larger than ", kLargestSide));
  }
  constexpr std::array kTypes{ElementType::kF32, ElementType::kF16, ElementType::kU8,
                              ElementType::kI8};
  if (std::find(kTypes.begin(), kTypes.end(), port.type) == kTypes.end()) {
    fail(model, port, "frames can be converted only to the element types f32, f16, u8 and i8");
  }
}

}  // namespace

ImageInput find_image_input(const Model::Impl& model, const std::string& name) {
  const auto index = name.empty() ? only_image(model) : named_input(model, name);
  ImageInput image;
  image.port = model.inputs[index];
  image.layer = model.document.layers_of_type("Parameter")[index];
  image.port.shape = with_upper_bounds(image.layer).value_or(image.port.shape);
  check_port(model, image.port);
  const auto last = channels_are_last(image.layer, image.port.shape);
  const auto& shape = image.port.shape;
  if (!last || !is_channel_count(shape[*last ? 3 : 1])) {
    fail(model, image.port, "neither its second nor its last dimension is 3 or 1 channels");
  }
  image.channels_last = *last;
  image.channels = static_cast<std::uint32_t>(shape[*last ? 3 : 1]);
  image.height = static_cast<std::uint32_t>(shape[*last ? 1 : 2]);
  image.width = static_cast<std::uint32_t>(shape[*last ? 2 : 3]);
  return image;
}

}  // namespace npu::ir
