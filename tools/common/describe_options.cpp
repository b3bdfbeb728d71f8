#include "describe_options.hpp"

#include <sstream>

#include <npucore/properties.hpp>

namespace {

std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const auto& name : option.get_snames()) names += (names.empty() ? "-" : ",-") + name;
  for (const auto& name : option.get_lnames()) names += (names.empty() ? "--" : ",--") + name;
  return names;
}

/// CLI11 writes the values of a set as "TEXT:{a,b}".
std::string choices_of(const std::string& type) {
  const auto open = type.find('{'), close = type.find('}');
  return open == std::string::npos || close == std::string::npos
             ? ""
             : type.substr(open + 1, close - open - 1);
}

void describe(std::ostream& out, const CLI::Option& option) {
  const std::string type = option.get_expected_min() == 0 ? "" : option.get_type_name();
  if (option.get_positional()) {
    out << "operand\t" << option.get_single_name() << '\t' << option.get_description() << '\n';
    return;
  }
  std::string help = option.get_description();
  for (const auto* needed : option.get_needs()) help += " (needs " + names_of(*needed) + ')';
  out << "option\t" << names_of(option) << '\t' << type.substr(0, type.find(':')) << '\t'
      << choices_of(type) << '\t' << help << '\n';
}

}  // namespace

std::string describe_options(const CLI::App& app) {
  std::ostringstream out;
  const std::string about = app.get_description();
  out << "name\t" << app.get_name() << "\nabout\t" << about.substr(0, about.find('\n')) << '\n';
  for (const auto* option : app.get_options()) describe(out, *option);
  if (app.get_option_no_throw("--property") != nullptr) {
    for (const auto& info : npu::known_properties()) {
      if (info.access == npu::Access::kReadWrite) {
        out << "property\t" << info.name << '\n';
      }
    }
  }
  return out.str();
}
