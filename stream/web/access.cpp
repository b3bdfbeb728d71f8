#include "access.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace npustream::web {
namespace {

constexpr std::size_t kShortestToken = 16;
constexpr const char* kCookie = "npu_stream_session=";

[[noreturn]] void refuse_token_file(const std::string& file, const std::string& why) {
  throw std::runtime_error("server.token-file " + file + ": " + why);
}

struct File {
  explicit File(const std::string& path)
      : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd >= 0) {
      ::close(fd);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd;
};

bool is_in_group(gid_t group) {
  if (group == ::getegid()) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  return count > 0 &&
         std::find(groups.begin(), groups.begin() + count, group) != groups.begin() + count;
}

/// A group may read it, as where Kubernetes mounts a secret for a plain user.
bool is_safe(const struct stat& status) {
  constexpr mode_t kOthers = 07, kGroup = 070, kGroupReads = 040;
  if ((status.st_mode & kOthers) != 0) return false;
  if ((status.st_mode & kGroup) == 0) return true;
  return (status.st_mode & kGroup) == kGroupReads && is_in_group(status.st_gid) &&
         (status.st_uid == 0 || status.st_uid == ::geteuid());
}

std::string read_token(const std::string& path) {
  const File file(path);
  struct stat status = {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) {
    refuse_token_file(path, std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    refuse_token_file(path, "not a file");
  }
  if (!is_safe(status)) {
    refuse_token_file(
        path,
        "others can read it: chmod 600 it; or let it be root's or this user's, with mode 440 or "
        "640 and a group that this process is in");
  }
  std::array<char, 4096> text = {};
  const ssize_t size = ::read(file.fd, text.data(), text.size());
  if (size < 0) {
    refuse_token_file(path, std::strerror(errno));
  }
  std::string token(text.data(), static_cast<std::size_t>(size));
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (token.size() < kShortestToken || !plain) {
    refuse_token_file(
        path,
        "a token is one line of at least 16 letters and digits; 'openssl rand -hex 32' makes one");
  }
  return token;
}

/// Takes as long for a near miss as for a far one.
bool equal(const std::string& one, const std::string& other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned char>(one[i] ^ other[i]);
  return difference == 0;
}

std::string random_hex() {
  std::array<unsigned char, 32> bytes = {};
  const File random("/dev/urandom");
  if (random.fd < 0 ||
      ::read(random.fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error(std::string("/dev/urandom: ") + std::strerror(errno));
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string without_port(const std::string& host) {
  if (!host.empty() && host.front() == '[') return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

std::string cookie_of(const std::string& header) {
  const std::string key = kCookie;
  for (std::size_t at = 0; at < header.size();) {
    const std::size_t end = std::min(header.find(';', at), header.size());
    const std::size_t begin = std::min(header.find_first_not_of(' ', at), end);
    if (header.compare(begin, key.size(), key) == 0) {
      return header.substr(begin + key.size(), end - begin - key.size());
    }
    at = end + 1;
  }
  return "";
}

}  // namespace

bool is_loopback(const std::string& address) {
  in_addr four = {};
  in6_addr six = {};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24U) == 127;
  if (::inet_pton(AF_INET6, address.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return address == "localhost";
}

Access::Access(const ServerConfig& config) : session_(random_hex()) {
  if (!config.token_file.empty()) {
    token_ = read_token(config.token_file);
  }
  if (token_.empty() && !is_loopback(config.address)) {
    throw std::runtime_error(
        "server.address " + config.address +
        " can be reached from other machines: that needs server.token-file, a file of " +
        "mode 600 with a token of at least 16 letters and digits; or let address be 127.0.0.1");
  }
}

Verdict Access::judge_site(const Credentials& credentials) const {
  // With a token, the browser keeps the cookie by host name, so that a name which someone else
  // points here has none.
  if (!has_token() && !is_loopback(without_port(credentials.host))) return Verdict::kWrongHost;
  const std::string& origin = credentials.origin;
  if (!origin.empty() && origin != "http://" + credentials.host &&
      origin != "https://" + credentials.host)
    return Verdict::kOtherSite;
  const std::string& site = credentials.fetch_site;
  if (!site.empty() && site != "same-origin" && site != "none") return Verdict::kOtherSite;
  return Verdict::kAllowed;
}

Verdict Access::judge(const Credentials& credentials) const {
  if (const Verdict verdict = judge_site(credentials); verdict != Verdict::kAllowed) return verdict;
  if (!has_token()) return Verdict::kAllowed;
  constexpr const char* kBearer = "Bearer ";
  const std::string& authorization = credentials.authorization;
  if (authorization.rfind(kBearer, 0) == 0 &&
      is_token(authorization.substr(std::strlen(kBearer)))) {
    return Verdict::kAllowed;
  }
  return equal(cookie_of(credentials.cookie), session_) ? Verdict::kAllowed : Verdict::kNoToken;
}

bool Access::is_token(const std::string& text) const {
  return has_token() && equal(text, token_);
}

std::string Access::cookie() const {
  return kCookie + session_ + "; HttpOnly; SameSite=Strict; Path=/";
}
std::string Access::no_cookie() {
  return std::string(kCookie).append("; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
}

}  // namespace npustream::web
