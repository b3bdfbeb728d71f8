#include "deferred_signals.hpp"

#include <array>
#include <csignal>

namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t arrived = 0;
std::array<struct sigaction, kSignals.size()> previous{};

// A blocked mask would not do: a driver's threads would still take the signal, and end the process.
void remember(int signal) {
  arrived = signal;
}

}  // namespace

DeferredSignals::DeferredSignals() {
  arrived = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &previous[i]);
  }
}

DeferredSignals::~DeferredSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &previous[i], nullptr);
  }
  if (arrived != 0) {
    ::raise(arrived);
  }
}
