#include <dlfcn.h>

#include <array>
#include <stdexcept>
#include <string_view>

#include "copy_counter.hpp"

namespace npu::test {
namespace {

bool is_ours(std::string_view module) {
  return module.starts_with("libnpucore") || module.starts_with("libgstnpu");
}

struct Exports {
  CountCopies* count;
  ResetCopies* reset;
  ReadCopies* read;
};

const Exports& exports() {
  static const Exports found{
      reinterpret_cast<CountCopies*>(dlsym(RTLD_DEFAULT, "npu_copy_counter_count")),
      reinterpret_cast<ResetCopies*>(dlsym(RTLD_DEFAULT, "npu_copy_counter_reset")),
      reinterpret_cast<ReadCopies*>(dlsym(RTLD_DEFAULT, "npu_copy_counter_read"))};
  return found;
}

}  // namespace

bool CopyCounter::is_loaded() {
  return exports().read != nullptr;
}

CopyCounter::CopyCounter() {
  if (!is_loaded()) {
    throw std::runtime_error(
        "copies cannot be counted: set LD_PRELOAD to libcopy-counter.so (meson test does)");
  }
  exports().reset();
  exports().count(true);
}

CopyCounter::~CopyCounter() {
  exports().count(false);
}

void CopyCounter::pause() {
  exports().count(false);
}

void CopyCounter::resume() {
  exports().count(true);
}

std::vector<CopyCount> CopyCounter::all() const {
  std::array<CopyCount, 256> counts{};
  const std::size_t count = exports().read(counts.data(), counts.size());
  return {counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::vector<CopyCount> CopyCounter::ours() const {
  std::vector<CopyCount> counts = all();
  std::erase_if(counts, [](const CopyCount& count) { return !is_ours(count.asked_by); });
  return counts;
}

std::uint64_t total_bytes(const std::vector<CopyCount>& counts) {
  std::uint64_t bytes = 0;
  for (const CopyCount& count : counts) bytes += count.bytes;
  return bytes;
}

std::string to_string(const std::vector<CopyCount>& counts) {
  std::string text;
  for (const CopyCount& count : counts) {
    text += (text.empty() ? "" : "; ") + std::string(count.asked_by) + " (by " + count.caller +
            "): " + std::to_string(count.calls) + " copies, " + std::to_string(count.bytes) +
            " bytes";
  }
  return text;
}

}  // namespace npu::test
