// Finds objects in a picture: from a compiled model's outputs to answers, by npuvision.
//
// usage: detect ../models/shapes/shapes.xml picture.ppm
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <npucore/npucore.hpp>
#include <npuvision/decoder.hpp>
#include <npuvision/labels.hpp>

namespace {

namespace vision = npu::vision;

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::vector<char> rgb;
};

/// Reads a binary PPM without comments: "P6 640 360 255", then red, green and blue of each pixel.
Picture read_ppm(const char* path) {
  std::ifstream file(path, std::ios::binary);
  Picture picture;
  std::string kind, most;
  file >> kind >> picture.width >> picture.height >> most;
  const bool is_ppm =
      kind == "P6" && most == "255" && picture.width <= 8192 && picture.height <= 8192;
  picture.rgb.resize(is_ppm ? std::size_t{3} * picture.width * picture.height : 0);
  if (!is_ppm ||
      !file.ignore().read(picture.rgb.data(), static_cast<std::streamsize>(picture.rgb.size()))) {
    throw npu::Error(
        npu::ErrorCode::kInvalidArgument,
        std::string(path) + " is no whole PPM: make one by ffmpeg -i photo.jpg picture.ppm");
  }
  return picture;
}

/// The graph takes the picture as it is: scaling, borders and normalisation are done on the NPU.
npu::CompiledModel compile_for(npu::Model& model, const vision::ModelCard& card,
                               const Picture& picture) {
  const auto frame = npu::FrameLayout::tight(npu::PixelFormat::kRGB, picture.width, picture.height);
  npu::Preprocess steps = model.default_preprocess(frame);
  vision::apply(card, &steps);
  model.leave_out_own_steps(&steps);
  model.add_preprocess(steps);
  return npu::CompiledModel::compile(npu::Device::open(), model);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) {
    std::fprintf(stderr, "usage: detect ../models/shapes/shapes.xml picture.ppm\n");
    return 2;
  }
  npu::Model model = npu::Model::read(arguments[1]);
  const vision::ModelCard card = vision::read_model_card(model.path(), model.model_info());
  const Picture picture = read_ppm(arguments[2]);
  const npu::CompiledModel compiled = compile_for(model, card, picture);
  const npu::FrameGeometry& geometry = compiled.frame_input()->geometry;

  std::vector<vision::TensorView> shapes, outputs;
  for (const npu::Port& port : compiled.outputs()) shapes.push_back(vision::view_of(port));
  const vision::ChosenDecoder chosen =
      vision::choose_decoder(card, shapes, {geometry.model_width, geometry.model_height});

  npu::Request request = compiled.create_request();
  const npu::Tensor input =
      request.input(compiled.input_index(compiled.frame_input()->plane_inputs[0]));
  std::memcpy(input.data(), picture.rgb.data(), picture.rgb.size());
  request.infer();

  for (const std::size_t index : chosen.outputs) {
    outputs.push_back(vision::view_of(compiled.outputs()[index], request.output(index)));
  }
  vision::Answer answer;
  chosen.decoder->decode(outputs, geometry, {picture.width, picture.height},
                         vision::options_of(card, chosen.decoder->family()), &answer);
  for (const vision::Object& found : answer.objects) {
    std::printf("%s %.2f from %.0f,%.0f to %.0f,%.0f\n",
                vision::label_of(card.labels, found.label_id).c_str(),
                static_cast<double>(found.confidence), found.left, found.top, found.right,
                found.bottom);
  }
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
