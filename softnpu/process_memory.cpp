#include "process_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "unique_fd.hpp"

namespace softnpu {

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

}  // namespace softnpu
