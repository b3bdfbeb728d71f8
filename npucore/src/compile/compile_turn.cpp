#include "compile_turn.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <npucore/error.hpp>

namespace npu::internal {
namespace {

/// Lets one compilation in at a time.
struct Turnstile {
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  bool taken = false;
  std::thread::id owner;  ///< while it is taken
};

// Never destroyed: a cancelled compilation may end while the process does.
Turnstile& turnstile() {
  static auto* const instance = new Turnstile;
  return *instance;
}

}  // namespace

CompileTurn::CompileTurn(const std::atomic<bool>* cancelled) {
  auto& gate = turnstile();
  std::unique_lock lock(gate.mutex);
  if (gate.taken && gate.owner == std::this_thread::get_id()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a progress function or log sink cannot compile: it would wait for itself");
  }
  const auto gave_up = [&] { return cancelled && cancelled->load(); };
  gate.changed.wait(lock, [&] { return !gate.taken || gave_up(); });
  if (gave_up()) {
    throw Error(ErrorCode::kCancelled, "the compilation was cancelled before its turn came");
  }
  gate.taken = true;
  gate.owner = std::this_thread::get_id();
}

CompileTurn::~CompileTurn() {
  auto& gate = turnstile();
  {
    std::scoped_lock lock(gate.mutex);
    gate.taken = false;
  }
  gate.changed.notify_all();
}

void CompileTurn::wake_waiting() {
  auto& gate = turnstile();
  // After this a thread that saw its flag unset is waiting, and the notification wakes it.
  { const std::scoped_lock lock(gate.mutex); }
  gate.changed.notify_all();
}

}  // namespace npu::internal
