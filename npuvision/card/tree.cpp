#include "tree.hpp"

#include <glib.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include <npucore/error.hpp>

namespace npu::vision {
namespace {

constexpr std::string_view kNonFinite[] = {"NaN", "Infinity", "-Infinity"};
constexpr std::string_view kNull = "null";

[[noreturn]] void refuse_file(const std::string& place, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "cannot read " + place + ": " + why);
}

/// Builds a tree from a parser's events, within the limits.
class Builder {
 public:
  explicit Builder(const std::string& place) : place_(place) {}

  void begin(Tree::value_t kind) {
    if (open_.size() == TreeLimits::kDepth) {
      refuse_file(place_, "its values are nested deeper than " +
                              std::to_string(TreeLimits::kDepth) + " levels");
    }
    open_.push_back(&put(Tree(kind)));
  }
  void end() { open_.pop_back(); }
  void scalar(Tree value) { put(std::move(value)); }
  bool wants_key() const { return !open_.empty() && open_.back()->is_object() && !key_; }
  void key(std::string key) {
    if (open_.back()->contains(key)) {
      refuse_file(place_, "it has the key " + shown(key) + " twice");
    }
    key_ = std::move(key);
  }

  Tree take() { return std::move(root_); }
  const std::string& place() const { return place_; }

 private:
  Tree& put(Tree value) {
    if (++values_ > TreeLimits::kValues) {
      refuse_file(place_, "it has more than " + std::to_string(TreeLimits::kValues) + " values");
    }
    if (open_.empty()) return root_ = std::move(value);
    Tree& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return parent.back();
    }
    Tree& place = parent[*key_];
    key_.reset();
    return place = std::move(value);
  }

  const std::string& place_;
  Tree root_;
  std::vector<Tree*> open_;  // lists and maps still open; only the last one grows
  std::optional<std::string> key_;
  std::size_t values_ = 0;
};

/// `position` counts from 1 on, as lines and columns do; columns are bytes. The parser's own words
/// count a line break to the next line, and quote what it read, however long.
std::string line_and_column(const std::string& text, std::size_t position) {
  const std::size_t at = std::clamp<std::size_t>(position, 1, text.size() + 1) - 1;
  const std::string_view before = std::string_view(text).substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  return "line " + std::to_string(line) + ", column " +
         std::to_string(at - (before.rfind('\n') + 1) + 1);
}

class JsonEvents : public nlohmann::json_sax<Tree> {
 public:
  JsonEvents(Builder& builder, const std::string& text) : builder_(builder), text_(text) {}

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(number_integer_t value) override { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(value); }
  bool number_float(number_float_t value, const string_t&) override { return scalar(value); }
  bool string(string_t& value) override { return scalar(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return begin(Tree::value_t::object); }
  bool start_array(std::size_t) override { return begin(Tree::value_t::array); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(string_t& key) override {
    builder_.key(std::move(key));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kTooLarge = 406;
    refuse_file(builder_.place(), (error.id == kTooLarge ? "it has a number that is too large: "
                                                         : "it is no JSON: ") +
                                      line_and_column(text_, position));
  }

 private:
  bool scalar(Tree value) {
    builder_.scalar(std::move(value));
    return true;
  }
  bool begin(Tree::value_t kind) {
    builder_.begin(kind);
    return true;
  }
  bool end() {
    builder_.end();
    return true;
  }

  Builder& builder_;
  const std::string& text_;
};

using Words = std::vector<std::string>;

std::size_t bytes_of(const Words& words) {
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size();
  return bytes;
}

class YamlEvents : public YAML::EventHandler {
 public:
  explicit YamlEvents(Builder& builder) : builder_(builder) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    check_no_key(mark);
    builder_.scalar(nullptr);
    open_list_ = 0;
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_no_key(mark);
    const auto found = lists_.find(anchor);
    if (found == lists_.end()) {
      refuse(mark, "an alias of what is no list of words: write the value itself");
    }
    copied_bytes_ += bytes_of(found->second);
    if (copied_bytes_ > TreeLimits::kCopiedBytes) {
      refuse(mark, "its aliases stand for too much: write the values themselves");
    }
    put_list(found->second);
  }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    builder_.wants_key() ? builder_.key(value) : builder_.scalar(value);
    if (open_list_ != 0) {
      words_.push_back(value);
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_no_key(mark);
    builder_.begin(Tree::value_t::array);
    open_list_ = anchor;
    words_.clear();
  }
  void OnSequenceEnd() override {
    builder_.end();
    if (open_list_ != 0) {
      lists_[open_list_] = std::move(words_);
    }
    open_list_ = 0;
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    check_no_key(mark);
    builder_.begin(Tree::value_t::object);
    open_list_ = 0;
  }
  void OnMapEnd() override { builder_.end(); }

 private:
  void check_no_key(const YAML::Mark& mark) const {
    if (builder_.wants_key()) {
      refuse(mark, "a key is no text");
    }
  }
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& why) const {
    refuse_file(builder_.place(), "line " + std::to_string(mark.line + 1) + ": " + why);
  }
  void put_list(const Words& words) {
    builder_.begin(Tree::value_t::array);
    for (const std::string& word : words) builder_.scalar(word);
    builder_.end();
    open_list_ = 0;
  }

  Builder& builder_;
  // Keeps lists of words only, so that no alias stands for another and none grows by nesting.
  std::map<YAML::anchor_t, Words> lists_;
  YAML::anchor_t open_list_ = 0;  // the innermost list, as long as it has only words
  Words words_;                   // words of open_list_
  std::size_t copied_bytes_ = 0;
};

/// Replaces NaN, Infinity and -Infinity, which Python writes but JSON does not have, by null: they
/// say nothing. Other bytes keep their offsets if a blank precedes "NaN", as Python writes it.
std::string without_non_finite(const std::string& text) {
  if (text.find("NaN") == std::string::npos && text.find("Infinity") == std::string::npos) {
    return text;
  }
  std::string json;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    const auto word = std::find_if(std::begin(kNonFinite), std::end(kNonFinite),
                                   [&](std::string_view one) { return rest.starts_with(one); });
    if (!is_string && word != std::end(kNonFinite)) {
      if (word->size() < kNull.size() && json.ends_with(' ')) {
        json.pop_back();
      }
      json += kNull;
      json.append(word->size() - std::min(word->size(), kNull.size()), ' ');
      i += word->size() - 1;
      continue;
    }
    if (is_string && text[i] == '\\' && i + 1 < text.size()) {
      json += text[i++];
    } else if (text[i] == '"') {
      is_string = !is_string;
    }
    json += text[i];
  }
  return json;
}

void check_utf8(const std::string& text, const std::string& place) {
  if (!is_utf8(text)) {
    refuse_file(place, "it is not UTF-8 text");
  }
}

}  // namespace

bool is_utf8(const std::string& text) {
  return g_utf8_validate(text.data(), static_cast<gssize>(text.size()), nullptr) != FALSE;
}

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::string shown(const std::string& text) {
  constexpr std::size_t kMost = 60;
  return '"' + shortened(text, kMost) + '"';
}

Tree parse_json(const std::string& text, const std::string& place) {
  check_utf8(text, place);
  Builder builder(place);
  const std::string json = without_non_finite(text);
  JsonEvents events(builder, json);
  Tree::sax_parse(json, &events);
  return builder.take();
}

Tree parse_yaml(const std::string& text, const std::string& place) {
  check_utf8(text, place);
  Builder builder(place);
  YamlEvents events(builder);
  try {
    std::istringstream stream(text);
    YAML::Parser(stream).HandleNextDocument(events);
  } catch (const YAML::Exception& error) {
    refuse_file(place, "it is no YAML: line " + std::to_string(error.mark.line + 1) + ", column " +
                           std::to_string(error.mark.column + 1));
  }
  return builder.take();
}

}  // namespace npu::vision
