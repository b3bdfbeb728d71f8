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

/// Which of several streams gives a device its next inference. At most so many inferences are there
/// at a time; of the streams that wait, the one of the highest priority comes next, and among
/// equals the one whose last turn is the longest ago. From any thread.
class Turns {
 public:
  /// At least so many inferences at a time.
  void allow(guint inferences);
  /// An inference has ended.
  void give_back();

  /// The right to one inference: given back, unless it is kept until the inference ends.
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

  /// One stream's place. One thread takes turns, any other stops it.
  class Place {
   public:
    explicit Place(std::shared_ptr<Turns> turns) : turns_(std::move(turns)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Waits for a turn; nullopt when `timeout` passed or the place is stopped.
    std::optional<Turn> take(guint priority, std::chrono::nanoseconds timeout);
    void start();
    void stop();

   private:
    friend class Turns;

    const std::shared_ptr<Turns> turns_;
    std::condition_variable changed_;
    // Guarded by the mutex of turns_:
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
  guint64 count_ = 0;  // of turns
  std::vector<Place*> waiting_;
};

}  // namespace gstnpu
