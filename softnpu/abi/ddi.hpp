// Fills tables of process addresses.
#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>

namespace softnpu {

struct DdiSlot {
  /// A loader's table has this slot from specification 1.<since> on.
  int since;
  void* function;
};

/// A loader passes a table with the length of its own specification, on its stack: writes all slots
/// that existed in the asked version, and nothing behind them. Remembers the version, see
/// `asked_minor`.
ze_result_t fill_table(ze_api_version_t asked, void* table, const DdiSlot* slots, size_t count);

/// The newest specification 1.x for which a table was asked: the loader's. 0 before the first.
int asked_minor();

}  // namespace softnpu
