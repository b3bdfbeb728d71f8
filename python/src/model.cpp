#include "model.hpp"

#include <npuvision/model_card.hpp>

#include "arrays.hpp"
#include "buffer.hpp"

namespace pynpu {
namespace {

using namespace nb::literals;

void bind_port(nb::module_& module) {
  using npu::Port;
  nb::class_<Port>(module, "Port", "One input or output of a model.")
      .def_prop_ro(
          "name", [](const Port& port) { return key_of(port); },
          "The tensor name, else the layer's: the key in the dicts of infer().")
      .def_ro("layer", &Port::name, "The layer's name.")
      .def_ro("names", &Port::tensor_names, "All tensor names.")
      .def_prop_ro(
          "dtype",
          [](const Port& port) {
            return npu::bit_width(port.type) == 0 ? npu::to_string(port.type)
                                                  : dtype_name(port.type);
          },
          "NumPy's name: 'float32', 'float16', 'bfloat16', 'uint8', ...")
      .def_prop_ro(
          "element_type", [](const Port& port) { return npu::to_string(port.type); },
          "OpenVINO's name: 'f32', 'f16', 'i4', ...")
      .def_prop_ro(
          "shape", [](const Port& port) { return tuple_of(port.shape); },
          "Dimensions, outermost first; None: dynamic.")
      .def_prop_ro("size_bytes", &Port::size_bytes, "Bytes of a dense tensor.")
      .def("__repr__", [](const Port& port) {
        return "<npucore.Port '" + key_of(port) + "' " + npu::to_string(port.type) +
               npu::to_string(port.shape) + ">";
      });
}

npu::FrameLayout layout_of(const std::string& format, std::uint32_t width, std::uint32_t height,
                           const std::string& matrix, const std::string& range,
                           std::pair<std::uint32_t, std::uint32_t> crop, nb::handle planes) {
  auto frame = npu::FrameLayout::tight(npu::pixel_format_from_string(format), width, height);
  frame.matrix = npu::color_matrix_from_string(matrix);
  frame.range = npu::color_range_from_string(range);
  std::tie(frame.crop_left, frame.crop_top) = crop;
  if (!planes.is_none()) {
    frame.planes.clear();
    for (nb::handle plane : nb::iter(planes)) {
      const auto [stride, rows] = nb::cast<std::pair<std::uint32_t, std::uint32_t>>(plane);
      frame.planes.push_back({stride, rows});
    }
  }
  frame.validate();
  return frame;
}

void bind_frame(nb::module_& module) {
  using npu::FrameLayout;
  nb::class_<FrameLayout>(
      module, "Frame",
      "How pictures lie in memory, for Model.preprocess(). format: 'RGB', 'BGR' (OpenCV's), "
      "'NV12', "
      "'I420', 'GRAY8', ...; matrix: 'bt601', 'bt709', 'bt2020' and range: 'limited', 'full' of "
      "Y'CbCr formats; crop: (left, top) of the visible part; planes: (stride in bytes, rows) of "
      "each.")
      .def(
          "__init__",
          [](FrameLayout* self, const std::string& format, std::uint32_t width,
             std::uint32_t height, const std::string& matrix, const std::string& range,
             std::pair<std::uint32_t, std::uint32_t> crop, nb::handle planes) {
            new (self) FrameLayout(layout_of(format, width, height, matrix, range, crop, planes));
          },
          "format"_a, "width"_a, "height"_a, nb::kw_only(), "matrix"_a = "bt601",
          "range"_a = "limited", "crop"_a = std::pair<std::uint32_t, std::uint32_t>(0, 0),
          "planes"_a = nb::none())
      .def_ro("width", &FrameLayout::width, "Visible pixels.")
      .def_ro("height", &FrameLayout::height, "Visible pixels.")
      .def_prop_ro("format", [](const FrameLayout& frame) { return npu::to_string(frame.format); })
      .def("__repr__",
           [](const FrameLayout& frame) { return "<npucore.Frame " + frame.describe() + ">"; });
}

struct Steps {
  std::optional<std::string> input, resize, channels;
  std::optional<float> crop_share, pad_value;
  std::optional<std::vector<float>> mean, scale;
};

void override_with(const Steps& steps, npu::Preprocess& preprocess) {
  if (steps.input) {
    preprocess.input = *steps.input;
  }
  if (steps.resize) {
    preprocess.resize = npu::resize_mode_from_string(*steps.resize);
  }
  if (steps.channels) {
    preprocess.channels = npu::channel_order_from_string(*steps.channels);
  }
  if (steps.crop_share) {
    preprocess.crop_share = *steps.crop_share;
  }
  if (steps.pad_value) {
    preprocess.pad_value = *steps.pad_value;
  }
  if (steps.mean) {
    preprocess.mean = *steps.mean;
  }
  if (steps.scale) {
    preprocess.scale = *steps.scale;
  }
}

std::vector<std::string> preprocess(npu::Model& model, const npu::FrameLayout& frame,
                                    const npu::vision::ModelCard* card, const Steps& steps) {
  npu::Preprocess wanted = model.default_preprocess(frame);
  if (card != nullptr) {
    npu::vision::apply(*card, &wanted);
  }
  override_with(steps, wanted);
  auto left_out = model.leave_out_own_steps(&wanted);
  model.add_preprocess(wanted);
  return left_out;
}

void reshape(npu::Model& model, nb::handle shapes) {
  std::map<std::string, npu::Shape> wanted;
  if (nb::hasattr(shapes, "items")) {
    for (nb::handle item : nb::iter(shapes.attr("items")())) {
      wanted[nb::cast<std::string>(item[0])] = shape_from(item[1]);
    }
  } else if (model.inputs().size() == 1) {
    wanted[key_of(model.inputs().front())] = shape_from(shapes);
  } else {
    refuse("the model has " + std::to_string(model.inputs().size()) +
           " inputs: give reshape() a dict of names to shapes");
  }
  model.reshape(wanted);
}

nb::list layers_of(const npu::Model& model) {
  nb::list layers;
  for (const npu::Layer& layer : model.layers()) {
    layers.append(nb::make_tuple(layer.name, layer.type, layer.outputs));
  }
  return layers;
}

npu::Model read_bytes(nb::handle text, nb::handle weights) {
  const Buffer xml(text);
  const auto owner = weights.is_none() ? nullptr : std::make_shared<const Buffer>(weights);
  const auto bytes = owner ? owner->bytes() : std::span<const std::byte>();
  const std::string_view view(reinterpret_cast<const char*>(xml.bytes().data()),
                              xml.bytes().size());
  return without_gil([&] { return npu::Model::read(view, bytes, owner); });
}

std::filesystem::path path_from(nb::handle path, const char* what) {
  if (nb::isinstance<nb::str>(path) || nb::hasattr(path, "__fspath__")) {
    return nb::cast<std::filesystem::path>(path);
  }
  const std::string type = nb::cast<std::string>(path.type().attr("__name__"));
  throw nb::type_error((what + (", not " + type)).c_str());
}

npu::Model read_files(nb::handle xml, nb::handle bin) {
  const auto path = path_from(
      xml, "a model is a path, bytes, or a Model of npucore or of OpenVINO's Python package");
  const auto weights = bin.is_none()
                           ? std::filesystem::path()
                           : path_from(bin, "the weights of a model that is a path are a path");
  return without_gil([&] { return npu::Model::read(path, weights); });
}

}  // namespace

npu::Model read_model(nb::handle source, nb::handle weights) {
  if (nb::isinstance<npu::Model>(source)) return nb::cast<const npu::Model&>(source);
  const nb::object ir = nb::module_::import_("npucore._convert").attr("ir_of")(source);
  if (ir.is_none()) {
    return has_bytes(source) ? read_bytes(source, weights) : read_files(source, weights);
  }
  if (!weights.is_none()) {
    refuse("a model that OpenVINO converts brings its weights: leave `weights` out");
  }
  return read_bytes(ir[0], ir[1]);
}

const std::string& key_of(const npu::Port& port) {
  return port.tensor_names.empty() ? port.name : port.tensor_names.front();
}

std::string quoted(const char* kind, const npu::Port& port) {
  return std::string(kind) + " \"" + key_of(port) + '"';
}

std::size_t index_of(const std::vector<npu::Port>& ports, nb::handle name, const char* kind) {
  if (nb::isinstance<nb::int_>(name)) {
    const auto index = nb::cast<std::int64_t>(name);
    if (index >= 0 && static_cast<std::size_t>(index) < ports.size()) {
      return static_cast<std::size_t>(index);
    }
    throw npu::Error(npu::ErrorCode::kNotFound, std::string("there is no ") + kind + ' ' +
                                                    std::to_string(index) + ": the model has " +
                                                    std::to_string(ports.size()));
  }
  const auto wanted =
      nb::cast<std::string>(nb::isinstance<nb::str>(name)     ? nb::borrow(name)
                            : nb::isinstance<npu::Port>(name) ? nb::object(name.attr("name"))
                                                              : nb::object(nb::str(name)));
  std::string names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].answers_to(wanted)) return i;
    names += (i == 0 ? "" : ", ") + key_of(ports[i]);
  }
  throw npu::Error(npu::ErrorCode::kNotFound, std::string("there is no ") + kind + " '" + wanted +
                                                  "': the model has " + names);
}

void bind_model(nb::module_& module) {
  bind_port(module);
  bind_frame(module);
  using npu::Model;
  // Before the functions that name it in their signatures.
  nb::class_<npu::vision::ModelCard>(module, "ModelCard",
                                     "Everything that is known about a model.");
  nb::class_<Model>(module, "Model",
                    "A model, editable until it is compiled. Model.read('model.xml')")
      .def_static(
          "read", &read_model, "source"_a, "weights"_a = nb::none(),
          "source: the path of an .xml, of a folder with one in it, or, where the package openvino "
          "is installed, of an .onnx, .tflite or .pb; the bytes of an .xml or .onnx; or an "
          "openvino.Model. weights: the .bin, if it is not beside the .xml: a path or, for an .xml "
          "in memory, its bytes (bytes, mmap, a NumPy array, ...). The model uses them in place: "
          "do not change them.")
      .def(
          "copy", [](const Model& model) { return Model(model); },
          "A copy that shares the weights.")
      .def_prop_ro("name", &Model::name)
      .def_prop_ro("path", &Model::path)
      .def_prop_ro("inputs", &Model::inputs, nb::rv_policy::copy)
      .def_prop_ro("outputs", &Model::outputs, nb::rv_policy::copy)
      .def_prop_ro("model_info", &Model::model_info, nb::rv_policy::copy,
                   "A copy of the rt_info section 'model_info' (OpenVINO Model API).")
      .def("set_model_info", &Model::set_model_info, "key"_a, "value"_a)
      .def("layers", &layers_of, "(name, type, outputs) of each layer.")
      .def("add_output", &Model::add_output, "layer"_a, "Appends a layer's outputs to the model's.")
      .def("reshape", &reshape, "shapes"_a,
           "Gives inputs static shapes: a dict of names to shapes, or the shape of the only input.")
      .def("repair", &Model::repair,
           "Changes what NPUs refuse or compute wrongly; returns one sentence a change.")
      .def(
          "preprocess",
          [](Model& model, const npu::FrameLayout& frame, const npu::vision::ModelCard* card,
             std::optional<std::string> input, std::optional<std::string> resize,
             std::optional<std::string> channels, std::optional<float> crop_share,
             std::optional<float> pad_value, std::optional<std::vector<float>> mean,
             std::optional<std::vector<float>> scale) {
            return preprocess(model, frame, card,
                              {std::move(input), std::move(resize), std::move(channels), crop_share,
                               pad_value, std::move(mean), std::move(scale)});
          },
          "frame"_a, "card"_a = nb::none(), nb::kw_only(), "input"_a = nb::none(),
          "resize"_a = nb::none(), "channels"_a = nb::none(), "crop_share"_a = nb::none(),
          "pad_value"_a = nb::none(), "mean"_a = nb::none(), "scale"_a = nb::none(),
          "Lets the graph take frames as they are: (height, width, 3) of uint8 for 'RGB' or 'BGR'. "
          "The model and its card say how; these win: resize 'stretch', 'letterbox', 'crop', "
          "'fit-to-window'; pad_value, mean and scale in grey levels 0..255; channels 'RGB' or "
          "'BGR', the model's. Returns a sentence for each step that the model does itself.")
      .def("warnings", &Model::warnings, "Surprises to expect on an NPU: one sentence each.")
      .def("check_supported", &Model::check_supported,
           "Raises UnsupportedError, with layer and input, if no NPU compiles it.")
      .def("__repr__", [](const Model& model) { return "<npucore.Model " + model.name() + ">"; });
}

}  // namespace pynpu
