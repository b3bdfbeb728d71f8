#pragma once

#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pairs.hpp"

namespace bench {

// One of the sides to compare. `call` does the work once.
struct Side {
  std::string name;
  std::function<void()> call;
};

struct SideResult {
  std::string name;
  Summary us;              // over every single call
  double above_first = 0;  // median over the rounds of: this side's median - the first side's
};

struct TurnPlan {
  int warm_up_calls = 500;
  int rounds = 41;
  int calls = 200;                    // of every side in a round, one after the other
  clockid_t clock = CLOCK_MONOTONIC;  // CLOCK_PROCESS_CPUTIME_ID: of all threads
};

// Gives every side a turn in every round; each round begins with the next side, so that the
// machine's other work hits all of them. Each call is timed by itself.
std::vector<SideResult> run_turns(const std::vector<Side>& sides, const TurnPlan& plan);

nlohmann::ordered_json to_json(const SideResult& result);

}  // namespace bench
