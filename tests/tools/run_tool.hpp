#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/expect.hpp"

namespace npu::test {

struct ToolRun {
  int code = -1;       ///< exit code; 128 and the signal's number where one ended it
  std::string output;  ///< both streams
};

/// Runs the program whose path is in the environment variable `tool`, with these words of a shell.
/// `before`: commands of the same shell.
ToolRun run_tool(const char* tool, const std::string& words, const std::string& before = {});

/// A row of what a tool refuses.
struct Failure : Named {
  std::string words;  ///< "MODEL" stands for a good model's path
  int code;
  const char* expected;

  std::string words_for(const std::string& model) const;
};

/// Names of the files in a folder, in order.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace npu::test
