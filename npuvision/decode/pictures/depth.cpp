// Relative depth: how near each place of the frame is compared with the others.
#include <array>

#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

bool fits(const Found&, const TensorView& output) {
  return is_float(output) && (has_shape(output, {1, 0, 0}) || has_shape(output, {1, 1, 0, 0}));
}

std::string refusal(const Found& found) {
  const int only = only_output(found, fits);
  if (only < 0) return why_none(found, fits);
  const bool is_told = found.card.task == Task::kDepth || found.card.family == Family::kDepth;
  if (!is_told) return "could be another map: set model-task to depth";
  const TensorView& map = found.outputs[static_cast<std::size_t>(only)];
  return has_proportions(map, found.input) ? "" : kOtherProportions;
}

class DepthDecoder : public Decoder {
 public:
  explicit DepthDecoder(const Found& found)
      : index_(static_cast<std::size_t>(only_output(found, fits))),
        made_for_(found.outputs[index_]) {}

  Family family() const override { return Family::kDepth; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions&, Answer* answer) override {
    answer->clear();
    const TensorView& map = outputs[index_];
    check_memory(map, made_for_);
    read_all(map, &values_);
    if (!are_finite(values_)) return leave_undefined(answer);
    const std::size_t width = map.dims.at(map.rank - 1), height = map.dims.at(map.rank - 2);
    give_window(values_, width, window_of(geometry, frame, width, height), &answer->value_map);
  }

 private:
  std::size_t index_;
  TensorView made_for_;
  std::vector<float> values_;
};

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<DepthDecoder>(found);
}

constexpr std::array kTasks{Task::kDepth};

}  // namespace

const Contract kDepthContract{Family::kDepth, kTasks, "[1, height, width] or [1, 1, height, width]",
                              refusal, make};

}  // namespace npu::vision
