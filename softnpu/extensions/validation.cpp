#include "validation.hpp"

#include <cstdlib>
#include <string_view>

#include "base/failure.hpp"

namespace softnpu {
namespace {

bool is_on(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

void check_stype(uint32_t stype, uint32_t expected) {
  static const bool checks =
      is_on("ZE_ENABLE_VALIDATION_LAYER") && is_on("ZE_ENABLE_PARAMETER_VALIDATION");
  require(!checks || stype == expected, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

}  // namespace softnpu
