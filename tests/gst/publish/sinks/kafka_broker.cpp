#include "kafka_broker.hpp"

#include <gtest/gtest.h>

namespace gstnpu_test {

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
