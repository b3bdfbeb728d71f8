#include "build_log.hpp"

#include <algorithm>
#include <cstring>

#include "base/failure.hpp"

namespace softnpu {
namespace {

thread_local std::string words;

}  // namespace

void remember(std::string text) {
  words = std::move(text);
}
const std::string& last_words() {
  return words;
}

void copy_text(const std::string& text, uint32_t* size, char* buffer) {
  require(size != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const auto full = static_cast<uint32_t>(text.size() + 1);
  if (buffer == nullptr || *size == 0) {
    *size = full;
    return;
  }
  *size = std::min(*size, full);
  std::memcpy(buffer, text.c_str(), *size - 1);
  buffer[*size - 1] = '\0';
}

}  // namespace softnpu
