#include "kafka_broker.hpp"

#include <cstdlib>
#include <sstream>

#include "gst/publish/publish_harness.hpp"

namespace gstnpu_test {

void KafkaBroker::start_with(const std::vector<std::string>& options) {
  std::vector<std::string> command = {find_program("python3"), "-B",
                                      std::getenv("NPU_KAFKA_BROKER"), std::to_string(port_),
                                      folder_.file("")};
  command.insert(command.end(), options.begin(), options.end());
  process_.emplace(command, folder_.file("log"));
  EXPECT_TRUE(becomes([this] { return has_listener(port_); })) << folder_.read("log");
}

std::vector<std::string> KafkaBroker::lines_of(const std::string& file) const {
  std::vector<std::string> lines;
  std::istringstream text(folder_.read(file));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<int> KafkaBroker::frames() const {
  const std::string key = "\t{\"frame\":";
  std::vector<int> frames;
  for (const std::string& message : messages()) {
    const std::size_t at = message.find(key);
    EXPECT_NE(at, std::string::npos) << message;
    if (at == std::string::npos) continue;
    frames.push_back(std::stoi(message.substr(at + key.size())));
  }
  return frames;
}

}  // namespace gstnpu_test
