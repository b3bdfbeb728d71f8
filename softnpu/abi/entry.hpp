// The wall between C callers and the driver: every function in a table goes through here, which
// writes the trace and turns exceptions into results.
#pragma once

#include <level_zero/ze_api.h>

#include <algorithm>
#include <new>
#include <tuple>
#include <type_traits>

#include "base/failure.hpp"
#include "base/fault.hpp"
#include "base/trace.hpp"

#include "handles.hpp"

namespace softnpu {

template <class Call>
ze_result_t result_of(const Call& call) noexcept {
  try {
    return call();
  } catch (const Failure& failure) {
    if (failure.what()[0] != '\0') {
      trace::note_text("reason", failure.what());
    }
    return failure.result();
  } catch (const std::bad_alloc&) {
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  } catch (const std::exception& error) {
    trace::note_text("reason", error.what());
    return ZE_RESULT_ERROR_UNKNOWN;
  } catch (...) {
    return ZE_RESULT_ERROR_UNKNOWN;
  }
}

/// A function's name as a template argument.
template <size_t kSize>
struct Name {
  char text[kSize];
  constexpr Name(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
};

/// Holds the faults for the calls of one name.
template <Name kName>
inline fault::Site site{kName.text};

/// Ends the work in flight before a result that reports a lost device: nothing runs on such a
/// device. After any other result of a wait the work goes on, as on silicon.
void end_work_in_flight(ze_result_t result);

/// Marks the queue's context: executions in it answer UNKNOWN from now on.
void poison_context_of(ze_command_queue_handle_t queue);

/// Carries out a planned failure. The call does nothing, except that a destroy or a free is done,
/// so that a caller who gives the handle up leaks nothing. A planned pause does not fail.
template <Name kName, class Call, class... Args>
ze_result_t failed_result_of(const fault::Plan& plan, const Call& call, Args... args) {
  trace::note_text("fault", plan.poison ? "POISON" : "injected");
  fault::do_harm(plan.harm);
  if (plan.harm == fault::Harm::kPause) return result_of(call);
  if (fault::destroys(kName.text)) {
    result_of(call);
  }
  if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<Args..., void>>,
                               ze_command_queue_handle_t>) {
    if (plan.poison) {
      poison_context_of(std::get<0>(std::tie(args...)));
    }
  }
  end_work_in_flight(plan.result);
  return plan.result;
}

template <Name kName, class Call, class... Args>
ze_result_t result_or_fault(const Call& call, Args... args) {
  if (!fault::armed()) return result_of(call);
  return result_of([&] {
    const auto plan = site<kName>.next();
    return plan ? failed_result_of<kName>(*plan, call, args...) : result_of(call);
  });
}

template <Name kName, class Call, class... Args>
ze_result_t traced_result_of(const Call& call, Args... args) noexcept {
  if (!trace::enabled()) return result_or_fault<kName>(call, args...);
  trace::Line line(kName.text);
  (line.argument(args), ...);
  const ze_result_t result = result_or_fault<kName>(call, args...);
  line.finish(static_cast<uint32_t>(result));
  return result;
}

/// A core function: the loader has already translated its handles.
template <Name kName, auto kFunction>
struct CoreEntry;
template <Name kName, class... Args, ze_result_t (*kFunction)(Args...)>
struct CoreEntry<kName, kFunction> {
  static ze_result_t ZE_APICALL call(Args... args) {
    return traced_result_of<kName>([&] { return kFunction(args...); }, args...);
  }
};

/// An extension function: it bypasses the loader, so its arguments may be the loader's handles.
template <Name kName, auto kFunction>
struct ExtensionEntry;
template <Name kName, class... Args, ze_result_t (*kFunction)(Args...)>
struct ExtensionEntry<kName, kFunction> {
  static ze_result_t ZE_APICALL call(Args... args) {
    return traced_result_of<kName>([&] { return kFunction(translated(args)...); }, args...);
  }
};

/// A function for tests only: it is neither traced nor counted, and never fails on purpose.
template <auto kFunction>
struct ToolEntry;
template <class... Args, ze_result_t (*kFunction)(Args...)>
struct ToolEntry<kFunction> {
  static ze_result_t ZE_APICALL call(Args... args) {
    return result_of([&] { return kFunction(args...); });
  }
};

}  // namespace softnpu
