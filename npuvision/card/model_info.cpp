#include "model_info.hpp"

#include <glib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

#include <npucore/error.hpp>
#include <npucore/model.hpp>
#include <npuvision/labels.hpp>

#include "tree.hpp"

namespace npu::vision {
namespace {

constexpr const char* kMainGroup = "modelinfo";
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

// A key file and the words for its errors.
class KeyFile {
 public:
  explicit KeyFile(std::string path)
      : path_(std::move(path)), file_(g_key_file_new(), g_key_file_unref) {
    g_key_file_set_list_separator(file_.get(), ',');
    // Links must not lead out of the folder: their target would be taken for the model's file.
    const std::filesystem::path file(path_), folder = file.parent_path();
    std::string text = npu::read_input(file.filename(), kMostBytes, folder.empty() ? "." : folder);
    check_utf8(text);
    if (text.starts_with(kByteOrderMark)) {
      text.erase(0, kByteOrderMark.size());
    }
    GError* error = nullptr;
    if (g_key_file_load_from_data(file_.get(), text.data(), text.size(), G_KEY_FILE_NONE, &error)) {
      return;
    }
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "cannot read " + path_ + ": " + take_message(error));
  }

  const std::string& path() const { return path_; }

  std::vector<std::string> groups() const {
    return list_of(Texts(g_key_file_get_groups(file_.get(), nullptr), g_strfreev));
  }

  bool has(const std::string& group, const char* key) const {
    return g_key_file_has_key(file_.get(), group.c_str(), key, nullptr);
  }

  std::string text(const std::string& group, const char* key) const {
    check_present(group, key);
    GError* error = nullptr;
    // Along with an error, GLib returns the text as far as it understood it.
    const Text value(g_key_file_get_string(file_.get(), group.c_str(), key, &error), g_free);
    if (error != nullptr) {
      refuse(group, key, take_message(error));
    }
    return value.get();
  }

  std::string optional_text(const std::string& group, const char* key) const {
    return has(group, key) ? text(group, key) : std::string();
  }

  std::vector<std::string> list(const std::string& group, const char* key) const {
    check_present(group, key);
    GError* error = nullptr;
    const Texts values(g_key_file_get_string_list(file_.get(), group.c_str(), key, nullptr, &error),
                       g_strfreev);
    if (error != nullptr) {
      refuse(group, key, take_message(error));
    }
    return list_of(values);
  }

  [[noreturn]] void refuse(const std::string& group, const char* key,
                           const std::string& why) const {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     path_ + ": group [" + group + "], key \"" + key + "\": " + why);
  }

 private:
  using Text = std::unique_ptr<gchar, decltype(&g_free)>;
  using Texts = std::unique_ptr<gchar*, decltype(&g_strfreev)>;

  /// GLib looks at values alone, not at the names of groups.
  void check_utf8(const std::string& text) const {
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      const bool is_comment = line.starts_with('#');
      if (is_comment || is_utf8(line)) continue;
      throw npu::Error(npu::ErrorCode::kInvalidArgument,
                       path_ + ": line " + std::to_string(number) +
                           " is not UTF-8: save the file in that encoding");
    }
  }

  void check_present(const std::string& group, const char* key) const {
    GError* error = nullptr;
    const Text value(g_key_file_get_value(file_.get(), group.c_str(), key, &error), g_free);
    if (error != nullptr) {
      refuse(group, key, take_message(error));
    }
    const std::string raw = value.get();
    if (raw.empty()) {
      refuse(group, key, "is empty");
    }
    if (raw.starts_with("PLACEHOLDER")) {
      refuse(group, key, "still holds \"" + raw + "\": put the model's value there");
    }
  }

  static std::string take_message(GError* error) {
    const std::unique_ptr<GError, decltype(&g_error_free)> owner(error, g_error_free);
    return error->message;
  }

  static std::vector<std::string> list_of(const Texts& texts) {
    std::vector<std::string> result;
    for (gchar** text = texts.get(); *text != nullptr; ++text) result.emplace_back(*text);
    return result;
  }

  std::string path_;
  std::unique_ptr<GKeyFile, decltype(&g_key_file_unref)> file_;
};

void check_version(const KeyFile& file) {
  const std::vector<std::string> groups = file.groups();
  if (std::find(groups.begin(), groups.end(), kMainGroup) == groups.end()) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     file.path() + ": group [modelinfo] is missing: is it a .modelinfo file?");
  }
  const std::string version = file.text(kMainGroup, "version");
  if (version != "1" && !version.starts_with("1.")) {
    file.refuse(kMainGroup, "version", "is " + version + ", but only 1.x is known");
  }
}

// Whether a key with two possible words has the second; a missing key counts as the first.
bool is_second(const KeyFile& file, const std::string& group, const char* key, const char* first,
               const char* second) {
  if (!file.has(group, key)) return false;
  const std::string value = file.text(group, key);
  if (value != first && value != second) {
    file.refuse(group, key, "is \"" + value + "\", not " + first + " or " + second);
  }
  return value == second;
}

std::vector<std::int64_t> read_dims(const KeyFile& file, const std::string& group) {
  std::vector<std::int64_t> dims;
  if (!file.has(group, "dims")) return dims;
  for (const std::string& word : file.list(group, "dims")) {
    gint64 dim = 0;
    std::string digits = word;
    if (!g_ascii_string_to_signed(g_strstrip(digits.data()), 10, -1, G_MAXINT64, &dim, nullptr)) {
      file.refuse(group, "dims",
                  "\"" + word + "\" is not a dimension: use a whole number, or -1 for any");
    }
    dims.push_back(dim);
  }
  return dims;
}

std::optional<double> read_ratio(const KeyFile& file, const std::string& group, const char* key) {
  if (!file.has(group, key)) return std::nullopt;
  const std::string text = file.text(group, key);
  char* end = nullptr;
  const double value = g_ascii_strtod(text.c_str(), &end);
  while (*end == ' ' || *end == '\t') ++end;
  if (end == text.c_str() || *end != '\0' || !(value >= 0 && value <= 1)) {
    file.refuse(group, key, "is \"" + text + "\", not a number from 0 to 1");
  }
  return value;
}

/// Several groups may name the same file.
constexpr std::size_t kMostLabelsFiles = 16;
constexpr std::size_t kMostLabels = std::size_t{1} << 20;
constexpr std::size_t kMostBytesOfLabels = std::size_t{16} << 20;

std::vector<std::string> read_labels(const KeyFile& file, const std::string& group) {
  const bool inline_labels = file.has(group, "labels");
  if (!file.has(group, "labels-file")) {
    if (!inline_labels) return {};
    std::vector<std::string> labels = file.list(group, "labels");
    for (std::string& label : labels) label = g_strstrip(label.data());
    return labels;
  }
  if (inline_labels) {
    file.refuse(group, "labels-file", "cannot be used together with labels: keep one of them");
  }
  const auto folder = std::filesystem::path(file.path()).parent_path();
  try {
    return read_labels_file(file.text(group, "labels-file"), folder.empty() ? "." : folder);
  } catch (const npu::Error& error) {
    file.refuse(group, "labels-file", error.what());
  }
}

ModelInfoTensor read_tensor(const KeyFile& file, const std::string& group) {
  ModelInfoTensor tensor;
  tensor.name = group;
  if (!file.has(group, "dir")) {
    file.refuse(group, "dir", "is missing: input or output");
  }
  tensor.is_input = !is_second(file, group, "dir", "input", "output");
  tensor.id = file.optional_text(group, "id");
  tensor.type = file.optional_text(group, "type");
  tensor.dims = read_dims(file, group);
  tensor.is_column_major = is_second(file, group, "dims-order", "row-major", "col-major");
  tensor.labels = read_labels(file, group);
  tensor.confidence_threshold = read_ratio(file, group, "confidence-threshold");
  tensor.iou_threshold = read_ratio(file, group, "iou-threshold");
  return tensor;
}

template <typename Predicate>
const ModelInfoTensor* find_output_if(const ModelInfo& info, Predicate predicate) {
  const auto found = std::find_if(
      info.tensors.begin(), info.tensors.end(),
      [&](const ModelInfoTensor& tensor) { return !tensor.is_input && predicate(tensor); });
  return found == info.tensors.end() ? nullptr : &*found;
}

}  // namespace

const ModelInfoTensor* ModelInfo::find_output(const std::string& name) const {
  return find_output_if(*this, [&](const ModelInfoTensor& tensor) { return tensor.name == name; });
}

const ModelInfoTensor* ModelInfo::find_output_by_id(const std::string& id) const {
  return find_output_if(*this, [&](const ModelInfoTensor& tensor) { return tensor.id == id; });
}

std::optional<std::string> find_model_info(const std::string& model) {
  namespace fs = std::filesystem;
  for (const fs::path& base : {fs::path(model), fs::path(model).replace_extension()}) {
    fs::path candidate = base;
    candidate += ".modelinfo";
    std::error_code ignored;
    const fs::file_type type = fs::symlink_status(candidate, ignored).type();
    if (type != fs::file_type::not_found && type != fs::file_type::none) return candidate.string();
  }
  return std::nullopt;
}

ModelInfo read_model_info(const std::string& path) {
  const KeyFile file(path);
  check_version(file);
  ModelInfo info{.file = path, .group_id = file.text(kMainGroup, "group-id"), .tensors = {}};
  std::size_t files = 0, labels = 0, bytes = 0;
  for (const std::string& group : file.groups()) {
    if (group == kMainGroup) continue;
    files += file.has(group, "labels-file");
    if (files > kMostLabelsFiles) {
      file.refuse(group, "labels-file",
                  "more than " + std::to_string(kMostLabelsFiles) + " groups of the file have one");
    }
    info.tensors.push_back(read_tensor(file, group));
    labels += info.tensors.back().labels.size();
    if (labels > kMostLabels) {
      file.refuse(
          group, "labels-file",
          "the file's groups have more than " + std::to_string(kMostLabels) + " labels together");
    }
    for (const std::string& label : info.tensors.back().labels) bytes += label.size();
    if (bytes > kMostBytesOfLabels) {
      file.refuse(group, "labels-file",
                  "the labels of the file's groups have more than " +
                      std::to_string(kMostBytesOfLabels) + " bytes together");
    }
  }
  return info;
}

}  // namespace npu::vision
