#include "file_kind.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <npucore/error.hpp>

#include "base/text.hpp"

namespace npu::ir {
namespace {

namespace fs = std::filesystem;
using base::text;

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, text(title_of(file), ' ', what));
}

[[noreturn]] void refuse_kind(const fs::path& file, const char* what, const std::string& next) {
  refuse(file, text("is ", what, ": ", next));
}

/// The word for the file in a command.
std::string word_for(const fs::path& file) {
  return file.empty() ? "FILE" : base::quoted(file.string());
}

std::string convert(const fs::path& file) {
  return text("make an OpenVINO IR of it (pip install openvino; ovc ", word_for(file),
              ") and give the .xml");
}

std::string export_it(const fs::path& file) {
  return text("make an OpenVINO IR of it, with Ultralytics by yolo export model=", word_for(file),
              " format=openvino, else by openvino.convert_model() in Python, and give the .xml");
}

/// The field of a ModelProto with the version comes first, then another one with its own number.
bool is_onnx(std::string_view bytes) {
  constexpr std::string_view kNextFields = "\x12\x1a\x22\x28\x32\x3a\x42";
  return bytes.size() > 2 && bytes[0] == '\x08' && bytes[1] > 0 && bytes[1] < 32 &&
         kNextFields.find(bytes[2]) != std::string_view::npos;
}

/// torch.save() writes a ZIP archive whose first file is data.pkl; before 1.6 it wrote a pickle.
bool is_pytorch(std::string_view bytes) {
  return bytes.starts_with("\x80\x02\x8a\x0a\x6c\xfc\x9c") ||
         (bytes.starts_with("PK\x03\x04") &&
          bytes.substr(0, 256).find("data.pkl") != std::string_view::npos);
}

bool ends_with(const fs::path& file, std::string_view extension) {
  return file.extension().string() == extension;
}

}  // namespace

std::string title_of(const fs::path& file) {
  return file.empty() ? "the model in memory" : base::quoted(file.string());
}

void refuse_other_kinds(std::span<const std::byte> all, const fs::path& file) {
  const std::string_view bytes(reinterpret_cast<const char*>(all.data()),
                               std::min<std::size_t>(all.size(), 512));
  if (bytes.starts_with("\x7f"
                        "ELF")) {
    refuse_kind(file, "a compiled blob, not an OpenVINO IR",
                "import it (npuimport, CompiledModel::import)");
  }
  // An IR's first characters: white space or a byte-order mark, then "<".
  const auto first = bytes.find_first_not_of("\xef\xbb\xbf \t\r\n");
  if (bytes.empty() || (first != std::string_view::npos && bytes[first] == '<')) return;
  if (bytes.starts_with("version https://git-lfs")) {
    refuse_kind(file, "a pointer that Git LFS left in place of the file",
                "fetch it by git lfs pull");
  }
  if (is_onnx(bytes) || ends_with(file, ".onnx")) {
    refuse_kind(file, "an ONNX model", convert(file));
  }
  if (is_pytorch(bytes) || ends_with(file, ".pt") || ends_with(file, ".pth")) {
    refuse_kind(file, "a PyTorch file", export_it(file));
  }
  if (bytes.substr(0, 8).ends_with("TFL3") || ends_with(file, ".tflite")) {
    refuse_kind(file, "a TensorFlow Lite model", convert(file));
  }
  if (ends_with(file, ".pb")) {
    refuse_kind(file, "a TensorFlow model", convert(file));
  }
  if (bytes.starts_with("\x89HDF") || ends_with(file, ".keras") || ends_with(file, ".h5")) {
    refuse_kind(
        file, "a Keras model",
        "make an OpenVINO IR of it by openvino.convert_model() in Python, and give the .xml");
  }
  const fs::path xml = fs::path(file).replace_extension(".xml");
  std::error_code error;
  if (ends_with(file, ".bin") && fs::exists(xml, error)) {
    refuse_kind(file, "the weights of a model", text("give ", base::quoted(xml.string())));
  }
}

fs::path ir_in(const fs::path& path) {
  std::error_code error;
  if (const auto name = path.string(); name.starts_with("file:/")) {
    refuse(path, text("is a URI: give the path, ",
                      base::quoted(name.substr(name.find_first_not_of('/', 5) - 1))));
  }
  if (!fs::is_directory(path, error)) return path;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (ends_with(entry.path(), ".xml")) {
      found.push_back(entry.path().string());
    }
  }
  if (error) {
    throw Error(ErrorCode::kIo, text("cannot read the folder ", base::quoted(path.string()), ": ",
                                     error.message()));
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    refuse(path, "is a folder without an .xml in it: give the .xml of an OpenVINO IR");
  }
  std::sort(found.begin(), found.end());
  refuse(path, text("is a folder with ", found.size(), " .xml files: give one of them, such as ",
                    base::quoted(found.front())));
}

}  // namespace npu::ir
