// Value of the properties named object-class.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace gstnpu {

/// Labels separated by commas, spaces around them ignored. An empty list holds every label.
class LabelList {
 public:
  LabelList() = default;
  explicit LabelList(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\n\r";
    while (!text.empty()) {
      const std::string_view part = text.substr(0, text.find(','));
      text.remove_prefix(std::min(part.size() + 1, text.size()));
      const std::size_t first = part.find_first_not_of(kSpaces);
      if (first == std::string_view::npos) continue;
      labels_.emplace_back(part.substr(first, part.find_last_not_of(kSpaces) + 1 - first));
    }
  }

  bool has(std::string_view label) const {
    return labels_.empty() || std::find(labels_.begin(), labels_.end(), label) != labels_.end();
  }

 private:
  std::vector<std::string> labels_;
};

}  // namespace gstnpu
