#include "memory_use.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

std::uint64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, key.size(), key) == 0) return std::stoull(line.substr(key.size())) << 10;
  }
  throw std::runtime_error("/proc/self/status has no " + key);
}

}  // namespace

std::uint64_t anonymous_bytes() {
  return status_bytes("RssAnon:");
}

std::uint64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

AnonymousPeak::AnonymousPeak()
    : thread_([this] {
        while (!ended_) {
          most_ = std::max(most_.load(), anonymous_bytes());
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }) {}

AnonymousPeak::~AnonymousPeak() {
  ended_ = true;
  thread_.join();
}

}  // namespace bench
