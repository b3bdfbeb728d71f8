#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace npu::internal {

/// A submission that a completion thread waits for.
class Completed {
 public:
  using Callback = std::function<void(std::exception_ptr)>;

 protected:
  ~Completed() = default;

 private:
  friend class Completion;
  /// Waits, and returns the error. Afterwards it may be submitted again.
  virtual std::exception_ptr complete() noexcept = 0;
  virtual std::shared_ptr<const Callback> callback() const = 0;

  // Guarded by the completions' mutex.
  Completed* next_ = nullptr;
  bool queued_ = false;
  std::uint64_t added_count_ = 0;
  std::uint64_t called_count_ = 0;
  std::exception_ptr error_;  ///< of the last call
};

/// A thread that waits for submissions in their order and calls their callbacks.
class Completion {
 public:
  /// `pin`: pins it to the CPU that makes it.
  explicit Completion(bool pin);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  void add(Completed& item);
  /// Waits until the callback of the last added item has returned. False when `timeout_ns` passed
  /// first; else takes the error out. Throws in a callback that would wait for itself, by way of
  /// any others.
  bool wait(Completed& item, std::uint64_t timeout_ns, std::exception_ptr& error);
  /// Waits as wait() does, but for a callback that waits for this thread's. Afterwards only the
  /// calling thread touches the item. Its owner completes what is in flight.
  void remove(Completed& item);

  /// The one for all models of the process that want to share it.
  static std::shared_ptr<Completion> shared(bool pin);

 private:
  struct Core;
  std::shared_ptr<Core> core_;
  std::thread thread_;
};

}  // namespace npu::internal
