#include "driver_trace.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace npu::test {

DriverTrace::DriverTrace() {
  const char* path = std::getenv("SOFTNPU_TRACE");
  if (path == nullptr || *path == '\0') throw std::runtime_error("SOFTNPU_TRACE names no file");
  path_ = path;
  std::error_code missing;
  const auto size = std::filesystem::file_size(path_, missing);
  if (!missing) {
    begin_ = static_cast<std::streamoff>(size);
  }
}

std::vector<ExecutedInput> DriverTrace::executed_inputs() const {
  std::ifstream file(path_);
  file.seekg(begin_);
  std::vector<ExecutedInput> found;
  for (std::string line; std::getline(file, line);) {
    if (line.find("\"inputs\"") == std::string::npos) continue;
    const nlohmann::json call = nlohmann::json::parse(line);
    for (const auto& input : call.at("inputs")) {
      found.push_back({input.at("name"), input.at("bytes"), input.at("offset"),
                       input.at("allocation_bytes"), input.at("imported"),
                       input.value("inode", std::uint64_t{0})});
    }
  }
  return found;
}

}  // namespace npu::test
