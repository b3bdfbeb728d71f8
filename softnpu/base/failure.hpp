#pragma once

#include <level_zero/ze_api.h>

#include <stdexcept>
#include <string>

namespace softnpu {

/// The one exception of the driver: a Level Zero result on its way to the caller.
class Failure : public std::runtime_error {
 public:
  explicit Failure(ze_result_t result, const std::string& reason = {})
      : std::runtime_error(reason), result_(result) {}
  ze_result_t result() const { return result_; }

 private:
  ze_result_t result_;
};

/// Throws Failure if the condition does not hold.
inline void require(bool condition, ze_result_t otherwise) {
  if (!condition) throw Failure(otherwise);
}

}  // namespace softnpu
