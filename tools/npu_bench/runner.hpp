#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <npucore/request.hpp>

/// The first limit reached ends a run.
struct RunLimits {
  std::uint64_t iterations = 0;      ///< 0: no limit
  std::chrono::nanoseconds time{0};  ///< 0: no limit
};

/// The measurements of a run.
struct RunResult {
  std::vector<std::chrono::nanoseconds> latencies;  ///< of each inference, submit to result
  std::chrono::nanoseconds taken{0};  ///< from the first submission to the last result
  bool interrupted = false;
};

/// Keeps all requests in flight, submitting each again as soon as it is done, until a limit or a
/// signal ends the run. Inferences then in flight are waited for and count.
RunResult run_async(std::vector<npu::Request>& requests, const RunLimits& limits);
/// Runs one inference after the other on one request, and waits for each.
RunResult run_sync(npu::Request& request, const RunLimits& limits);
