#include "repair.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "ir/graph/ports.hpp"

namespace npu::ir {

std::vector<std::string> repair(Model::Impl& model) {
  std::vector<std::string> done;
  // The first step makes the last one's pattern plainer.
  for (const auto step :
       {drop_integer_rounding, freeze_target_sizes, freeze_scale_factor, cut_detections}) {
    if (auto sentence = step(model)) {
      base::log(LogLevel::kInfo, base::text("repaired ", model.document.title(), ": ", *sentence));
      done.push_back(std::move(*sentence));
    }
  }
  if (!done.empty()) {
    model.inputs = read_inputs(model.document);
    model.outputs = read_outputs(model.document);
  }
  return done;
}

}  // namespace npu::ir
