#pragma once

#include <string>
#include <string_view>

#include "mutation.hpp"

namespace npu::fuzz {

/// A blob file as npucore and OpenVINO write it, taken apart, and put together with the sizes and
/// the checksum that then fit.
struct ContainerParts {
  std::string payload;      ///< the ELF with its padding
  std::string metadata;     ///< OpenVINO's
  std::string description;  ///< npucore's XML; empty: none
  bool has_footer = false;

  static ContainerParts split(std::string_view file);
  std::string join() const;
};

/// The file with a change of one part, mostly put together again so that it fits.
std::string mutate_container(std::string_view file, Random& random);

}  // namespace npu::fuzz
