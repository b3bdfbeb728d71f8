#pragma once

#include <optional>
#include <string>

#include <npucore/compiler.hpp>

#include "arguments.hpp"
#include "latencies.hpp"
#include "runner.hpp"

/// The results of a run.
struct Benchmark {
  npu::CompiledModel model;
  std::size_t requests = 0;
  double read_ms = 0;   ///< the IR's text; 0 for a blob
  double load_ms = 0;   ///< compiling, or loading from a blob or cache
  double first_ms = 0;  ///< making a request, filling inputs, the first inference
  RunResult run;
  std::uint64_t copies = 0;  ///< of inputs that the device could not reach, over all requests
  std::vector<npu::LayerProfile> profile;  ///< of the first request's last inference; with --pc
  LatencySummary latency_ms;
  std::optional<npu::LatencyEstimate> estimate;  ///< with --estimate, if the compiler gives one

  double throughput() const;  ///< inferences a second
};

/// Loads the model and runs it as the arguments say. Throws npu::Error.
Benchmark run_benchmark(const Arguments& arguments);
