#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <npucore/request.hpp>

/// Whichever is reached first ends a run.
struct RunLimits {
  std::uint64_t iterations = 0;      ///< 0: no limit
  std::chrono::nanoseconds time{0};  ///< 0: no limit
};

/// What a run measured.
struct RunResult {
  std::vector<std::chrono::nanoseconds> latencies;  ///< of each inference, submit to result
  std::chrono::nanoseconds taken{0};  ///< from the first submission to the last result
  bool interrupted = false;
};

/// Keeps all requests in flight, each submitted again as soon as it is done, until a limit or a
/// signal ends it; what is in flight then is waited for and counts.
RunResult run_async(std::vector<npu::Request>& requests, const RunLimits& limits);
/// One inference after the other on one request, each waited for.
RunResult run_sync(npu::Request& request, const RunLimits& limits);
