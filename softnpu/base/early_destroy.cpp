#include "early_destroy.hpp"

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "config.hpp"
#include "trace.hpp"

namespace softnpu {
namespace {

std::atomic<uint64_t> early{0};

}  // namespace

void report_early_destroy(const std::string& what, const std::string& job) {
  ++early;
  const std::string text = what + " while it is used by " + job;
  trace::note_text("early_destroy", text);
  if (!config().strict) return;
  std::fprintf(stderr, "softnpu: %s (SOFTNPU_STRICT=1)\n", text.c_str());
  trace::write_now(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  std::abort();
}

uint64_t early_destroys() {
  return early;
}

}  // namespace softnpu
