#include "run_tool.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <stdexcept>

namespace npu::test {

ToolRun run_tool(const char* tool, const std::string& words, const std::string& before) {
  if (std::getenv(tool) == nullptr) throw std::runtime_error(std::string(tool) + " is not set");
  const std::string command = before + "\"$" + tool + "\" " + words + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  ToolRun result;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    result.output.append(buffer, got);
  }
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string Failure::words_for(const std::string& model) const {
  std::string text = words;
  if (const auto at = text.find("MODEL"); at != std::string::npos) {
    text.replace(at, 5, model);
  }
  return text;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace npu::test
