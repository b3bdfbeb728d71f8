#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "publish/sinks/sink.hpp"

namespace gstnpu {

/// Hears what a sink under test says, and cancels it.
class RecordedLedger final : public Ledger {
 public:
  void note_out(std::size_t lines) override { out += lines; }
  void note_failed(std::size_t lines, const PublishError&) override { failed += lines; }
  void warn(const std::string& text) override {
    const std::scoped_lock lock(mutex_);
    warnings_.push_back(text);
  }

  GCancellable* cancel() const override { return cancel_.get(); }
  std::vector<std::string> warnings() const {
    const std::scoped_lock lock(mutex_);
    return warnings_;
  }

  std::atomic<std::size_t> out = 0, failed = 0;

 private:
  const ObjectRef<GCancellable> cancel_{g_cancellable_new()};
  mutable std::mutex mutex_;  // guards warnings_
  std::vector<std::string> warnings_;
};

}  // namespace gstnpu
