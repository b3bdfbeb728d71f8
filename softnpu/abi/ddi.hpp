// Filling of process-address tables.
#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>

namespace softnpu {

struct Slot {
  /// A loader's table has this slot from specification 1.<since> on.
  int since;
  void* function;
};

/// A loader passes a table of its own specification's length, on its stack: only slots that existed
/// in the asked version are written, all of them, and nothing behind them.
/// Remembers the version, see `asked_minor`.
ze_result_t fill_table(ze_api_version_t asked, void* table, const Slot* slots, size_t count);

/// The newest specification 1.x that any table was asked for: the loader's. 0 before the first.
int asked_minor();

}  // namespace softnpu
