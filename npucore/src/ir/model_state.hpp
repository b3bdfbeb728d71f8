#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <npucore/frame.hpp>
#include <npucore/types.hpp>

#include "ir/graph/document.hpp"
#include "ir/graph/weights.hpp"

namespace npu::internal {

struct ModelState {
  std::filesystem::path path;
  std::string name;
  ir::Document document;
  ir::Weights weights;
  std::vector<Port> inputs, outputs;
  std::map<std::string, std::string> model_info;
  std::optional<FrameInput> frame_input;
  bool reshaped = false;  ///< the shapes inside the model are older than those of its inputs
};

}  // namespace npu::internal
