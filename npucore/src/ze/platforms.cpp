#include "platforms.hpp"

#include <charconv>

namespace npu::ze {

std::vector<std::string> platform_names() {
  std::vector<std::string> names;
  for (const auto& known : kZeNpuPlatforms) names.push_back(std::to_string(known.platform));
  return names;
}

const ze_npu_platform_t* known_platform(const std::string& name) {
  std::uint32_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return ze_npu_platform_of_number(number);
}

std::string platform_of_blob(std::uint64_t number) {
  for (const auto& known : kZeNpuPlatforms) {
    if (known.elfNumber == number) return std::to_string(known.platform);
  }
  // A platform newer than the list has its own number there.
  return number >= 1000 && number <= 9999 ? std::to_string(number) : std::string();
}

}  // namespace npu::ze
