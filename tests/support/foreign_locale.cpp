#include "foreign_locale.hpp"

#include <clocale>
#include <cstdlib>

namespace npu::test {
namespace {

struct GroupsAndComma : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  char do_decimal_point() const override { return ','; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

ForeignNumbers::ForeignNumbers()
    : before_(std::locale::global(std::locale(std::locale::classic(), new GroupsAndComma))) {}

ForeignNumbers::~ForeignNumbers() {
  std::locale::global(before_);
}

ForeignLanguage::ForeignLanguage(const std::string& name) {
  const auto made = folder_.path() / (name + ".UTF-8");
  const auto command =
      "localedef -i " + name + " -f UTF-8 '" + made.string() + "' >/dev/null 2>&1 </dev/null";
  if (std::system(command.c_str()) != 0) return;
  ::setenv("LOCPATH", folder_.path().c_str(), 1);
  usable_ = std::setlocale(LC_ALL, made.filename().c_str()) != nullptr;
}

ForeignLanguage::~ForeignLanguage() {
  std::setlocale(LC_ALL, "C");
  ::unsetenv("LOCPATH");
}

}  // namespace npu::test
