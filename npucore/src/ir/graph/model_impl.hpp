#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <npucore/model.hpp>

#include "base/pimpl.hpp"

#include "document.hpp"
#include "weights.hpp"

namespace npu {

struct NPU_LOCAL Model::Impl {
  std::filesystem::path path;
  std::string name;
  ir::Document document;
  ir::Weights weights;
  std::vector<Port> inputs, outputs;
  std::map<std::string, std::string> model_info;
  std::optional<FrameInput> frame_input;
  bool reshaped = false;  ///< the shapes inside the model are older than its inputs'
  /// The constant that replaced orig_target_sizes, and the input whose size it holds.
  struct FrozenSizes {
    ir::LayerId constant = 0, picture = 0;
  };
  std::optional<FrozenSizes> frozen_sizes;
};

namespace ir {

inline const Model::Impl& impl_of(const Model& model) {
  return *internal::Pimpl::live(model, "Model");
}

}  // namespace ir
}  // namespace npu
