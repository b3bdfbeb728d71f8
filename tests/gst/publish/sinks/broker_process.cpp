#include "broker_process.hpp"

#include <sstream>

#include "gst/publish_harness.hpp"

namespace gstnpu_test {

void BrokerProcess::start_with(const std::vector<std::string>& options) {
  std::vector<std::string> command = {find_program("python3"), "-B", script_,
                                      std::to_string(port()), folder_.file("")};
  command.insert(command.end(), options.begin(), options.end());
  process_.emplace(command, folder_.file("log"));
  EXPECT_TRUE(becomes([this] { return has_listener(port()); })) << folder_.read("log");
}

std::vector<std::string> BrokerProcess::lines_of(const std::string& file) const {
  std::vector<std::string> lines;
  std::istringstream text(folder_.read(file));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace gstnpu_test
