#include "compile_command.hpp"

#include <glib.h>

#include <filesystem>

#include "common/refs.hpp"

namespace gstnpu {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "/._-+:,=") == std::string::npos) {
    return text;
  }
  return TextRef(g_shell_quote(text.c_str())).get();
}

std::string number(float value) {
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_formatd(text, sizeof text, "%.9g", static_cast<double>(value));
}

std::string numbers(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) text += (text.empty() ? "" : ",") + number(value);
  return text;
}

template <class Field>
std::string of_planes(const npu::FrameLayout& frame, Field npu::PlaneLayout::*field) {
  std::string text;
  for (const npu::PlaneLayout& plane : frame.planes) {
    text += (text.empty() ? "" : ",") + std::to_string(plane.*field);
  }
  return text;
}

std::string frame_spec(const npu::FrameLayout& frame) {
  std::string spec = std::string(npu::to_string(frame.format)) + ":" + std::to_string(frame.width) +
                     "x" + std::to_string(frame.height) +
                     ":stride=" + of_planes(frame, &npu::PlaneLayout::stride_bytes) +
                     ":rows=" + of_planes(frame, &npu::PlaneLayout::rows);
  if (frame.crop_left != 0 || frame.crop_top != 0) {
    spec += ":crop=" + std::to_string(frame.crop_left) + "," + std::to_string(frame.crop_top);
  }
  return spec;
}

}  // namespace

std::string compile_command(const std::string& blob, const npu::Preprocess& preprocess,
                            const npu::FrameLayout& frame) {
  std::error_code ignored;
  const std::filesystem::path beside = std::filesystem::path(blob).replace_extension(".xml");
  const std::string model =
      std::filesystem::exists(beside, ignored) ? quoted(beside.string()) : "MODEL.xml";
  std::string command = "npu-compile " + model + " -o " + quoted(blob) + " --frame " +
                        frame_spec(frame) + " --matrix " + npu::to_string(frame.matrix) +
                        " --range " + npu::to_string(frame.range) + " --resize " +
                        npu::to_string(preprocess.resize) + " --pad-value " +
                        number(preprocess.pad_value) + " --channels " +
                        (preprocess.channels == npu::ChannelOrder::kRGB ? "rgb" : "bgr");
  if (preprocess.resize == npu::ResizeMode::kCrop) {
    command += " --crop-share " + number(preprocess.crop_share);
  }
  if (!preprocess.input.empty()) {
    command += " --input " + quoted(preprocess.input);
  }
  // Both are always written: otherwise the model's own hints would apply.
  command += " --mean " + (preprocess.mean.empty() ? "0" : numbers(preprocess.mean));
  command += " --scale " + (preprocess.scale.empty() ? "1" : numbers(preprocess.scale));
  return command;
}

}  // namespace gstnpu
