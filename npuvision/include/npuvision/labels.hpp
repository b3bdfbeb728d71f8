#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <npucore/types.hpp>

namespace npu::vision {

/// Splits "circle, square" into circle and square. Blanks around labels are dropped.
NPU_API std::vector<std::string> split_labels(std::string_view list, char separator);

/// Reads one label a line, UTF-8; empty lines at the end do not count. Throws Error naming file and
/// line. With a `folder`, the path is relative to it and must not lead out of it.
NPU_API std::vector<std::string> read_labels_file(const std::string& path,
                                                  const std::string& folder = "");

/// The label of a class; "class 7" where there is none.
NPU_API std::string label_of(const std::vector<std::string>& labels, std::uint32_t label_id);

}  // namespace npu::vision
