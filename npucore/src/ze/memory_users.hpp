#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/forked.hpp"

namespace npu::ze {

/// A piece of memory that is about to be freed.
struct MemoryRange {
  const std::byte* begin = nullptr;
  std::size_t size_bytes = 0;

  bool contains(const std::byte* address) const {
    return !std::less<>()(address, begin) && std::less<>()(address, begin + size_bytes);
  }
};

/// An object that names memory of a context without owning it, and is told before the memory is
/// freed.
class MemoryUser {
 public:
  /// Lets go of the memory. Called on any thread.
  virtual void forget(const MemoryRange& range) noexcept = 0;

 protected:
  ~MemoryUser() = default;
};

/// The users in one context.
class MemoryUsers {
 public:
  /// A user's place in the list. Make it the user's last member, so that a user being destroyed is
  /// told nothing.
  class Entry {
   public:
    Entry(MemoryUsers& all, MemoryUser& user) : all_(all), user_(user) {
      std::scoped_lock lock(all_.mutex_);
      all_.users_.push_back(&user_);
    }
    ~Entry() {
      if (base::is_forked_child()) return;
      std::scoped_lock lock(all_.mutex_);
      std::erase(all_.users_, &user_);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    MemoryUsers& all_;
    MemoryUser& user_;
  };

  void forget(const MemoryRange& range) noexcept {
    std::scoped_lock lock(mutex_);
    for (MemoryUser* user : users_) user->forget(range);
  }

 private:
  std::mutex mutex_;  // guards users_
  std::vector<MemoryUser*> users_;
};

}  // namespace npu::ze
