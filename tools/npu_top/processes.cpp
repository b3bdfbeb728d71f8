#include "processes.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "files.hpp"
#include "software_page.hpp"

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kNode = "/dev/accel/";
constexpr std::size_t kMostFdinfo = 16384, kMostStatus = 16384;

bool is_npu_driver(std::string_view name) {
  return name == "intel_vpu" || name == "intel_npu";
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

/// Reads "12 KiB", "3 MiB", "512".
std::optional<std::uint64_t> bytes_of(std::string_view text) {
  const auto blank = text.find(' ');
  const auto number = number_of(text.substr(0, blank));
  const std::string_view unit = blank == std::string_view::npos ? "" : trimmed(text.substr(blank));
  const unsigned shift = unit == "KiB" ? 10 : unit == "MiB" ? 20 : unit == "GiB" ? 30 : 0;
  const bool is_known = unit.empty() || shift != 0;
  if (!number || !is_known || *number > std::numeric_limits<std::uint64_t>::max() >> shift) {
    return std::nullopt;
  }
  return *number << shift;
}

/// The lines "key:  value".
std::multimap<std::string_view, std::string_view> fields_of(std::string_view text) {
  std::multimap<std::string_view, std::string_view> fields;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    fields.emplace(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
  return fields;
}

std::string_view field(const std::multimap<std::string_view, std::string_view>& fields,
                       std::string_view key) {
  const auto found = fields.find(key);
  return found == fields.end() ? std::string_view() : found->second;
}

/// Replaces control characters: people choose names of processes, so they hold anything.
std::string program_of(const fs::path& process) {
  constexpr std::size_t kLongest = 64;
  std::string name(trimmed(read_text(process / "comm", kLongest).value_or("")));
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, '?');
  return name;
}

/// Its id as the process sees it; it differs in a container.
std::uint64_t own_id_of(const fs::path& process, std::uint64_t pid) {
  const std::string status = read_text(process / "status", kMostStatus).value_or("");
  const std::string_view ids = field(fields_of(status), "NSpid");
  const auto innermost = ids.find_last_of(" \t");
  return number_of(ids.substr(innermost == std::string_view::npos ? 0 : innermost + 1))
      .value_or(pid);
}

/// Searches all descriptors of one process.
class Search {
 public:
  Search(fs::path process, std::uint64_t pid, std::uint64_t now_ns)
      : process_(std::move(process)), pid_(pid), now_ns_(now_ns) {}

  std::vector<ProcessSample> run() {
    for (const std::string& name : names_in(process_ / "fd")) {
      const std::string target = target_of(process_ / "fd" / name);
      if (target.starts_with(kNode)) {
        note_client(target.substr(kNode.size()), name);
      } else if (may_be_software_page(target)) {
        note_page(name);
      }
    }
    std::vector<ProcessSample> found;
    for (auto& [device, sample] : found_) found.push_back(std::move(sample));
    return found;
  }

 private:
  ProcessSample& sample_of(const std::string& device) {
    ProcessSample& sample = found_[device];
    if (sample.pid == 0) {
      sample = {.pid = pid_, .program = program_of(process_), .device = device};
    }
    return sample;
  }

  void note_client(const std::string& device, const std::string& descriptor) {
    const auto text = read_text(process_ / "fdinfo" / descriptor, kMostFdinfo);
    const auto client = parse_fdinfo(text.value_or(""));
    if (!client) return;
    ProcessSample& sample = sample_of(device);
    // Duplicated descriptors are the same client.
    const bool is_new = client->id.empty() || clients_.insert(device + " " + client->id).second;
    if (!is_new || !client->memory_bytes) return;
    sample.memory_bytes = sum(sample.memory_bytes.value_or(0), *client->memory_bytes);
  }

  void note_page(const std::string& descriptor) {
    const auto page = read_software_page(process_ / "fd" / descriptor, now_ns_);
    // A child has its parent's descriptors too.
    if (!page || page->process != own_id_of(process_, pid_)) return;
    ProcessSample& sample = sample_of(kSoftwareDevice);
    sample.memory_bytes = page->memory_bytes;
    sample.busy_ns = page->busy_ns;
    sample.inferences = page->inferences;
  }

  const fs::path process_;
  const std::uint64_t pid_, now_ns_;
  std::map<std::string, ProcessSample> found_;  // by device
  std::set<std::string> clients_;
};

}  // namespace

std::optional<Client> parse_fdinfo(std::string_view text) {
  const auto fields = fields_of(text);
  if (!is_npu_driver(field(fields, "drm-driver"))) return std::nullopt;
  Client client{.id = std::string(field(fields, "drm-client-id")), .memory_bytes = std::nullopt};
  for (const auto& [key, value] : fields) {
    const auto bytes = key.starts_with("drm-total-") ? bytes_of(value) : std::nullopt;
    if (bytes) {
      client.memory_bytes = sum(client.memory_bytes.value_or(0), *bytes);
    }
  }
  return client;
}

std::vector<ProcessSample> find_processes(const fs::path& root, std::uint64_t now_ns) {
  std::vector<ProcessSample> found;
  for (const std::string& name : names_in(root / "proc")) {
    const auto pid = number_of(name);
    if (!pid || *pid == static_cast<std::uint64_t>(::getpid())) continue;
    for (ProcessSample& sample : Search(root / "proc" / name, *pid, now_ns).run()) {
      found.push_back(std::move(sample));
    }
  }
  std::sort(found.begin(), found.end(), [](const ProcessSample& a, const ProcessSample& b) {
    return std::tie(a.pid, a.device) < std::tie(b.pid, b.device);
  });
  return found;
}
