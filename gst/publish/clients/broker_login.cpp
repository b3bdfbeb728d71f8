#include "broker_login.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

constexpr int kPipeWaitMs = 5000;
constexpr std::size_t kMostBytes = 65535;

/// False: it has waited long enough, or reading has failed.
bool may_have_more(int fd, ssize_t got) {
  if (got >= 0) return got > 0;
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&readable, 1, kPipeWaitMs) > 0;
}

/// Up to the end, or to `last`. Of a pipe too, whose writer is waited for a little.
std::string read_until(std::optional<char> last, const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  std::string text;
  std::array<char, 4096> part{};
  for (bool goes_on = fd >= 0; goes_on && text.size() <= kMostBytes;) {
    const ssize_t got = ::read(fd, part.data(), part.size());
    goes_on = may_have_more(fd, got);
    text.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    goes_on = goes_on && !(last && text.find(*last) != std::string::npos);
  }
  if (fd >= 0) {
    ::close(fd);
  }
  return text;
}

std::string read_password(const std::string& property, const std::string& file) {
  std::string line = read_until('\n', file);
  line.resize(std::min(line.find('\n'), line.size()));
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  if (line.empty()) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument, property + ": the first line of \"" + file +
                                                           "\" is empty: write the password");
  }
  return line;
}

std::string variable_of(const std::string& protocol) {
  std::string name = "NPU_" + protocol + "_PASSWORD";
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

}  // namespace

void check_readable(const std::string& property, const std::string& file) {
  if (file.empty() || ::access(file.c_str(), R_OK) == 0) return;
  throw npu::Error(npu::ErrorCode::kNotFound, property + ": cannot read \"" + file + "\" (" +
                                                  std::generic_category().message(errno) +
                                                  "). Name a file that exists");
}

std::string read_settings(const std::string& property, const std::string& file) {
  check_readable(property, file);
  std::string text = read_until(std::nullopt, file);
  if (text.empty() || text.size() > kMostBytes) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     property + ": \"" + file + "\" has " +
                         (text.empty() ? "no" : "more than 65535") +
                         " bytes to read: name a text file with settings");
  }
  return text;
}

std::string password_of(const std::string& protocol, const std::string& password,
                        const std::string& file) {
  if (!password.empty()) return password;
  if (!file.empty()) return read_password(protocol + "-password-file", file);
  const char* variable = std::getenv(variable_of(protocol).c_str());
  return variable ? variable : "";
}

}  // namespace gstnpu
