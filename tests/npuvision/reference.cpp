#include "reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "allocations.hpp"

namespace npu::vision {
namespace {

using nlohmann::json;

constexpr const char* kFolder = "NPUVISION_REFERENCES";  // where the build puts them
constexpr double kNear = 1e-3;
constexpr double kSameMask = 0.99;  // intersection over union

npu::ElementType type_from(const std::string& name) {
  for (const npu::ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kI64,
                                      ElementType::kI32, ElementType::kU8}) {
    if (name == npu::to_string(type)) return type;
  }
  throw std::runtime_error("reference: no tensor has the type " + name);
}

double value_from(const json& value) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value.is_number()) return value.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  return value.get<std::string>() == "inf" ? infinity : -infinity;
}

TestTensor tensor_from(const json& tensor) {
  std::vector<double> values;
  for (const json& value : tensor.at("values")) values.push_back(value_from(value));
  return {tensor.at("name"), type_from(tensor.at("type")), tensor.at("shape"), values,
          tensor.at("row_padding")};
}

template <typename Value>
void read(const json& object, const char* key, Value* value) {
  if (object.contains(key)) {
    *value = object.at(key).get<Value>();
  }
}

template <typename Value>
void read(const json& object, const char* key, std::optional<Value>* value) {
  if (object.contains(key)) {
    *value = object.at(key).get<Value>();
  }
}

std::vector<std::string> labels_from(const json& labels) {
  if (labels.is_array()) return labels;
  std::vector<std::string> numbered(labels.get<std::size_t>());
  for (std::size_t i = 0; i < numbered.size(); ++i) numbered[i] = "class " + std::to_string(i);
  return numbered;
}

ModelCard card_from(const json& object) {
  if (object.contains("model_info")) {
    return read_model_card(object.value("path", "/nowhere/model.xml"), object.at("model_info"));
  }
  ModelCard card;
  card.task = task_from_string(object.value("task", "unknown"));
  card.family = family_from_string(object.value("family", "auto"));
  card.labels = labels_from(object.value("labels", json::array()));
  read(object, "output", &card.output);
  read(object, "channels_first", &card.channels_first);
  read(object, "end_to_end", &card.end_to_end);
  read(object, "multilabel", &card.multilabel);
  read(object, "raw_scores", &card.raw_scores);
  read(object, "anchors", &card.anchors);
  read(object, "key_points", &card.key_points);
  read(object, "key_point_values", &card.key_point_values);
  read(object, "characters", &card.characters);
  read(object, "image_threshold", &card.image_threshold);
  read(object, "pixel_threshold", &card.pixel_threshold);
  read(object, "normalization_scale", &card.normalization_scale);
  read(object, "unclip_ratio", &card.unclip_ratio);
  read(object, "use_dilation", &card.use_dilation);
  read(object, "architecture", &card.architecture);
  return card;
}

npu::FrameGeometry geometry_from(const json& object) {
  return {.model_width = object.at("model_width"),
          .model_height = object.at("model_height"),
          .offset_x = object.at("offset_x"),
          .offset_y = object.at("offset_y"),
          .scale_x = object.at("scale_x"),
          .scale_y = object.at("scale_y")};
}

DecodeOptions options_from(const json& object, const ModelCard& card, Family family) {
  DecodeOptions options = options_of(card, family);
  read(object, "confidence_threshold", &options.confidence_threshold);
  read(object, "iou_threshold", &options.iou_threshold);
  read(object, "max_objects", &options.max_objects);
  read(object, "max_classes", &options.max_classes);
  return options;
}

Reference reference_from(const std::string& name, const json& object) {
  Reference reference;
  reference.name = name;
  reference.card = card_from(object.at("card"));
  for (const json& tensor : object.at("tensors")) {
    reference.tensors.push_back(tensor_from(tensor));
  }
  reference.input = {object.at("input").at(0), object.at("input").at(1)};
  reference.frame = {object.at("frame").at(0), object.at("frame").at(1)};
  reference.geometry = geometry_from(object.at("geometry"));
  reference.options =
      options_from(object.at("options"), reference.card, reference.decoder()->family());
  reference.answer = object.at("answer");
  return reference;
}

json part(const json& answer, const char* key) {
  return answer.value(key, json::array());
}

// Angles that differ by half a turn are those of one box.
double between(double angle, double expected) {
  return std::abs(std::remainder(angle - expected, std::numbers::pi));
}

void expect_oriented(const OrientedBox& box, const json& expected) {
  EXPECT_NEAR(box.center_x, expected.at(0), kNear);
  EXPECT_NEAR(box.center_y, expected.at(1), kNear);
  EXPECT_NEAR(box.width, expected.at(2), kNear);
  EXPECT_NEAR(box.height, expected.at(3), kNear);
  EXPECT_LT(between(box.angle, expected.at(4)), kNear);
  EXPECT_GE(box.angle, -std::numbers::pi / 2);
  EXPECT_LT(box.angle, std::numbers::pi / 2);
}

void expect_objects(const std::vector<Object>& objects, const json& expected) {
  ASSERT_EQ(objects.size(), expected.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    SCOPED_TRACE("object " + std::to_string(i));
    EXPECT_NEAR(objects[i].left, expected[i].at("left"), kNear);
    EXPECT_NEAR(objects[i].top, expected[i].at("top"), kNear);
    EXPECT_NEAR(objects[i].right, expected[i].at("right"), kNear);
    EXPECT_NEAR(objects[i].bottom, expected[i].at("bottom"), kNear);
    EXPECT_NEAR(objects[i].confidence, expected[i].at("confidence"), kNear);
    EXPECT_EQ(objects[i].label_id, expected[i].at("label_id"));
    ASSERT_EQ(objects[i].oriented.has_value(), expected[i].contains("oriented"));
    if (objects[i].oriented) {
      expect_oriented(*objects[i].oriented, expected[i].at("oriented"));
    }
  }
}

void expect_key_points(const Answer& answer, const json& expected) {
  ASSERT_EQ(answer.key_points.size(), expected.size());
  EXPECT_EQ(answer.key_points.size(), answer.key_points_per_object * answer.objects.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("key point " + std::to_string(i));
    EXPECT_NEAR(answer.key_points[i].x, expected[i].at(0), kNear);
    EXPECT_NEAR(answer.key_points[i].y, expected[i].at(1), kNear);
    EXPECT_NEAR(answer.key_points[i].confidence, expected[i].at(2), kNear);
  }
}

struct Pixels {
  std::size_t x, y, width, height;
  std::vector<bool> values;

  bool at(std::size_t column, std::size_t row) const {
    const bool is_inside = column >= x && column < x + width && row >= y && row < y + height;
    return is_inside && values[(row - y) * width + (column - x)];
  }
};

Pixels pixels_of(const Answer& answer, const Mask& mask) {
  Pixels pixels{mask.x, mask.y, mask.width, mask.height, {}};
  for (std::size_t i = 0; i < pixels.width * pixels.height; ++i) {
    const std::uint8_t value = answer.mask_pixels.at(mask.first + i);
    EXPECT_TRUE(value == 0 || value == 255) << int{value};
    pixels.values.push_back(value == 255);
  }
  return pixels;
}

Pixels pixels_from(const json& mask) {
  Pixels pixels{mask.at("x"), mask.at("y"), mask.at("width"), mask.at("height"), {}};
  for (const char value : mask.at("pixels").get<std::string>()) {
    pixels.values.push_back(value == '#');
  }
  return pixels;
}

double mask_overlap(const Pixels& a, const Pixels& b) {
  std::size_t both = 0, any = 0;
  for (std::size_t y = std::min(a.y, b.y); y < std::max(a.y + a.height, b.y + b.height); ++y) {
    for (std::size_t x = std::min(a.x, b.x); x < std::max(a.x + a.width, b.x + b.width); ++x) {
      both += a.at(x, y) && b.at(x, y) ? 1 : 0;
      any += a.at(x, y) || b.at(x, y) ? 1 : 0;
    }
  }
  return any == 0 ? 1 : static_cast<double>(both) / static_cast<double>(any);
}

void expect_masks(const Answer& answer, const json& expected) {
  ASSERT_EQ(answer.masks.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_GE(mask_overlap(pixels_of(answer, answer.masks[i]), pixels_from(expected[i])), kSameMask)
        << "mask " << i;
  }
}

void expect_classes(const std::vector<ClassScore>& classes, const json& expected) {
  ASSERT_EQ(classes.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(classes[i].label_id, expected[i].at("label_id")) << "class " << i;
    EXPECT_NEAR(classes[i].confidence, expected[i].at("confidence"), kNear) << "class " << i;
  }
}

template <typename Values>
void expect_values(const Values& values, const json& expected, const char* what) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i].get<double>(), kNear) << what << " " << i;
  }
}

template <typename Value>
void expect_map(const Map<Value>& map, const json& answer, const char* key) {
  const json expected = answer.value(key, json::object());
  expect_values(map.values, part(expected, "values"), key);
  if (map.empty()) return;
  EXPECT_EQ(map.width, expected.at("width")) << key;
  EXPECT_EQ(map.height, expected.at("height")) << key;
}

void expect_number(const std::optional<float>& number, const json& answer, const char* key) {
  ASSERT_EQ(number.has_value(), answer.contains(key)) << key;
  if (number) {
    EXPECT_NEAR(*number, answer.at(key).get<double>(), kNear) << key;
  }
}

// Strides with elements of the last dimension side by side, and `padding` between two rows.
std::vector<std::size_t> strides_of(const std::vector<std::size_t>& dims, std::size_t element_bytes,
                                    std::size_t padding) {
  if (dims.empty()) return {};
  std::vector<std::size_t> strides(dims.size(), element_bytes);
  for (std::size_t i = dims.size() - 1; i-- > 0;) {
    const bool is_row = i + 2 == dims.size();
    strides[i] = (is_row ? dims[i + 1] + padding : dims[i + 1]) * strides[i + 1];
  }
  return strides;
}

void store(npu::ElementType type, double value, std::byte* to) {
  const auto put = [to](auto element) { std::memcpy(to, &element, sizeof(element)); };
  switch (type) {
    case ElementType::kF32:
      return put(static_cast<float>(value));
    case ElementType::kF16:
      return put(half_bits(value));
    case ElementType::kF64:
      return put(value);
    case ElementType::kI64:
    case ElementType::kU64:
      return put(static_cast<std::int64_t>(value));
    case ElementType::kI32:
    case ElementType::kU32:
      return put(static_cast<std::uint32_t>(static_cast<std::int64_t>(value)));
    case ElementType::kI16:
    case ElementType::kU16:
      return put(static_cast<std::uint16_t>(static_cast<std::int64_t>(value)));
    case ElementType::kI8:
    case ElementType::kU8:
    case ElementType::kBoolean:
      return put(static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
    default:
      throw std::logic_error("no test tensor has this type");
  }
}

}  // namespace

std::uint16_t half_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  if (std::isnan(value)) return sign | 0x7E00U;
  constexpr double kMost = 65504;
  const double magnitude = std::abs(value);
  if (magnitude > kMost) return sign | 0x7C00U;
  const int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : -15, -15);
  if (exponent < -14) return sign | static_cast<std::uint16_t>(std::lround(magnitude * 0x1p24));
  const auto fraction = static_cast<unsigned>(std::lround(std::scalbn(magnitude, 10 - exponent)));
  return static_cast<std::uint16_t>(sign |
                                    ((static_cast<unsigned>(exponent + 14) << 10) + fraction));
}

TestTensor::TestTensor(std::string name, npu::ElementType type, std::vector<std::size_t> dims,
                       const std::vector<double>& values, std::size_t row_padding)
    : name_(std::move(name)), type_(type), dims_(std::move(dims)), row_padding_(row_padding) {
  const std::size_t element_bytes = npu::bit_width(type) / 8;
  const std::size_t rows = values.empty() ? 0 : values.size() / row_length();
  if (!values.empty()) {
    size_bytes_ = (values.size() + (rows - 1) * row_padding) * element_bytes;
  }
  memory_ = std::make_unique<std::byte[]>(size_bytes_);
  for (std::size_t i = 0; i < values.size(); ++i) set(i, values[i]);
}

TensorView TestTensor::view_without_data() const {
  TensorView view;
  view.name = name_;
  view.type = type_;
  view.rank = dims_.size();
  const auto strides = strides_of(dims_, npu::bit_width(type_) / 8, row_padding_);
  for (std::size_t i = 0; i < view.rank; ++i) {
    view.dims.at(i) = dims_[i];
    view.strides_bytes.at(i) = strides[i];
  }
  return view;
}

TensorView TestTensor::view() const {
  TensorView view = view_without_data();
  view.data = memory_.get();
  view.size_bytes = size_bytes_;
  return view;
}

void TestTensor::set(std::size_t index, double value) {
  const std::size_t place = index + index / row_length() * row_padding_;
  store(type_, value, memory_.get() + place * (npu::bit_width(type_) / 8));
}

std::vector<TensorView> Reference::views() const {
  std::vector<TensorView> found;
  for (const TestTensor& tensor : tensors) found.push_back(tensor.view());
  return found;
}

std::vector<TensorView> Reference::views_without_data() const {
  std::vector<TensorView> found;
  for (const TestTensor& tensor : tensors) found.push_back(tensor.view_without_data());
  return found;
}

std::unique_ptr<Decoder> Reference::decoder() const {
  return make_decoder(card, views_without_data(), input);
}

std::vector<Reference> references(const std::string& file) {
  const char* folder = std::getenv(kFolder);
  if (folder == nullptr) return {};
  std::ifstream stream(std::string(folder) + "/" + file + ".json");
  std::vector<Reference> found;
  const json cases = json::parse(stream);
  for (const auto& [name, object] : cases.items()) {
    found.push_back(reference_from(name, object));
  }
  return found;
}

void expect_same(const Answer& answer, const json& expected) {
  expect_objects(answer.objects, part(expected, "objects"));
  expect_key_points(answer, part(expected, "key_points"));
  expect_masks(answer, part(expected, "masks"));
  expect_classes(answer.classes, part(expected, "classes"));
  expect_map(answer.class_map, expected, "class_map");
  expect_map(answer.value_map, expected, "value_map");
  expect_number(answer.anomaly, expected, "anomaly");
  expect_values(answer.embedding, part(expected, "embedding"), "embedding");
  EXPECT_EQ(answer.text, expected.value("text", ""));
  expect_number(answer.text_confidence, expected, "text_confidence");
}

void expect_references(const std::string& file) {
  if (std::getenv(kFolder) == nullptr) {
    GTEST_SKIP() << "the build found no NumPy";
  }
  const std::vector<Reference> all = references(file);
  EXPECT_FALSE(all.empty());
  for (const Reference& reference : all) {
    SCOPED_TRACE(file + ".py: " + reference.name);
    const std::unique_ptr<Decoder> decoder = reference.decoder();
    const std::vector<TensorView> views = reference.views();
    Answer answer;
    const auto decode = [&] {
      decoder->decode(views, reference.geometry, reference.frame, reference.options, &answer);
    };
    decode();
    expect_same(answer, reference.answer);
    const std::size_t before = allocations();
    decode();
    EXPECT_EQ(allocations(), before) << "blocks that a second frame allocates";
    expect_same(answer, reference.answer);
  }
}

}  // namespace npu::vision
