// SOFTNPU_FAULT: calls that fail on purpose, chosen by name and count.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softnpu::fault {

/// Harm that a call does instead of answering, like a broken compiler, or before it is carried out.
enum class Harm {
  kNone,
  kAbort,      ///< ends the process
  kHang,       ///< never returns
  kEatMemory,  ///< takes memory until it gets no more, 4 GiB at most
  kPause,      ///< takes a millisecond longer, and succeeds
};

/// One item of a specification, "<call>:<result>@<n>" or "<call>:<result>@<n>+".
struct Plan {
  std::string call;
  ze_result_t result;
  Harm harm;
  bool poison;     ///< the context of the call's queue is lost for good
  uint64_t first;  ///< counted from 1
  uint64_t last;   ///< UINT64_MAX: from `first` on
};

/// The items of a comma-separated list; adds one sentence to `errors` for each wrong item.
std::vector<Plan> parse(std::string_view specification, std::vector<std::string>& errors);

/// Throws std::bad_alloc after kEatMemory; returns only for kNone and kPause.
void do_harm(Harm harm);

/// Whether a call destroys an object.
inline bool destroys(std::string_view call) {
  return call.find("Destroy") != std::string_view::npos ||
         call.find("MemFree") != std::string_view::npos;
}

/// One function at the driver's wall; made when the driver is loaded, and never destroyed.
class Site {
 public:
  explicit Site(const char* call);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  const char* call() const { return call_; }
  /// Counts a call and returns how it has to fail; nothing for a call to carry out.
  std::optional<Plan> next();

 private:
  friend class Registry;
  const char* call_;
  Site* older_;
  uint64_t count_ = 0;       // calls since the last specification
  std::vector<Plan> plans_;  // of this call
};

/// False until a specification was given, by the environment or by set(): until then a call costs
/// one look at this.
bool armed();

/// Replaces the specification, and counts calls from 0 again; an empty one makes no call fail.
/// Throws INVALID_ARGUMENT, with the reasons on stderr and nothing changed, for a wrong one.
void set(std::string_view specification);

/// "<call> <count>" for every call made since the last specification, joined by blanks.
std::string call_counts();

}  // namespace softnpu::fault
