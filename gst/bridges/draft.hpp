#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "answers/frame_answer.hpp"

namespace gstnpu {

/// An answer that is copied before its first change, unless nobody else has it.
class Draft {
 public:
  explicit Draft(FrameAnswer own) : own_(std::make_shared<FrameAnswer>(std::move(own))) {}
  explicit Draft(std::shared_ptr<const FrameAnswer> shared) : shared_(std::move(shared)) {}

  const FrameAnswer& get() const { return own_ ? *own_ : *shared_; }
  FrameAnswer& edit() {
    if (!own_) {
      own_ = std::make_shared<FrameAnswer>(*shared_);
    }
    return *own_;
  }
  std::shared_ptr<const FrameAnswer> share() const { return own_ ? own_ : shared_; }
  FrameAnswer take() { return std::move(edit()); }

 private:
  std::shared_ptr<const FrameAnswer> shared_;
  std::shared_ptr<FrameAnswer> own_;
};

/// Finds objects one after the other in the order in which they are likely to come.
class Search {
 public:
  explicit Search(std::size_t count) : is_found_(count) {}

  /// The index of the first from the last one on that nobody has found and for which `is` holds.
  template <typename Is>
  std::optional<std::size_t> find(const Is& is) {
    for (std::size_t i = 0; i < is_found_.size(); ++i) {
      const std::size_t index = (next_ + i) % is_found_.size();
      if (is_found_[index] || !is(index)) continue;
      is_found_[index] = true;
      next_ = index + 1;
      return index;
    }
    return std::nullopt;
  }

 private:
  std::vector<bool> is_found_;
  std::size_t next_ = 0;
};

}  // namespace gstnpu
