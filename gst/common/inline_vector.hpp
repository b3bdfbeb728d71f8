#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace gstnpu {

/// A vector of at most `kMost` values that lie inside it, never on the heap. `T` must be
/// default-constructible.
template <class T, std::size_t kMost>
class InlineVector {
 public:
  InlineVector() = default;

  /// Throws std::out_of_range where there is no room.
  T& push_back(T value) {
    T& place = values_.at(size_);
    place = std::move(value);
    ++size_;
    return place;
  }
  /// Also resets the values.
  void clear() {
    for (T& value : *this) value = T();
    size_ = 0;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t index) { return values_[index]; }
  const T& operator[](std::size_t index) const { return values_[index]; }
  T& front() { return values_.front(); }
  const T& front() const { return values_.front(); }
  T& back() { return values_[size_ - 1]; }
  const T& back() const { return values_[size_ - 1]; }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

 private:
  std::array<T, kMost> values_{};
  std::size_t size_ = 0;
};

}  // namespace gstnpu
