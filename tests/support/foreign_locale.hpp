#pragma once

#include <locale>
#include <string>

#include "temp_dir.hpp"

namespace npu::test {

/// While it lives, the C++ streams of the process write 1234567.5 as "1.234.567,5", as in German.
class ForeignNumbers {
 public:
  ForeignNumbers();
  ForeignNumbers(const ForeignNumbers&) = delete;
  ForeignNumbers& operator=(const ForeignNumbers&) = delete;
  ~ForeignNumbers();

 private:
  std::locale before_;
};

/// While it lives, the process is in a locale of C such as "tr_TR", which is made for it: few
/// machines have it. Not usable where the C library's sources of locales are not installed.
class ForeignLanguage {
 public:
  explicit ForeignLanguage(const std::string& name);
  ForeignLanguage(const ForeignLanguage&) = delete;
  ForeignLanguage& operator=(const ForeignLanguage&) = delete;
  ~ForeignLanguage();
  bool is_usable() const { return usable_; }

 private:
  TempDir folder_;
  bool usable_ = false;
};

}  // namespace npu::test
