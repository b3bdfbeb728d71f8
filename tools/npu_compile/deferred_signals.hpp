#pragma once

/// While one lives, SIGINT, SIGTERM and SIGHUP wait; then they take effect. So a file being written
/// is either whole or not there. One at a time.
class DeferredSignals {
 public:
  DeferredSignals();
  ~DeferredSignals();
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;
};
