#include "text.hpp"

#include <system_error>

namespace npu::base {

std::string errno_text(int error) {
  return text(std::generic_category().message(error), " (errno ", error, ')');
}

}  // namespace npu::base
