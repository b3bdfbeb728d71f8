#pragma once

/// While it lives, SIGINT, SIGTERM and SIGHUP wait; then they take effect. So a file that is being
/// written is either whole or not there. One at a time.
class DeferredSignals {
 public:
  DeferredSignals();
  ~DeferredSignals();
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;
};
