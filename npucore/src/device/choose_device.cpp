#include "choose_device.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <npucore/error.hpp>

#include "base/text.hpp"

namespace npu::internal {
namespace {

using base::text;

constexpr std::size_t kUuidDigits = 32;

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// Whether the text has a digit wherever the form has a 0, and else the form's own character.
bool has_form(std::string_view text, std::string_view form) {
  return std::equal(text.begin(), text.end(), form.begin(), form.end(),
                    [](char c, char wanted) { return wanted == '0' ? is_digit(c) : c == wanted; });
}

/// The spelling of DeviceInfo::pci_address or uuid; any other text in small letters.
std::string normalised(const std::string& address) {
  std::string words = base::lower(address);
  if (has_form(words, "00:00.0")) return "0000:" + words;
  std::string digits = words;
  std::erase(digits, '-');
  const bool is_uuid =
      digits.size() == kUuidDigits && std::all_of(digits.begin(), digits.end(), is_digit);
  return is_uuid ? digits : words;
}

std::string list_of(std::span<const DeviceInfo> devices) {
  std::vector<std::string> lines;
  for (const DeviceInfo& device : devices) {
    lines.push_back(text(device.name, " at ",
                         device.pci_address.empty() ? "an unknown address" : device.pci_address,
                         " (UUID ", device.uuid, device.is_software ? ", \"software\")" : ")"));
  }
  return lines.empty() ? "none" : base::join(lines, "; ");
}

}  // namespace

bool is_address(const std::string& text) {
  const std::string words = normalised(text);
  return has_form(words, "0000:00:00.0") || has_form(words, std::string(kUuidDigits, '0'));
}

std::size_t choose_device(std::span<const DeviceInfo> devices, const std::string& address,
                          const std::string& why_no_real_one) {
  const std::string wanted = normalised(address);
  std::vector<std::size_t> real, software;
  for (std::size_t index = 0; index < devices.size(); ++index) {
    const DeviceInfo& device = devices[index];
    if (device.pci_address != wanted && device.uuid != wanted) continue;
    (device.is_software ? software : real).push_back(index);
  }
  if (real.size() > 1) {
    throw Error(ErrorCode::kInvalidArgument,
                text(real.size(), " NPUs have the UUID ", wanted,
                     ": give the PCI address of one; there are: ", list_of(devices)));
  }
  if (!real.empty()) return real.front();
  if (!software.empty()) return software.front();
  throw Error(ErrorCode::kNotFound,
              text("no NPU has the PCI address or UUID ", base::quoted(address),
                   "; this process can open: ", list_of(devices),
                   why_no_real_one.empty() ? "" : "; no real NPU: ", why_no_real_one));
}

}  // namespace npu::internal
