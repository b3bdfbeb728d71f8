#pragma once

#include <glib.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace gstnpu {

/// Decides which of several streams submits the next inference to a device. Limits the inferences
/// at one time; of the waiting streams the highest priority comes first, and among equals the one
/// whose last turn is longest ago. Thread-safe.
class Turns {
 public:
  /// Raises the limit to at least `inferences`.
  void allow(guint inferences);
  /// Call it when an inference has ended.
  void give_back();

  /// The right to one inference. Given back when destroyed, unless kept until the inference ends.
  class Turn {
   public:
    explicit Turn(std::shared_ptr<Turns> turns) : turns_(std::move(turns)) {}
    Turn(Turn&&) = default;
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_) {
        turns_->give_back();
      }
    }
    void keep() { turns_.reset(); }

   private:
    std::shared_ptr<Turns> turns_;
  };

  /// One stream's place. A single thread takes turns; any thread may stop it.
  class Place {
   public:
    explicit Place(std::shared_ptr<Turns> turns) : turns_(std::move(turns)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Waits for a turn; nullopt after `timeout`, or once the place is stopped.
    std::optional<Turn> take(guint priority, std::chrono::nanoseconds timeout);
    void start();
    void stop();

   private:
    friend class Turns;

    const std::shared_ptr<Turns> turns_;
    std::condition_variable changed_;
    // Guarded by turns_->mutex_:
    bool is_stopped_ = true;
    bool is_granted_ = false;
    guint priority_ = 0;
    guint64 last_turn_ = 0;
  };

 private:
  void grant();
  static bool comes_before(const Place* one, const Place* other);

  std::mutex mutex_;  // guards all below
  guint most_ = 1, taken_ = 0;
  guint64 count_ = 0;  // turns granted
  std::vector<Place*> waiting_;
};

}  // namespace gstnpu
