// The preloaded counter of copies, as a test sees it.
#pragma once

#include <string>
#include <vector>

#include "copy_count.hpp"

namespace npu::test {

/// Counts while it lives; pausing is for what is no frame's work (a compilation). One at a time.
class CopyCounter {
 public:
  /// Throws where the counting library is not preloaded.
  CopyCounter();
  ~CopyCounter();
  CopyCounter(const CopyCounter&) = delete;
  CopyCounter& operator=(const CopyCounter&) = delete;

  static bool is_loaded();
  void pause();
  void resume();
  std::vector<CopyCount> all() const;
  /// Those that npucore or the plugin made, or asked GStreamer's core or the C library for.
  std::vector<CopyCount> ours() const;
};

std::uint64_t total_bytes(const std::vector<CopyCount>& counts);
/// "libgstnpu.so: 3 copies, 27648 bytes; ..."
std::string to_string(const std::vector<CopyCount>& counts);

}  // namespace npu::test
