#pragma once

#include <functional>

namespace npustream {

/// On the main context's thread, soon. From any thread.
void on_main(std::function<void()> work);

}  // namespace npustream
