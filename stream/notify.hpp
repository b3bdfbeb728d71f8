// systemd's protocol for services of Type=notify (sd_notify(3)).
#pragma once

#include <cstdint>
#include <string>

namespace npustream {

/// Sends "READY=1" and the like to $NOTIFY_SOCKET. Does nothing where no service manager listens.
void notify(const std::string& state);
/// How often "WATCHDOG=1" is due, in microseconds; 0: never.
std::uint64_t watchdog_interval_us();

}  // namespace npustream
