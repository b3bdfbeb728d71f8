#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

// The cost of one call.
struct Cost {
  double cpu_ms = 0;  // of the whole process, all threads
  double wall_ms = 0;
};

struct Summary {
  double median = 0;
  double p99 = 0;
};

struct PairResult {
  Summary subject_cpu_ms, subject_wall_ms;
  Summary peer_cpu_ms, peer_wall_ms;
  double cpu_ratio = 0;  // median over the pairs of subject / peer
  double wall_ratio = 0;
};

// Runs subject and peer in turn, so that the machine's other work hits both. Each pair measures
// `calls` calls of either; the first side changes from pair to pair.
PairResult run_pairs(const std::function<void()>& subject, const std::function<void()>& peer,
                     int warm_up_calls, int pairs, int calls);

Summary summarise(std::vector<double> values);

}  // namespace bench
