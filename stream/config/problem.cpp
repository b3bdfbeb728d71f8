#include "problem.hpp"

#include <utility>

namespace npustream {
namespace {

std::string all_of(const std::string& file, const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += (text.empty() ? "" : "\n") + problem.text(file);
  return text;
}

}  // namespace

std::string Problem::text(const std::string& file) const {
  std::string text = file;
  if (line > 0) {
    text += ":" + std::to_string(line) + ":" + std::to_string(column);
  }
  text += (text.empty() ? "" : ": ") + path;
  return text + (path.empty() ? "" : " ") + message;
}

ConfigError::ConfigError(const std::string& file, std::vector<Problem> problems)
    : std::runtime_error(all_of(file, problems)), problems_(std::move(problems)) {}

}  // namespace npustream
