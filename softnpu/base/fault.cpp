#include "fault.hpp"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "config.hpp"
#include "failure.hpp"

namespace softnpu::fault {
namespace {

constexpr std::string_view kExecute = "zeCommandQueueExecuteCommandLists";
constexpr std::string_view kPoison = "POISON";

constexpr std::pair<std::string_view, ze_result_t> kResults[] = {
    {"NOT_READY", ZE_RESULT_NOT_READY},
    {"DEVICE_LOST", ZE_RESULT_ERROR_DEVICE_LOST},
    {"OUT_OF_HOST_MEMORY", ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY},
    {"OUT_OF_DEVICE_MEMORY", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY},
    {"MODULE_BUILD_FAILURE", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE},
    {"MODULE_LINK_FAILURE", ZE_RESULT_ERROR_MODULE_LINK_FAILURE},
    {"DEVICE_REQUIRES_RESET", ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET},
    {"DEVICE_IN_LOW_POWER_STATE", ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE},
    {"INSUFFICIENT_PERMISSIONS", ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS},
    {"NOT_AVAILABLE", ZE_RESULT_ERROR_NOT_AVAILABLE},
    {"DEPENDENCY_UNAVAILABLE", ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE},
    {"UNINITIALIZED", ZE_RESULT_ERROR_UNINITIALIZED},
    {"UNSUPPORTED_VERSION", ZE_RESULT_ERROR_UNSUPPORTED_VERSION},
    {"UNSUPPORTED_FEATURE", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
    {"INVALID_ARGUMENT", ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"INVALID_NULL_HANDLE", ZE_RESULT_ERROR_INVALID_NULL_HANDLE},
    {"HANDLE_OBJECT_IN_USE", ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE},
    {"INVALID_NULL_POINTER", ZE_RESULT_ERROR_INVALID_NULL_POINTER},
    {"INVALID_SIZE", ZE_RESULT_ERROR_INVALID_SIZE},
    {"UNSUPPORTED_SIZE", ZE_RESULT_ERROR_UNSUPPORTED_SIZE},
    {"UNSUPPORTED_ALIGNMENT", ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT},
    {"INVALID_SYNCHRONIZATION_OBJECT", ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT},
    {"INVALID_ENUMERATION", ZE_RESULT_ERROR_INVALID_ENUMERATION},
    {"UNSUPPORTED_ENUMERATION", ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION},
    {"INVALID_NATIVE_BINARY", ZE_RESULT_ERROR_INVALID_NATIVE_BINARY},
    {"OVERLAPPING_REGIONS", ZE_RESULT_ERROR_OVERLAPPING_REGIONS},
    {"UNKNOWN", ZE_RESULT_ERROR_UNKNOWN},
};

constexpr std::pair<std::string_view, Harm> kHarms[] = {
    {"ABORT", Harm::kAbort},
    {"HANG", Harm::kHang},
    {"EAT_MEMORY", Harm::kEatMemory},
    {"PAUSE", Harm::kPause},
};

Harm parse_harm(std::string_view text) {
  for (const auto& [name, harm] : kHarms) {
    if (name == text) return harm;
  }
  return Harm::kNone;
}

[[noreturn]] void eat_memory() {
  constexpr size_t kBlock = size_t{16} << 20, kMost = 256;
  std::vector<std::vector<char>> blocks;
  while (blocks.size() < kMost) blocks.emplace_back(kBlock, '\1');
  throw std::bad_alloc();
}

std::optional<uint64_t> parse_number(std::string_view text) {
  const bool hex = text.substr(0, 2) == "0x";
  if (hex) {
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes the specification's name, with or without the prefix that all share, or a number.
std::optional<ze_result_t> parse_result(std::string_view text) {
  if (const auto number = parse_number(text)) {
    if (*number == 0 || *number > UINT32_MAX) return std::nullopt;
    return static_cast<ze_result_t>(*number);
  }
  for (const std::string_view prefix : {"ZE_RESULT_", "ERROR_"}) {
    if (text.substr(0, prefix.size()) == prefix) {
      text.remove_prefix(prefix.size());
    }
  }
  for (const auto& [name, result] : kResults) {
    if (name == text) return result;
  }
  return std::nullopt;
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

/// Throws std::invalid_argument.
Plan parse_item(std::string_view item) {
  const size_t colon = item.find(':');
  const size_t at = item.rfind('@');
  if (colon == std::string_view::npos || at == std::string_view::npos || at < colon) {
    throw std::invalid_argument(quoted(item) +
                                " is not <call>:<result>@<n> or <call>:<result>@<n>+");
  }
  Plan plan{std::string(item.substr(0, colon)), ZE_RESULT_ERROR_UNKNOWN, Harm::kNone, false, 0, 0};
  const std::string_view result = item.substr(colon + 1, at - colon - 1);
  std::string_view count = item.substr(at + 1);
  plan.poison = result == kPoison;
  plan.harm = parse_harm(result);
  if (plan.poison && plan.call != kExecute) {
    throw std::invalid_argument(quoted(item) + ": POISON is for " + std::string(kExecute) +
                                " only");
  }
  if (!plan.poison && plan.harm == Harm::kNone) {
    const auto known = parse_result(result);
    if (!known) {
      throw std::invalid_argument(quoted(item) + ": " + quoted(result) +
                                  " is not a failing ze_result_t");
    }
    plan.result = *known;
  }
  const bool onwards = !count.empty() && count.back() == '+';
  if (onwards) {
    count.remove_suffix(1);
  }
  plan.first = parse_number(count).value_or(0);
  if (plan.first == 0) throw std::invalid_argument(quoted(item) + ": calls are counted from 1");
  plan.last = onwards ? UINT64_MAX : plan.first;
  return plan;
}

std::atomic<bool> is_armed{false};

}  // namespace

/// Every site, and the lock for their counts and plans.
class Registry {
 public:
  static Registry& instance() {
    static auto* const registry = new Registry;
    return *registry;
  }

  std::optional<Plan> next(Site& site) {
    const std::scoped_lock lock(mutex_);
    const uint64_t number = ++site.count_;
    for (const Plan& plan : site.plans_) {
      if (number >= plan.first && number <= plan.last) return plan;
    }
    return std::nullopt;
  }

  void set(const std::vector<Plan>& plans) {
    const std::scoped_lock lock(mutex_);
    for (Site* site = newest; site != nullptr; site = site->older_) {
      site->count_ = 0;
      site->plans_.clear();
      for (const Plan& plan : plans) {
        if (plan.call == site->call_) {
          site->plans_.push_back(plan);
        }
      }
    }
    is_armed = true;
  }

  std::string counts() {
    const std::scoped_lock lock(mutex_);
    std::string text;
    for (const Site* site = newest; site != nullptr; site = site->older_) {
      if (site->count_ != 0) {
        text += (text.empty() ? "" : " ") + std::string(site->call_) + " " +
                std::to_string(site->count_);
      }
    }
    return text;
  }

  static Site* link(Site* site) { return std::exchange(newest, site); }
  static bool knows(std::string_view call) {
    for (const Site* site = newest; site != nullptr; site = site->older_) {
      if (call == site->call_) return true;
    }
    return false;
  }

 private:
  static inline constinit Site* newest = nullptr;  // changed only while the driver is loaded
  std::mutex mutex_;                               // guards the sites' counts and plans
};

Site::Site(const char* call) : call_(call), older_(Registry::link(this)) {}

std::optional<Plan> Site::next() {
  return Registry::instance().next(*this);
}

void do_harm(Harm harm) {
  switch (harm) {
    case Harm::kNone:
      return;
    case Harm::kAbort:
      std::fputs("softnpu: SOFTNPU_FAULT: this call aborts\n", stderr);
      std::abort();
    case Harm::kHang:
      for (;;) ::pause();
    case Harm::kEatMemory:
      eat_memory();
    case Harm::kPause:
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::vector<Plan> parse(std::string_view specification, std::vector<std::string>& errors) {
  std::vector<Plan> plans;
  while (!specification.empty()) {
    const size_t comma = specification.find(',');
    const std::string_view item = specification.substr(0, comma);
    specification.remove_prefix(comma == std::string_view::npos ? specification.size() : comma + 1);
    try {
      plans.push_back(parse_item(item));
      if (Registry::knows(plans.back().call)) continue;
      errors.push_back(quoted(item) + ": the driver has no call of that name");
      plans.pop_back();
    } catch (const std::invalid_argument& error) {
      errors.emplace_back(error.what());
    }
  }
  return plans;
}

namespace {

std::vector<Plan> parse_and_complain(std::string_view specification, bool& all_good) {
  std::vector<std::string> errors;
  auto plans = parse(specification, errors);
  for (const std::string& error : errors) {
    std::fprintf(stderr, "softnpu: SOFTNPU_FAULT: %s; it is ignored\n", error.c_str());
  }
  all_good = errors.empty();
  return plans;
}

bool arm_from_environment() {
  const std::string& specification = config().faults;
  bool all_good = true;
  if (!specification.empty()) {
    Registry::instance().set(parse_and_complain(specification, all_good));
  }
  return true;
}

}  // namespace

bool armed() {
  static const bool read = arm_from_environment();
  return read && is_armed.load(std::memory_order_relaxed);
}

void set(std::string_view specification) {
  bool all_good = true;
  armed();  // reads the environment now, so that its plans are replaced, not added later
  const auto plans = parse_and_complain(specification, all_good);
  require(all_good, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  Registry::instance().set(plans);
}

std::string call_counts() {
  return Registry::instance().counts();
}

}  // namespace softnpu::fault
