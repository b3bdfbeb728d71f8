#include <npucore/error.hpp>
#include <npucore/model.hpp>
#include <npuvision/labels.hpp>

#include "tree.hpp"

namespace npu::vision {
namespace {

constexpr const char* kBlanks = " \t\r\n";

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

constexpr std::size_t kMostLabelsBytes = std::size_t{4} << 20;

std::string read_text(const std::string& path, const std::string& folder) {
  try {
    return npu::read_input(path, kMostLabelsBytes, folder);
  } catch (const npu::Error& error) {
    throw npu::Error(error.code(), std::string("cannot read the labels file: ") + error.what());
  }
}

}  // namespace

std::vector<std::string> split_labels(std::string_view list, char separator) {
  std::vector<std::string> labels = split(list, separator);
  // Several blanks are one separator. In a comma list only the last part may be empty.
  if (separator == ' ') {
    std::erase_if(labels, [](const std::string& label) { return label.empty(); });
  } else if (labels.back().empty()) {
    labels.pop_back();
  }
  return labels;
}

std::vector<std::string> read_labels_file(const std::string& path, const std::string& folder) {
  std::string text = read_text(path, folder);
  text.erase(text.find_last_not_of(kBlanks) + 1);  // there may be millions of empty lines
  if (text.starts_with(kByteOrderMark)) {
    text.erase(0, kByteOrderMark.size());
  }
  std::vector<std::string> labels = split(text, '\n');
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (labels.empty()) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "the labels file " + path + " has no labels: write one per line");
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (is_utf8(labels[i])) continue;
    throw npu::Error(
        npu::ErrorCode::kInvalidArgument,
        "the labels file " + path + " is not UTF-8 text: line " + std::to_string(i + 1));
  }
  return labels;
}

std::string label_of(const std::vector<std::string>& labels, std::uint32_t label_id) {
  if (label_id < labels.size() && !labels[label_id].empty()) return labels[label_id];
  return "class " + std::to_string(label_id);
}

}  // namespace npu::vision
