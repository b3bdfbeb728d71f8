// Reads the trace that the software NPU wrote to SOFTNPU_TRACE.
#pragma once

#include <cstdint>
#include <ios>
#include <string>
#include <vector>

namespace npu::test {

/// An input of a graph that was executed.
struct ExecutedInput {
  std::string name;
  std::uint64_t bytes = 0, offset = 0, allocation_bytes = 0;
  bool is_imported = false;
  std::uint64_t inode = 0;  ///< 0: no file is behind the allocation
};

class DriverTrace {
 public:
  /// Reads from here on. Throws where SOFTNPU_TRACE names no file.
  DriverTrace();
  std::vector<ExecutedInput> executed_inputs() const;

 private:
  std::string path_;
  std::streamoff begin_ = 0;
};

}  // namespace npu::test
