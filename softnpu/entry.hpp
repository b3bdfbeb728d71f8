// The wall between C callers and the driver: every function that a table hands out goes through
// here, which writes the trace and turns exceptions into results.
#pragma once

#include <level_zero/ze_api.h>

#include <algorithm>
#include <new>

#include "failure.hpp"
#include "handles.hpp"
#include "trace.hpp"

namespace softnpu {

template <class Call>
ze_result_t result_of(const Call& call) noexcept {
  try {
    return call();
  } catch (const Failure& failure) {
    if (failure.what()[0] != '\0') trace::note_text("reason", failure.what());
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

template <class Call, class... Args>
ze_result_t traced_result_of(const char* name, const Call& call, Args... args) noexcept {
  if (!trace::enabled()) return result_of(call);
  trace::Line line(name);
  (line.argument(args), ...);
  const ze_result_t result = result_of(call);
  line.finish(static_cast<uint32_t>(result));
  return result;
}

// A function's name as a template argument.
template <size_t kSize>
struct Name {
  char text[kSize];
  constexpr Name(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
};

// A core function: the loader has already translated its handles.
template <Name kName, auto kFunction>
struct CoreEntry;
template <Name kName, class... Args, ze_result_t (*kFunction)(Args...)>
struct CoreEntry<kName, kFunction> {
  static ze_result_t ZE_APICALL call(Args... args) {
    return traced_result_of(
        kName.text, [&] { return kFunction(args...); }, args...);
  }
};

// An extension function: it bypasses the loader, so that its handles may be the loader's.
template <Name kName, auto kFunction>
struct ExtensionEntry;
template <Name kName, class... Args, ze_result_t (*kFunction)(Args...)>
struct ExtensionEntry<kName, kFunction> {
  static ze_result_t ZE_APICALL call(Args... args) {
    return traced_result_of(
        kName.text, [&] { return kFunction(translated(args)...); }, args...);
  }
};

}  // namespace softnpu
