#include "interrupt.hpp"

#include <csignal>

namespace {

volatile std::sig_atomic_t was_interrupted = 0;
constexpr int kSignals[] = {SIGINT, SIGTERM};

void remember(int signal) {
  was_interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  for (const int signal : kSignals) std::signal(signal, remember);
}

InterruptWatch::~InterruptWatch() {
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
}

bool InterruptWatch::interrupted() {
  return was_interrupted != 0;
}
