#include "software_page.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace {

constexpr std::string_view kLink = "/memfd:softnpu-status (deleted)";
constexpr std::string_view kMagic("SOFTNPU\1", 8);
enum Word { kMagicWord, kProcess, kBusy, kRunningSince, kInferences, kMemory, kWords };
constexpr std::size_t kBytes = kWords * sizeof(std::uint64_t);

bool is_regular(int file) {
  struct stat status = {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

bool may_be_software_page(std::string_view link_target) {
  return link_target == kLink;
}

std::optional<SoftwarePage> parse_software_page(std::string_view bytes, std::uint64_t now_ns) {
  if (bytes.size() < kBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  std::array<std::uint64_t, kWords> words;
  std::memcpy(words.data(), bytes.data(), kBytes);
  const std::uint64_t since_ns = words[kRunningSince];
  const bool runs = since_ns != 0 && since_ns < now_ns;
  return SoftwarePage{.process = words[kProcess],
                      .busy_ns = words[kBusy] + (runs ? now_ns - since_ns : 0),
                      .inferences = words[kInferences],
                      .memory_bytes = words[kMemory]};
}

std::optional<SoftwarePage> read_software_page(const std::filesystem::path& path,
                                               std::uint64_t now_ns) {
  // O_NONBLOCK: a FIFO that took the name must not block.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return std::nullopt;
  std::array<char, kBytes> bytes;
  const ssize_t got = is_regular(file) ? ::pread(file, bytes.data(), bytes.size(), 0) : -1;
  ::close(file);
  if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  return parse_software_page({bytes.data(), bytes.size()}, now_ns);
}
