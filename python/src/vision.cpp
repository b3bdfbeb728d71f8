#include <mutex>

#include <npucore/compiled_model.hpp>
#include <npuvision/decoder.hpp>

#include "answer.hpp"
#include "model.hpp"

namespace pynpu {
namespace {

using namespace nb::literals;
namespace vision = npu::vision;
using vision::ModelCard;
using vision::TensorView;
using Size = std::pair<std::uint32_t, std::uint32_t>;

ModelCard read_card(nb::handle model) {
  if (nb::isinstance<npu::Model>(model)) {
    const auto& read = nb::cast<const npu::Model&>(model);
    return vision::read_model_card(read.path(), read.model_info());
  }
  if (nb::isinstance<npu::CompiledModel>(model)) {
    return vision::read_model_card({}, nb::cast<const npu::CompiledModel&>(model).model_info());
  }
  const auto path = nb::cast<std::filesystem::path>(model);
  return without_gil(
      [&] { return vision::read_model_card(path, npu::Model::read(path).model_info()); });
}

struct Options {
  std::optional<float> confidence, iou;
  std::optional<std::size_t> max_objects, max_classes;
  std::optional<bool> class_agnostic;
};

void override_with(const Options& options, vision::DecodeOptions& decoding) {
  decoding.confidence_threshold = options.confidence.value_or(decoding.confidence_threshold);
  decoding.iou_threshold = options.iou.value_or(decoding.iou_threshold);
  decoding.max_objects = options.max_objects.value_or(decoding.max_objects);
  decoding.max_classes = options.max_classes.value_or(decoding.max_classes);
  decoding.is_class_agnostic = options.class_agnostic.value_or(decoding.is_class_agnostic);
}

/// A model's decoder, with how its frames become its input. For one thread at a time.
class Decoder {
 public:
  Decoder(ModelCard card, const npu::CompiledModel& model, const Options& options);
  Answer decode(nb::handle outputs, std::optional<Size> frame_size,
                std::optional<std::string> resize);
  const ModelCard& card() const { return card_; }
  const char* family() const { return vision::to_string(chosen_.decoder->family()); }

 private:
  vision::FrameSize frame_from(std::optional<Size> frame_size) const;
  npu::FrameGeometry geometry_for(vision::FrameSize frame,
                                  const std::optional<std::string>& resize) const;
  std::vector<ArrayIn> arrays_in(nb::handle outputs) const;

  ModelCard card_;
  std::vector<npu::Port> ports_;
  std::optional<npu::FrameInput> frame_input_;
  vision::InputSize input_;
  vision::ChosenDecoder chosen_;
  vision::DecodeOptions options_;
  std::shared_ptr<const std::vector<std::string>> labels_;
  std::mutex mutex_;
};

Decoder::Decoder(ModelCard card, const npu::CompiledModel& model, const Options& options)
    : card_(std::move(card)), ports_(model.outputs()), frame_input_(model.frame_input()) {
  input_ = frame_input_ ? vision::InputSize{frame_input_->geometry.model_width,
                                            frame_input_->geometry.model_height}
                        : vision::picture_size(model.inputs());
  std::vector<TensorView> shapes;
  for (const npu::Port& port : ports_) shapes.push_back(vision::view_of(port));
  chosen_ = vision::choose_decoder(card_, shapes, input_);
  if (card_.labels.empty()) {
    card_.labels = chosen_.decoder->usual_labels();
  }
  labels_ = std::make_shared<const std::vector<std::string>>(card_.labels);
  options_ = vision::options_of(card_, chosen_.decoder->family());
  override_with(options, options_);
}

vision::FrameSize Decoder::frame_from(std::optional<Size> frame_size) const {
  if (!frame_size && frame_input_) {
    return {frame_input_->preprocess.frame.width, frame_input_->preprocess.frame.height};
  }
  const Size size = frame_size.value_or(Size(input_.width, input_.height));
  if (size.first == 0 || size.second == 0) {
    refuse("the size of the frame is not known: give frame_size=(width, height)");
  }
  return {size.first, size.second};
}

npu::FrameGeometry Decoder::geometry_for(vision::FrameSize frame,
                                         const std::optional<std::string>& resize) const {
  if (frame_input_ && !resize) return frame_input_->geometry;
  if (input_.width == 0 || input_.height == 0) {
    return {.model_width = frame.width, .model_height = frame.height};
  }
  npu::Preprocess scaling{
      npu::FrameLayout::tight(npu::PixelFormat::kRGB, frame.width, frame.height)};
  scaling.resize = resize ? npu::resize_mode_from_string(*resize)
                          : card_.resize.value_or(npu::ResizeMode::kStretch);
  scaling.crop_share = card_.crop_share.value_or(1);
  return npu::geometry_of(scaling, input_.width, input_.height);
}

std::vector<ArrayIn> Decoder::arrays_in(nb::handle outputs) const {
  const bool is_mapping = nb::hasattr(outputs, "items");
  const bool is_list = nb::isinstance<nb::list>(outputs) || nb::isinstance<nb::tuple>(outputs);
  std::vector<ArrayIn> arrays;
  for (const std::size_t index : chosen_.outputs) {
    const npu::Port& port = ports_[index];
    nb::object array = nb::borrow(outputs);
    if (is_mapping) {
      array = outputs.attr("get")(key_of(port).c_str());
      if (array.is_none()) {
        refuse("the outputs have no \"" + key_of(port) + '"');
      }
    } else if (is_list) {
      if (nb::len(outputs) != ports_.size()) {
        refuse("the model has " + std::to_string(ports_.size()) + " outputs, not " +
               std::to_string(nb::len(outputs)));
      }
      array = outputs[index];
    }
    arrays.push_back(
        array_in("output", key_of(port), array, port.type, array_shape(port.type, port.shape)));
  }
  return arrays;
}

Answer Decoder::decode(nb::handle outputs, std::optional<Size> frame_size,
                       std::optional<std::string> resize) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) {
    refuse("the decoder is used by another thread: make one for each thread");
  }
  const std::vector<ArrayIn> arrays = arrays_in(outputs);
  Answer answer{{}, frame_from(frame_size), labels_, {}};
  const npu::FrameGeometry geometry = geometry_for(answer.frame, resize);
  without_gil([&] {
    std::vector<TensorView> views;
    std::vector<std::vector<std::byte>> dense(arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      TensorView view = vision::view_of(ports_[chosen_.outputs[i]]);
      view.data = arrays[i].data;
      view.size_bytes = arrays[i].size_bytes;
      if (!arrays[i].is_dense) {
        dense[i].resize(arrays[i].size_bytes);
        copy_dense(arrays[i], dense[i].data());
        view.data = dense[i].data();
      }
      views.push_back(view);
    }
    chosen_.decoder->decode(views, geometry, answer.frame, options_, &answer.found);
  });
  return answer;
}

void bind_card(nb::module_& module) {
  auto card = nb::borrow<nb::class_<ModelCard>>(module.attr("ModelCard"));
  card.def_static("read", &read_card, "model"_a,
                  "Reads it from a Model, a CompiledModel, or a path, and the files beside that: "
                  ".modelinfo, metadata.yaml, rt_info, config.json, labels.txt.")
      .def(nb::init<>())
      .def_static("from_json", &ModelCard::from_json, "text"_a)
      .def("to_json", &ModelCard::to_json)
      .def(
          "merged",
          [](const ModelCard& card_, const ModelCard& other) {
            return vision::merged(card_, other);
          },
          "other"_a, "This card's fields where they are set, else the other's.")
      .def_prop_rw(
          "task", [](const ModelCard& card_) { return vision::to_string(card_.task); },
          [](ModelCard& card_, const std::string& task) {
            card_.task = vision::task_from_string(task);
          },
          "'detect', 'segment', 'pose', 'obb', 'classify', ...")
      .def_prop_rw(
          "family", [](const ModelCard& card_) { return vision::to_string(card_.family); },
          [](ModelCard& card_, const std::string& family) {
            card_.family = vision::family_from_string(family);
          },
          "'auto', 'yolo', 'ssd', ...: docs/models.md")
      .def_prop_rw(
          "resize",
          [](const ModelCard& card_) -> nb::object {
            return card_.resize ? nb::cast(npu::to_string(*card_.resize)) : nb::none();
          },
          [](ModelCard& card_, const std::string& mode) {
            card_.resize = npu::resize_mode_from_string(mode);
          },
          "'stretch', 'letterbox', 'crop' or 'fit-to-window'")
      .def_rw("labels", &ModelCard::labels, "By class id.")
      .def_rw("output", &ModelCard::output, "The tensor to decode; empty: by shape.")
      .def_rw("confidence_threshold", &ModelCard::confidence_threshold, nb::arg().none(), "0..1")
      .def_rw("iou_threshold", &ModelCard::iou_threshold, nb::arg().none(), "0..1")
      .def_rw("max_objects", &ModelCard::max_objects, nb::arg().none())
      .def_rw("mean", &ModelCard::mean, "In grey levels 0..255.")
      .def_rw("scale", &ModelCard::scale, "In grey levels 0..255.")
      .def_ro("key_point_names", &ModelCard::key_point_names)
      .def_ro("skeleton", &ModelCard::skeleton, "Pairs of key points.")
      .def_ro("origins", &ModelCard::origins, "The source of each field.")
      .def("__repr__", [](const ModelCard& card_) {
        return std::string("<npucore.vision.ModelCard ") + vision::to_string(card_.task) + ", " +
               std::to_string(card_.labels.size()) + " labels>";
      });
}

}  // namespace

void bind_vision(nb::module_& module) {
  bind_card(module);
  bind_answer(module);
  nb::class_<Decoder>(module, "Decoder",
                      "Turns the outputs of one model into answers. For one thread at a time.")
      .def(
          "__init__",
          [](Decoder* self, const ModelCard& card, const npu::CompiledModel& model,
             std::optional<float> confidence, std::optional<float> iou,
             std::optional<std::size_t> max_objects, std::optional<std::size_t> max_classes,
             std::optional<bool> class_agnostic) {
            new (self)
                Decoder(card, model, {confidence, iou, max_objects, max_classes, class_agnostic});
          },
          "card"_a, "model"_a, nb::kw_only(), "confidence"_a = nb::none(), "iou"_a = nb::none(),
          "max_objects"_a = nb::none(), "max_classes"_a = nb::none(),
          "class_agnostic"_a = nb::none(),
          "confidence, iou: thresholds 0..1, which win over the card's.")
      .def(
          "__call__", &Decoder::decode, "outputs"_a, "frame_size"_a = nb::none(), nb::kw_only(),
          "resize"_a = nb::none(),
          "outputs: what infer() returned, or the arrays in order. frame_size: (width, height) of "
          "the "
          "picture in pixels, to which the answer then belongs; None: the Frame that the model was "
          "compiled for, else the model's own input. resize: how the picture became the input, if "
          "not as Model.preprocess() or the card says.")
      .def_prop_ro("card", &Decoder::card, nb::rv_policy::copy)
      .def_prop_ro("family", &Decoder::family);
}

}  // namespace pynpu
