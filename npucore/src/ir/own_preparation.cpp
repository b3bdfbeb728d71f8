// Steps of pre-processing that a graph does itself: what they leave to do, and their geometry.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <npucore/error.hpp>

#include "base/text.hpp"
#include "ir/graph/own_steps.hpp"

#include "hints.hpp"
#include "image_input.hpp"
#include "preprocess.hpp"

namespace npu::ir {
namespace {

using base::text;

std::string list(const std::vector<float>& numbers) {
  std::vector<std::string> words;
  for (const float number : numbers) words.push_back(text(number));
  return base::join(words, ", ");
}

/// An entry of model_info; empty where there is none.
std::string said_of(const Model::Impl& model, const char* key) {
  const auto found = model.model_info.find(key);
  return found == model.model_info.end() ? std::string() : found->second;
}

/// Whether the Model API has put pre-processing into the graph. It also notes the size of the
/// picture that the network takes, as "orig_width" and "orig_height".
bool is_embedded(const Model::Impl& model) {
  return base::is_yes(said_of(model, "embedded_processing"));
}

void refuse_one_plane(const Model::Impl& model, const ImageInput& image, const OwnSteps& own) {
  if (!own.is_from_planes) return;
  throw Error(
      ErrorCode::kUnsupported,
      text("the input ", base::quoted(image.port.name), " of ", model.document.title(),
           " takes NV12 or I420 in one plane: save the model without set_color_format(), or "
           "with one input for each plane"));
}

ChannelOrder opposite(ChannelOrder order) {
  return order == ChannelOrder::kRGB ? ChannelOrder::kBGR : ChannelOrder::kRGB;
}

/// Whether the graph does more for its picture than scaling it, which networks do themselves, too.
bool is_prepared(const OwnSteps& own, const Port& input) {
  return own.is_converted || input.type == ElementType::kU8;
}

/// The size that the Model API has noted, or that the graph scales to. A network's own scaling, of
/// a picture in f32 that nothing else prepares, is none.
std::optional<OwnSteps::Size> own_size(const Model::Impl& model, const OwnSteps& own,
                                       const Port& input) {
  const auto noted = [&](const char* key) {
    return static_cast<std::uint32_t>(std::strtoul(said_of(model, key).c_str(), nullptr, 10));
  };
  const OwnSteps::Size orig{noted("orig_width"), noted("orig_height")};
  if (is_embedded(model) && orig.width > 0 && orig.height > 0) return orig;
  const bool is_open = std::any_of(input.shape.begin(), input.shape.end(),
                                   [](std::int64_t size) { return size < 0; });
  return is_open || is_prepared(own, input) ? own.size : std::nullopt;
}

FrameGeometry scaling_to(const Model::Impl& model, OwnSteps::Size size, std::uint32_t width,
                         std::uint32_t height) {
  const auto input = FrameLayout::tight(PixelFormat::kRGB, width, height);
  return geometry_of(
      is_embedded(model) ? preprocess_from_hints(model.model_info, input) : Preprocess{input},
      size.width, size.height);
}

/// Leaves out mean and scale of one picture, as the graph has them already, and puts its channels
/// in the order in which the graph takes them.
class LeavingOut {
 public:
  LeavingOut(const Model::Impl& model, const ImageInput& image, const OwnSteps& own,
             Preprocess* preprocess)
      : own_(own),
        is_embedded_(is_embedded(model)),
        takes_u8_(image.port.type == ElementType::kU8),
        preprocess_(*preprocess),
        mean_(compare_steps(own.mean, preprocess->mean)),
        scale_(compare_steps(own.scale, preprocess->scale)) {}

  void run() {
    // Behind its mean a network divides, perhaps in the weights of its first convolution.
    const bool has_mean = mean_ != SameStep::kNone && !are_all(preprocess_.mean, 0);
    leave_out("scale", &preprocess_.scale, scale_ != SameStep::kNone || has_mean);
    leave_out("mean", &preprocess_.mean, mean_ != SameStep::kNone);
    order_channels();
    doubt_numbers();
  }

  std::vector<std::string> sentences;
  std::map<std::string, std::string> doubts;

 private:
  static bool are_all(const std::vector<float>& values, float wanted) {
    return std::all_of(values.begin(), values.end(),
                       [wanted](float value) { return value == wanted; });
  }

  void leave_out(const char* name, std::vector<float>* values, bool is_done) {
    const char* const why = is_embedded_ ? "model_info says that it is in the graph"
                            : takes_u8_  ? "the model takes grey levels (u8)"
                            : is_done    ? "the graph does that itself"
                                         : nullptr;
    if (values->empty() || !why) return;
    sentences.push_back(text("the ", name, ' ', list(*values), " is left out: ", why));
    values->clear();
  }

  void order_channels() {
    if (is_embedded_) {
      return order_channels(ChannelOrder::kBGR,
                            "channels go in as BGR: model_info says that the graph turns them");
    }
    const bool is_reversed = mean_ == SameStep::kReversed || scale_ == SameStep::kReversed;
    if (own_.turn.empty()) {
      doubt_channels();
      if (!is_reversed) return;
      return order_channels(opposite(preprocess_.channels),
                            "channels go in the other way round: so the graph normalises them");
    }
    // Graphs that turn are made for pictures of OpenCV's, whose order is BGR. Numbers in reverse
    // order show a network that takes the other order than the card says.
    const ChannelOrder order = is_reversed ? preprocess_.channels : ChannelOrder::kBGR;
    const std::string name = to_string(order);
    order_channels(order, text("channels go in as ", name, ": the graph turns them"));
    doubts["channels"] = text(own_.turn, " turns the picture's channels, so they go in as ", name);
  }

  /// Numbers that are left are for the order that the network takes.
  void order_channels(ChannelOrder order, std::string sentence) {
    if (preprocess_.channels == order) return;
    sentences.push_back(std::move(sentence));
    preprocess_.channels = order;
    std::reverse(preprocess_.mean.begin(), preprocess_.mean.end());
    std::reverse(preprocess_.scale.begin(), preprocess_.scale.end());
  }

  void doubt_channels() {
    for (const auto& later : own_.later) {
      if (!later.turns) continue;
      doubts["channels"] = text(later.layer, " may turn the picture's channels", behind_stop(),
                                "; they go in as ", to_string(preprocess_.channels));
      return;
    }
  }

  void doubt_numbers() {
    for (const auto& later : own_.later) {
      const auto is = [](const std::vector<double>& own, const std::vector<float>& wanted) {
        return compare_steps(own, wanted) != SameStep::kNone;
      };
      std::vector<double> inverse, negative;
      for (const double by : later.factors) inverse.push_back(by == 0 ? 0 : 1 / by);
      for (const double term : later.terms) negative.push_back(-term);
      const auto& [mean, scale] = std::tie(preprocess_.mean, preprocess_.scale);
      if (!are_all(scale, 1) && (is(later.factors, scale) || is(inverse, scale))) {
        doubt("scale", scale, later.layer);
      }
      if (!are_all(mean, 0) && (is(later.terms, mean) || is(negative, mean))) {
        doubt("mean", mean, later.layer);
      }
    }
  }

  void doubt(const char* name, const std::vector<float>& values, const std::string& layer) {
    doubts.try_emplace(name, text("the ", name, ' ', list(values), " is applied, but ", layer,
                                  " may do that, too", behind_stop()));
  }

  std::string behind_stop() const {
    return own_.stop.empty() ? "" : text(" (", own_.stop, " hides what it does)");
  }

  const OwnSteps& own_;
  const bool is_embedded_, takes_u8_;
  Preprocess& preprocess_;
  const SameStep mean_, scale_;
};

}  // namespace

std::vector<std::string> leave_out_own_steps(const Model::Impl& model, Preprocess* preprocess,
                                             std::map<std::string, std::string>* doubts) {
  const auto image = find_image_input(model, preprocess->input);
  const auto own = own_steps(model.document, model.weights, image.layer);
  refuse_one_plane(model, image, own);
  LeavingOut work(model, image, own, preprocess);
  work.run();
  if (doubts) {
    *doubts = std::move(work.doubts);
  } else {
    for (const auto& [step, doubt] : work.doubts) work.sentences.push_back(doubt);
  }
  return std::move(work.sentences);
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> own_picture_size(const Model::Impl& model) {
  const auto parameters = model.document.layers_of_type("Parameter");
  const Port* picture = nullptr;
  OwnSteps own;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Port& input = model.inputs[i];
    if (input.shape.size() != 4) continue;
    const OwnSteps steps = own_steps(model.document, model.weights, parameters[i]);
    if (picture && !steps.is_from_planes) return std::nullopt;    // several pictures
    if (picture && input.shape[1] < picture->shape[1]) continue;  // its chroma
    picture = &input;
    own = steps;
  }
  if (!picture) return std::nullopt;
  const auto size = own_size(model, own, *picture);
  return size ? std::optional(std::pair(size->width, size->height)) : std::nullopt;
}

std::optional<FrameGeometry> own_scaling(const Model::Impl& model, const ImageInput& image) {
  const auto own = own_steps(model.document, model.weights, image.layer);
  refuse_one_plane(model, image, own);
  const auto size = own_size(model, own, image.port);
  if (!size) return {};
  return scaling_to(model, *size, image.width, image.height);
}

void note_inner_size(Model::Impl& model) {
  const auto is_picture = [](const Port& input) { return input.shape.size() == 4; };
  const auto picture = std::find_if(model.inputs.begin(), model.inputs.end(), is_picture);
  if (picture == model.inputs.end() || is_embedded(model)) return;
  if (std::find_if(picture + 1, model.inputs.end(), is_picture) != model.inputs.end()) return;
  const auto parameters = model.document.layers_of_type("Parameter");
  const auto index = static_cast<std::size_t>(picture - model.inputs.begin());
  const auto own = own_steps(model.document, model.weights, parameters[index]);
  if (own.size && !is_prepared(own, *picture)) {
    model.model_info[kInnerSizeKey] = text(own.size->width, 'x', own.size->height);
  }
}

}  // namespace npu::ir
