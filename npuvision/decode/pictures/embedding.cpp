// Embeddings: a picture's position as a vector whose direction alone counts.
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

bool fits(const Found&, const TensorView& output) {
  return is_float(output) && (has_shape(output, {1, 0}) || has_shape(output, {1, 0, 1, 1})) &&
         output.dims[1] > 1;
}

/// Encoders of pictures may give more than one vector. Hugging Face calls the one that is compared
/// with texts image_embeds, or, where nothing is behind the pooling, pooler_output.
int output_of(const Found& found) {
  for (const std::string_view name : {"image_embeds", "pooler_output"}) {
    const auto place = named_output(found.outputs, name);
    if (!place) continue;
    const TensorView& output = found.outputs[*place];
    if (may_be_meant(found, output) && fits(found, output)) return static_cast<int>(*place);
  }
  return only_output(found, fits);
}

std::string refusal(const Found& found) {
  const int only = output_of(found);
  if (only < 0) return why_none(found, fits);
  const bool is_told = found.card.task == Task::kEmbed || found.card.family == Family::kEmbedding;
  return is_told ? "" : "could be a classification: set model-task to embed";
}

class EmbeddingDecoder : public Decoder {
 public:
  explicit EmbeddingDecoder(const Found& found)
      : index_(static_cast<std::size_t>(output_of(found))), made_for_(found.outputs[index_]) {}

  Family family() const override { return Family::kEmbedding; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  std::size_t index_;
  TensorView made_for_;
};

void EmbeddingDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry&,
                              FrameSize, const DecodeOptions&, Answer* answer) {
  answer->clear();
  check_memory(outputs[index_], made_for_);
  read_all(outputs[index_], &answer->embedding);
  if (!are_finite(answer->embedding)) return leave_undefined(answer);
  double squares = 0;
  for (const float value : answer->embedding) squares += static_cast<double>(value) * value;
  const double length = std::sqrt(squares);
  // A vector of length 0 has no direction.
  if (!std::isfinite(length) || length <= 0) return answer->embedding.clear();
  for (float& value : answer->embedding) value = static_cast<float>(value / length);
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<EmbeddingDecoder>(found);
}

constexpr std::array kTasks{Task::kEmbed};

}  // namespace

const Contract kEmbeddingContract{Family::kEmbedding, kTasks, "[1, values] or [1, values, 1, 1]",
                                  refusal, make};

}  // namespace npu::vision
