#include "text.hpp"

#include <system_error>

namespace npu::base {
namespace {

constexpr char kCaseBit = 'a' - 'A';

}  // namespace

std::string errno_text(int error) {
  return text(std::generic_category().message(error), " (errno ", error, ')');
}

std::string upper(std::string words) {
  for (auto& c : words) {
    if (c >= 'a' && c <= 'z') {
      c = static_cast<char>(c - kCaseBit);
    }
  }
  return words;
}

bool is_yes(const std::string& word) {
  const std::string small = lower(word);
  return small == "yes" || small == "true" || small == "1";
}

std::string lower(std::string words) {
  for (auto& c : words) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c + kCaseBit);
    }
  }
  return words;
}

}  // namespace npu::base
