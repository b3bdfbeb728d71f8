#include "output_check.hpp"

#include <npucore/error.hpp>

#include "model_info_file.hpp"

namespace fs = std::filesystem;

void check_output(const fs::path& output, const std::vector<fs::path>& inputs) {
  std::error_code error;
  const auto there = fs::symlink_status(output, error);
  if (!fs::exists(there)) return;
  if (!fs::is_regular_file(there)) {
    throw npu::Error(npu::ErrorCode::kIo, "cannot write " + output.string() +
                                              ": it is there and no regular file; name another");
  }
  for (const auto& input : inputs) {
    if (!fs::equivalent(output, input, error)) continue;
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "cannot write " + output.string() + ": the blob would replace " +
                         input.string() + ", which it is made of; name another file with --output");
  }
}

void check_outputs(const fs::path& blob, const std::vector<fs::path>& inputs) {
  check_output(blob, inputs);
  if (const auto model_info = model_info_target(inputs.front(), blob)) {
    check_output(*model_info, inputs);
  }
}
