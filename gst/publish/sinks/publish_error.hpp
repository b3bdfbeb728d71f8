#pragma once

#include <stdexcept>
#include <string>

namespace gstnpu {

/// Why nothing can be published, or a line cannot, and what to do next.
class PublishError : public std::runtime_error {
 public:
  enum class Kind { kSettings, kOpen, kWrite, kNoSpace };

  PublishError(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}

  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// Throws a PublishError about what the user has set.
[[noreturn]] inline void refuse(const std::string& text) {
  throw PublishError(PublishError::Kind::kSettings, text);
}

}  // namespace gstnpu
