// The mistakes that a file or an edit has.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace npustream {

using Json = nlohmann::ordered_json;

/// One mistake. `path` is like "streams[2].source"; `line` and `column` count from 1, and are 0
/// where the text was JSON.
struct Problem {
  std::string path, message;
  int line = 0, column = 0;
  /// "cameras.yaml:12:7: streams[2].source: ...", without the numbers where there are none.
  std::string text(const std::string& file) const;
};

/// One problem or more in a file or an edit.
class ConfigError : public std::runtime_error {
 public:
  ConfigError(const std::string& file, std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

}  // namespace npustream
