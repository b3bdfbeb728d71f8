#include "values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "scalar.hpp"

namespace npu::vision {
namespace {

template <typename Scalar>
void read_as(const std::byte* from, std::size_t stride_bytes, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i, from += stride_bytes) {
    if constexpr (std::is_integral_v<Scalar>) {
      Scalar value;
      std::memcpy(&value, from, sizeof(value));
      to[i] = static_cast<float>(value);
    } else {
      to[i] = load<Scalar>(from);
    }
  }
}

std::size_t count_of(const TensorView& tensor) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < tensor.rank; ++i) count *= tensor.dims.at(i);
  return count;
}

// A softmax or sigmoid in f16 rounds.
bool is_no_share(float value) {
  constexpr float kRounding = 1e-3F;
  return value < -kRounding || value > 1 + kRounding;
}

// Range of the map between the letterbox borders, in values.
void window_along(double offset, double scale, std::uint32_t frame, std::uint32_t model,
                  std::size_t map, std::size_t* first, std::size_t* count) {
  const double values_per_pixel = model > 0 ? static_cast<double>(map) / model : 1;
  const double last = static_cast<double>(map) - 1;
  const double begin = std::round(offset * values_per_pixel);
  const double end = std::round((offset + frame / scale) * values_per_pixel);
  *first = begin > 0 ? static_cast<std::size_t>(std::min(begin, last)) : 0;
  const auto least = static_cast<double>(*first + 1);
  *count = map - *first;
  if (end < static_cast<double>(map)) {
    *count = static_cast<std::size_t>(std::max(end, least)) - *first;
  }
}

}  // namespace

bool is_whole(const TensorView& tensor) {
  switch (tensor.type) {
    case ElementType::kBoolean:
    case ElementType::kI8:
    case ElementType::kI16:
    case ElementType::kI32:
    case ElementType::kI64:
    case ElementType::kU8:
    case ElementType::kU16:
    case ElementType::kU32:
    case ElementType::kU64:
      return true;
    default:
      return false;
  }
}

bool is_readable(const TensorView& tensor) {
  return is_float(tensor) || is_whole(tensor);
}

const std::byte* element(const TensorView& tensor, std::initializer_list<std::size_t> index) {
  const std::byte* at = tensor.data;
  std::size_t dim = 0;
  for (const std::size_t i : index) at += i * tensor.strides_bytes.at(dim++);
  return at;
}

void read(const TensorView& tensor, const std::byte* from, std::size_t stride_bytes,
          std::span<float> to) {
  switch (tensor.type) {
    case ElementType::kF32:
      if (stride_bytes != sizeof(float)) return read_as<float>(from, stride_bytes, to);
      std::memcpy(to.data(), from, to.size_bytes());
      return;
    case ElementType::kF16:
      return read_as<Half>(from, stride_bytes, to);
    case ElementType::kI8:
      return read_as<std::int8_t>(from, stride_bytes, to);
    case ElementType::kI16:
      return read_as<std::int16_t>(from, stride_bytes, to);
    case ElementType::kI32:
      return read_as<std::int32_t>(from, stride_bytes, to);
    case ElementType::kI64:
      return read_as<std::int64_t>(from, stride_bytes, to);
    case ElementType::kU16:
      return read_as<std::uint16_t>(from, stride_bytes, to);
    case ElementType::kU32:
      return read_as<std::uint32_t>(from, stride_bytes, to);
    case ElementType::kU64:
      return read_as<std::uint64_t>(from, stride_bytes, to);
    default:
      return read_as<std::uint8_t>(from, stride_bytes, to);  // u8, boolean
  }
}

void read_all(const TensorView& tensor, std::vector<float>* to) {
  const std::size_t count = count_of(tensor);
  to->resize(count);
  if (count == 0 || tensor.rank == 0) return;
  const std::size_t last = tensor.rank - 1, columns = tensor.dims.at(last);
  std::array<std::size_t, TensorView::kMaxRank> index{};
  for (std::size_t done = 0; done < count; done += columns) {
    const std::byte* from = tensor.data;
    for (std::size_t dim = 0; dim < last; ++dim) {
      from += index.at(dim) * tensor.strides_bytes.at(dim);
    }
    read(tensor, from, tensor.strides_bytes.at(last), std::span(*to).subspan(done, columns));
    for (std::size_t dim = last; dim-- > 0 && ++index.at(dim) == tensor.dims.at(dim);) {
      index.at(dim) = 0;
    }
  }
}

bool are_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

void leave_undefined(Answer* answer) {
  answer->clear();
  answer->is_undefined = true;
}

float sigmoid(float logit) {
  return 1 / (1 + std::exp(-logit));
}

float logit(float probability) {
  return std::log(probability / (1 - probability));
}

bool are_shares(std::span<const float> values) {
  constexpr std::size_t kFewest = 32;
  return values.size() >= kFewest && std::none_of(values.begin(), values.end(), is_no_share);
}

void to_logits(std::span<float> shares) {
  constexpr float kLeast = 1e-30F, kMost = 0.99999994F;  // the highest float below 1
  for (float& value : shares) value = logit(std::clamp(value, kLeast, kMost));
}

void undo_sigmoid(std::span<float> values) {
  if (are_shares(values)) {
    to_logits(values);
  }
}

void undo_softmax(std::span<float> values, std::size_t columns) {
  constexpr std::size_t kFewestRows = 3;
  constexpr float kRounding = 1e-2F, kLeast = 1e-30F;
  if (values.size() < kFewestRows * columns) return;
  for (auto left = values; !left.empty(); left = left.subspan(columns)) {
    const auto row = left.first(columns);
    const float sum = std::accumulate(row.begin(), row.end(), 0.0F);
    if (std::abs(sum - 1) > kRounding || std::any_of(row.begin(), row.end(), is_no_share)) return;
  }
  for (float& value : values) value = std::log(std::max(value, kLeast));
}

std::optional<std::size_t> named_output(std::span<const TensorView> outputs,
                                        std::string_view name) {
  const auto found = std::ranges::find(outputs, name, &TensorView::name);
  if (found == outputs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - outputs.begin());
}

bool may_be_meant(const Found& found, const TensorView& output) {
  return found.card.output.empty() || found.card.output == output.name;
}

int only_output(const Found& found, bool (*fits)(const Found& found, const TensorView& output)) {
  int only = -1;
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    if (!may_be_meant(found, found.outputs[i]) || !fits(found, found.outputs[i])) continue;
    if (only != -1) return -2;
    only = static_cast<int>(i);
  }
  return only;
}

std::string why_none(const Found& found,
                     bool (*fits)(const Found& found, const TensorView& output)) {
  std::string names;
  for (const TensorView& output : found.outputs) {
    if (!may_be_meant(found, output) || !fits(found, output)) continue;
    names += (names.empty() ? "\"" : " or \"") + std::string(output.name) + '"';
  }
  return names.empty() ? kOtherTensors
                       : "has more than one such tensor: set tensor-name to " + names;
}

bool has_proportions(const TensorView& map, InputSize input) {
  if (input.width == 0 || input.height == 0 || map.rank < 2) return true;
  const auto width = static_cast<double>(map.dims.at(map.rank - 1));
  const auto height = static_cast<double>(map.dims.at(map.rank - 2));
  const double wanted_width = height * input.width / input.height;
  const double wanted_height = width * input.height / input.width;
  return std::abs(width - wanted_width) <= 1 || std::abs(height - wanted_height) <= 1;
}

Window window_of(const npu::FrameGeometry& geometry, FrameSize frame, std::size_t map_width,
                 std::size_t map_height) {
  Window window;
  window_along(geometry.offset_x, geometry.scale_x, frame.width, geometry.model_width, map_width,
               &window.left, &window.width);
  window_along(geometry.offset_y, geometry.scale_y, frame.height, geometry.model_height, map_height,
               &window.top, &window.height);
  return window;
}

void give_window(std::span<const float> values, std::size_t map_width, const Window& window,
                 Map<float>* map) {
  map->width = static_cast<std::uint32_t>(window.width);
  map->height = static_cast<std::uint32_t>(window.height);
  map->values.clear();
  for (std::size_t y = 0; y < window.height; ++y) {
    const auto row = values.subspan((window.top + y) * map_width + window.left, window.width);
    map->values.insert(map->values.end(), row.begin(), row.end());
  }
}

}  // namespace npu::vision
