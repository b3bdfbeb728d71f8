// Writes a card as one line of JSON that reads back to the same bits.
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include <npucore/error.hpp>

#include "fields.hpp"

namespace npu::vision {
namespace {

using nlohmann::ordered_json;

/// The shortest digits that read back as the same float.
ordered_json number_json(float value, const char* name) {
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the model card's " + std::string(name) + " is no finite number");
  }
  char text[32] = {};
  const char* end = std::to_chars(text, text + sizeof(text), value).ptr;
  double digits = 0;
  std::from_chars(text, end, digits);
  return static_cast<float>(digits) == value ? digits : double{value};
}

ordered_json json_of(const std::string& text, const char* name) {
  if (is_utf8(text)) return text;
  throw Error(ErrorCode::kInvalidArgument,
              "the model card's " + std::string(name) + " is not UTF-8 text: " + shown(text));
}
ordered_json json_of(Task task, const char*) {
  return to_string(task);
}
ordered_json json_of(Family family, const char*) {
  return to_string(family);
}
ordered_json json_of(ResizeMode mode, const char*) {
  return npu::to_string(mode);
}
ordered_json json_of(ChannelOrder order, const char*) {
  return npu::to_string(order);
}
ordered_json json_of(std::uint32_t value, const char*) {
  return value;
}
ordered_json json_of(bool value, const char*) {
  return value;
}
ordered_json json_of(float value, const char* name) {
  return number_json(value, name);
}
template <typename Type>
ordered_json json_of(const std::optional<Type>& value, const char* name) {
  return json_of(*value, name);
}
ordered_json json_of(const std::pair<std::uint32_t, std::uint32_t>& bone, const char*) {
  return {bone.first, bone.second};
}
template <typename Type>
ordered_json json_of(const std::vector<Type>& values, const char* name) {
  auto list = ordered_json::array();
  for (const Type& value : values) list.push_back(json_of(value, name));
  return list;
}

/// Parses a word with `parse`; names the key if that refuses it.
template <typename Parse>
auto word_of(const Value& value, const Parse& parse) {
  try {
    return parse(value.text());
  } catch (const Error& error) {
    value.refuse(error.what());
  }
}

void read(const Value& value, const Field<Task>&, Task* to) {
  *to = word_of(value, task_from_string);
}
void read(const Value& value, const Field<Family>&, Family* to) {
  *to = word_of(value, family_from_string);
}
void read(const Value& value, const Field<std::optional<ResizeMode>>&,
          std::optional<ResizeMode>* to) {
  *to = word_of(value, npu::resize_mode_from_string);
}
void read(const Value& value, const Field<std::optional<ChannelOrder>>&,
          std::optional<ChannelOrder>* to) {
  *to = word_of(value, npu::channel_order_from_string);
}
void read(const Value& value, const Field<std::string>&, std::string* to) {
  *to = value.text();
}
void read(const Value& value, const Field<std::vector<std::string>>&,
          std::vector<std::string>* to) {
  *to = value.texts(CardLimits::kLabels);
}
void read(const Value& value, const Field<std::optional<bool>>&, std::optional<bool>* to) {
  *to = value.flag();
}
void read(const Value& value, const Field<std::optional<float>>& field, std::optional<float>* to) {
  *to = static_cast<float>(value.number(field.lowest, field.highest));
}
std::uint32_t whole_of(const Value& value, double lowest, double highest) {
  return value.whole(static_cast<std::uint32_t>(lowest), static_cast<std::uint32_t>(highest));
}
void read(const Value& value, const Field<std::optional<std::uint32_t>>& field,
          std::optional<std::uint32_t>* to) {
  *to = whole_of(value, field.lowest, field.highest);
}
void read(const Value& value, const Field<std::uint32_t>& field, std::uint32_t* to) {
  *to = whole_of(value, field.lowest, field.highest);
}
void read(const Value& value, const Field<std::vector<float>>& field, std::vector<float>* to) {
  *to = value.numbers(field.lowest, field.highest, field.most);
}
void read(const Value& value,
          const Field<std::vector<std::pair<std::uint32_t, std::uint32_t>>>& field,
          std::vector<std::pair<std::uint32_t, std::uint32_t>>* to) {
  *to = value.pairs(static_cast<std::uint32_t>(field.lowest),
                    static_cast<std::uint32_t>(field.highest));
}

constexpr const char* kOrigins = "origins";

void check_keys(const Value& root) {
  for (const auto& [key, value] : root.entries()) {
    bool known = key == kOrigins;
    for_each_field([&, &name = key](const auto& field) { known = known || name == field.name; });
    if (!known) {
      value.refuse("is not known: was it written by a newer npucore?");
    }
  }
}

void check_key_points(const Value& root, const ModelCard& card) {
  if (card.key_points == 0) return;
  if (!card.key_point_names.empty() && card.key_point_names.size() != card.key_points) {
    root.find("key_point_names")
        ->refuse("has not the " + std::to_string(card.key_points) + " entries of key_points");
  }
  for (const auto& [from, to] : card.skeleton) {
    if (from < card.key_points && to < card.key_points) continue;
    root.find("skeleton")
        ->refuse("has a key point beyond the " + std::to_string(card.key_points) +
                 " of key_points");
  }
}

}  // namespace

std::string ModelCard::to_json() const {
  ordered_json json = ordered_json::object();
  for_each_field([&](const auto& field) {
    const auto& value = this->*field.member;
    if (is_said(value)) {
      json[field.name] = json_of(value, field.name);
    }
  });
  for (const auto& [key, origin] : origins) {
    json[kOrigins][json_of(key, kOrigins).template get<std::string>()] = json_of(origin, kOrigins);
  }
  return json.dump(-1, ' ', true);
}

ModelCard card_from_json(const std::string& text, const std::string& place) {
  const Tree tree = parse_json(text, place);
  const Value root(tree, Value::Scalars::kTyped, place);
  check_keys(root);
  ModelCard card;
  for_each_field([&](const auto& field) {
    if (const auto value = root.find(field.name)) {
      read(*value, field, &(card.*field.member));
    }
  });
  check_key_points(root, card);
  if (const auto origins = root.find(kOrigins)) {
    for (const auto& [key, origin] : origins->entries()) card.origins[key] = origin.text();
  }
  return card;
}

ModelCard ModelCard::from_json(const std::string& text) {
  return card_from_json(text, "the model card");
}

}  // namespace npu::vision
