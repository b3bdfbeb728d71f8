// Texts that people type: npucore's properties, the element's, npu-compile's options. A text of
// several lines gives each line to one of the readers in turn.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <npucore/error.hpp>
#include <npucore/properties.hpp>

#include "graphs/settings.hpp"

#include "frame_spec.hpp"
#include "mutation.hpp"
#include "property_options.hpp"

namespace {

void read_properties(const std::string& text) {
  const auto properties = npu::Properties::parse(text);
  if (npu::Properties::parse(properties.to_string()) != properties) {
    std::fprintf(stderr, "other properties come back from: %s\n", properties.to_string().c_str());
    std::abort();
  }
  for (const auto& [name, value] : properties.values()) {
    npu::Properties again;
    if (again.set(name, value).get(name) == value) continue;
    std::fprintf(stderr, "%s has another spelling of '%s'\n", name.c_str(), value.c_str());
    std::abort();
  }
}

void read_property(const std::string& text) {
  const auto [name, value] = split_key_value("--property", text);
  npu::Properties().set(name, value);
}

void read_settings(const std::string& text) {
  gstnpu::Settings settings;
  settings.config = text;
  settings.properties = text;
  gstnpu::compile_options(settings);
}

const std::array<std::function<void(const std::string&)>, 6> kReaders{
    read_properties,
    read_property,
    [](const std::string& text) { parse_frame_spec(text); },
    [](const std::string& text) { parse_numbers("--mean", text); },
    [](const std::string& text) { gstnpu::parse_numbers("mean", text); },
    read_settings,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto rest = npu::fuzz::as_text(data, size);
  for (const auto& read : kReaders) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    try {
      read(std::string(line));
    } catch (const npu::Error&) {
      // A refusal in words is the answer to what cannot be.
    }
  }
  return 0;
}
