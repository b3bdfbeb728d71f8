#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <npuvision/answer.hpp>

#include "arrays.hpp"

namespace pynpu {

/// A NumPy array that owns these values.
template <class T>
nb::object array_of(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  static T none{};  // NumPy wants an address even for no values
  T* const data = kept->empty() ? &none : kept->data();
  nb::capsule owner(kept.get(),
                    [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  (void)kept.release();
  nb::ndarray<nb::numpy, T> array(data, shape.size(), shape.data(), owner);
  return array.cast(nb::rv_policy::reference);
}

/// The results of a decoder for one frame.
struct Answer {
  npu::vision::Answer found;
  npu::vision::FrameSize frame;
  std::shared_ptr<const std::vector<std::string>> labels;
  std::optional<std::vector<std::int64_t>> tracker_id;  ///< -1: not confirmed yet
};
void bind_answer(nb::module_& module);

}  // namespace pynpu
