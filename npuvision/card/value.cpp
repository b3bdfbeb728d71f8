#include "value.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <npuvision/labels.hpp>

namespace npu::vision {
namespace {

/// Python and YAML have other words for no value.
bool is_nothing(const Tree& tree, Value::Scalars scalars) {
  if (tree.is_null()) return true;
  if (scalars == Value::Scalars::kTyped || !tree.is_string()) return false;
  const auto& text = tree.get_ref<const std::string&>();
  return text.empty() || text == "None";
}

std::optional<double> parsed_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || next != end) return std::nullopt;
  return value;
}

std::string written(double value) {
  char text[32] = {};
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

}  // namespace

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void Value::refuse(const std::string& why) const {
  throw Error(ErrorCode::kInvalidArgument,
              *place_ + ": " + (key_.empty() ? "" : "key " + shown(key_) + ": ") + why);
}

Value Value::inner(const Tree& tree, const std::string& key) const {
  return Value(tree, scalars_, *place_, key_.empty() ? key : key_ + '/' + key);
}

std::optional<Value> Value::find(const std::string& key) const {
  if (tree_->is_null()) return std::nullopt;
  const auto found = find_even_null(key);
  return found && !is_nothing(*found->tree_, scalars_) ? found : std::nullopt;
}

std::optional<Value> Value::find_even_null(const std::string& key) const {
  if (!is_map()) {
    refuse("is no map");
  }
  const auto found = tree_->find(key);
  return found == tree_->end() ? std::nullopt : std::optional(inner(*found, key));
}

std::optional<Value> Value::find(const std::string& key, const std::string& inner_key) const {
  const auto outer = find(key);
  return outer ? outer->find(inner_key) : std::nullopt;
}

std::vector<Value> Value::items() const {
  if (!is_list()) {
    refuse("is no list");
  }
  std::vector<Value> values;
  values.reserve(tree_->size());
  for (const Tree& one : *tree_) values.push_back(inner(one, std::to_string(values.size())));
  return values;
}

std::vector<std::pair<std::string, Value>> Value::entries() const {
  if (!is_map()) {
    refuse("is no map");
  }
  std::vector<std::pair<std::string, Value>> values;
  values.reserve(tree_->size());
  for (const auto& [key, one] : tree_->items()) values.emplace_back(key, inner(one, key));
  return values;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Value::pairs(std::uint32_t lowest,
                                                                  std::uint32_t highest) const {
  const auto listed = items();
  if (listed.size() > CardLimits::kPairs) {
    refuse("has more than " + std::to_string(CardLimits::kPairs) + " entries");
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Value& pair : listed) {
    const auto ends = pair.items();
    if (ends.size() != 2) {
      pair.refuse("is no pair");
    }
    pairs.emplace_back(ends[0].whole(lowest, highest), ends[1].whole(lowest, highest));
  }
  return pairs;
}

std::string Value::text() const {
  if (!is_text()) {
    refuse("is no text");
  }
  auto text = tree_->get<std::string>();
  if (!is_utf8(text)) {
    refuse("is not UTF-8 text, or has a zero byte");
  }
  return text;
}

double Value::any_number() const {
  if (tree_->is_number()) return tree_->get<double>();
  if (scalars_ == Scalars::kTyped || !is_text()) {
    refuse("is no number");
  }
  return number_of(text());
}

double Value::number_of(const std::string& text) const {
  const auto value = parsed_number(text);
  if (!value) {
    refuse("is " + shown(text) + ", which is no number");
  }
  return *value;
}

double Value::number(double lowest, double highest) const {
  return checked(any_number(), lowest, highest);
}

double Value::checked(double value, double lowest, double highest) const {
  if (!(value >= lowest && value <= highest)) {
    refuse("is " + written(value) + ", not a number from " + written(lowest) + " to " +
           written(highest));
  }
  return value;
}

std::uint32_t Value::whole(std::uint32_t lowest, std::uint32_t highest) const {
  const double value = number(lowest, highest);
  if (value != std::floor(value)) {
    refuse("is " + written(value) + ", not a whole number");
  }
  return static_cast<std::uint32_t>(value);
}

bool Value::flag() const {
  if (tree_->is_boolean()) return tree_->get<bool>();
  if (scalars_ == Scalars::kText && is_text()) {
    const std::string word = lower(text());
    if (word == "true" || word == "yes" || word == "1") return true;
    if (word == "false" || word == "no" || word == "0") return false;
  }
  refuse("is neither true nor false");
}

std::vector<std::string> Value::texts(std::size_t most) const {
  const auto values = items();
  if (values.size() > most) {
    refuse("has more than " + std::to_string(most) + " entries");
  }
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const Value& value : values) texts.push_back(value.text());
  return texts;
}

std::vector<float> Value::numbers(double lowest, double highest, std::size_t most) const {
  const auto values = is_list() ? items() : std::vector{*this};
  if (values.size() > most) {
    refuse("has more than " + std::to_string(most) + " entries");
  }
  std::vector<float> numbers;
  numbers.reserve(values.size());
  for (const Value& value : values) {
    numbers.push_back(static_cast<float>(value.number(lowest, highest)));
  }
  return numbers;
}

std::vector<float> Value::numbers_in_text(double lowest, double highest, std::size_t most) const {
  std::string words = text();
  for (char& c : words) {
    if (std::string_view(",[]\t\n\v\f\r").find(c) != std::string_view::npos) {
      c = ' ';
    }
  }
  std::vector<float> numbers;
  for (const std::string& word : split_labels(words, ' ')) {
    if (numbers.size() == most) {
      refuse("has more than " + std::to_string(most) + " entries");
    }
    numbers.push_back(static_cast<float>(checked(number_of(word), lowest, highest)));
  }
  return numbers;
}

std::vector<std::string> Value::labels() const {
  if (is_list()) return texts(CardLimits::kLabels);
  std::vector<std::string> labels;
  std::vector<bool> given;  // 1, 01 and 1.0 are the same class
  for (const auto& [key, value] : entries()) {
    const auto id = parsed_number(key);
    if (!id || *id != std::floor(*id) || *id < 0 || *id >= CardLimits::kLabels) {
      refuse("has the key " + shown(key) + ", not the number of a class below " +
             std::to_string(CardLimits::kLabels));
    }
    const auto index = static_cast<std::size_t>(*id);
    labels.resize(std::max(labels.size(), index + 1));
    given.resize(labels.size());
    if (given[index]) {
      refuse("has class " + std::to_string(index) + " twice, once as " + shown(key));
    }
    given[index] = true;
    labels[index] = value.text();
  }
  return labels;
}

}  // namespace npu::vision
