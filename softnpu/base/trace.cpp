#include "trace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "clock.hpp"
#include "config.hpp"
#include "unique_fd.hpp"

namespace softnpu::trace {
namespace {

thread_local Line* current = nullptr;

int open_trace() {
  const std::string& path = config().trace_path;
  if (path.empty()) return -1;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    std::fprintf(stderr, "softnpu: SOFTNPU_TRACE=\"%s\" cannot be opened: %s\n", path.c_str(),
                 std::strerror(errno));
  }
  return fd;
}

// Never closed: calls may come as late as from another library's destructor.
int trace_fd() {
  static const int fd = open_trace();
  return fd;
}

// RssAnon of /proc/self/status; 0 if the kernel does not tell.
uint64_t anonymous_bytes() {
  const UniqueFd file(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  const ssize_t size = file ? ::read(file.get(), buffer, sizeof buffer) : -1;
  if (size <= 0) return 0;
  std::string_view text(buffer, static_cast<size_t>(size));
  constexpr std::string_view kField = "RssAnon:";
  const size_t at = text.find(kField);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + kField.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t kibibytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return kibibytes * 1024;
}

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "\"0x%llx\"", static_cast<unsigned long long>(value));
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace

bool enabled() {
  return trace_fd() >= 0;
}

Line::Line(const char* call) : call_(call), start_ns_(monotonic_ns()), outer_(current) {
  current = this;
}

Line::~Line() {
  current = outer_;
}

void Line::add_pointer(uintptr_t value) {
  if (!arguments_.empty()) {
    arguments_ += ',';
  }
  arguments_ += hex(value);
}

void Line::add_number(uint64_t value) {
  if (!arguments_.empty()) {
    arguments_ += ',';
  }
  arguments_ += std::to_string(value);
}

Fields& Fields::add(const char* name, const std::string& value) {
  json_ += (json_.empty() ? "\"" : ",\"") + std::string(name) + "\":" + value;
  return *this;
}

Fields& Fields::number(const char* name, uint64_t value) {
  return add(name, std::to_string(value));
}

Fields& Fields::flag(const char* name, bool value) {
  return add(name, value ? "true" : "false");
}

Fields& Fields::text(const char* name, const std::string& value) {
  return add(name, quoted(value));
}

void Line::finish(uint32_t result) {
  for (const auto& [name, items] : items_) {
    notes_.append(",\"").append(name).append("\":[").append(items).append("]");
  }
  std::string line = "{\"ns\":" + std::to_string(start_ns_) +
                     ",\"took_ns\":" + std::to_string(monotonic_ns() - start_ns_) +
                     ",\"tid\":" + std::to_string(::syscall(SYS_gettid)) + ",\"call\":\"" + call_ +
                     "\",\"args\":[" + arguments_ + "],\"result\":" + hex(result) + notes_ + "}\n";
  // One write per line with O_APPEND: lines of several threads and processes do not mix.
  if (::write(trace_fd(), line.data(), line.size()) < 0) return;
}

void write_now(uint32_t result) {
  if (current != nullptr) {
    current->finish(result);
  }
}

void note(const char* name, uint64_t value) {
  if (current == nullptr) return;
  current->notes_ += std::string(",\"") + name + "\":" + std::to_string(value);
}

void note_text(const char* name, const std::string& value) {
  if (current == nullptr) return;
  current->notes_ += std::string(",\"") + name + "\":" + quoted(value);
}

void note_item(const char* name, const Fields& item) {
  if (current == nullptr) return;
  std::string& items = current->items_[name];
  items += (items.empty() ? "{" : ",{") + item.json() + "}";
}

void note_file(const char* name, int fd) {
  if (current == nullptr) return;
  struct stat file {};
  if (::fstat(fd, &file) != 0) return;
  note_text(name, std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino));
}

void note_anonymous_bytes(const char* name) {
  if (current != nullptr) {
    note(name, anonymous_bytes());
  }
}

void note_pointer(const char* name, const void* value) {
  if (current == nullptr) return;
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx",
                static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(value)));
  note_text(name, text);
}

}  // namespace softnpu::trace
