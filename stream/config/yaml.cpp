#include "yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>

namespace npustream {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr int kMostValues = 200000, kDeepest = 12;

Json typed(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // in quotes
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char* const begin = text.data() + (text.size() > 1 && text[0] == '+' ? 1 : 0);
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (auto [at, error] = std::from_chars(begin, end, whole); error == std::errc() && at == end) {
    return whole;
  }
  double number = 0;
  if (auto [at, error] = std::from_chars(begin, end, number);
      error == std::errc() && at == end && std::isfinite(number)) {
    return number;
  }
  return text;
}

class Reader {
 public:
  Reader(std::string file, Marks* marks) : file_(std::move(file)), marks_(marks) {}

  Json read(const YAML::Node& node, const std::string& path, int depth) {
    if (depth > kDeepest) {
      refuse(node, path, "is nested more than " + std::to_string(kDeepest) + " deep");
    }
    if (++values_ > kMostValues) {
      refuse(node, path, "the file has more than " + std::to_string(kMostValues) + " values");
    }
    if (node.IsMap()) return read_map(node, path, depth);
    if (node.IsSequence()) return read_list(node, path, depth);
    if (!node.IsScalar()) return nullptr;
    (*marks_)[path].text = node.Scalar();
    return typed(node);
  }

  void mark(const YAML::Node& node, const std::string& path) {
    Mark& mark = (*marks_)[path];
    mark.line = node.Mark().line + 1;
    mark.column = node.Mark().column + 1;
  }

 private:
  [[noreturn]] void refuse(const YAML::Node& node, const std::string& path,
                           const std::string& why) const {
    throw ConfigError(file_, {{path, why, node.Mark().line + 1, node.Mark().column + 1}});
  }

  Json read_map(const YAML::Node& node, const std::string& path, int depth) {
    Json map = Json::object();
    for (const auto& item : node) {
      if (!item.first.IsScalar()) {
        refuse(item.first, path, "has a key that is not a text");
      }
      const std::string& key = item.first.Scalar();
      if (key == "<<" && item.first.Tag() != "!") {
        refuse(item.first, child(path, key),
               "is a merge key of YAML 1.1, which this file cannot have: put what streams share "
               "under defaults");
      }
      if (map.contains(key)) {
        refuse(item.first, child(path, key), "is there twice");
      }
      mark(item.first, child(path, key));
      map[key] = read(item.second, child(path, key), depth + 1);
    }
    return map;
  }

  Json read_list(const YAML::Node& node, const std::string& path, int depth) {
    Json list = Json::array();
    for (std::size_t i = 0; i < node.size(); ++i) {
      mark(node[i], child(path, i));
      list.push_back(read(node[i], child(path, i), depth + 1));
    }
    return list;
  }

  std::string file_;
  Marks* marks_;
  int values_ = 0;
};

bool is_flat(const Json& value) {
  if (!value.is_structured()) return true;
  if (value.is_object()) return value.empty();
  for (const Json& item : value) {
    if (item.is_object() || !is_flat(item)) return false;
  }
  return true;
}

/// JSON's texts, lists and numbers are YAML's, too.
std::string flat(const Json& value) {
  if (!value.is_array()) return value.dump();
  std::string text = "[";
  for (const Json& item : value) text += (text.size() > 1 ? ", " : "") + flat(item);
  return text + "]";
}

/// Without quotes where YAML reads the same text.
std::string scalar(const Json& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  const bool is_plain = !text.empty() &&
                        (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '/') &&
                        text.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") ==
                            std::string::npos;
  try {
    if (is_plain && !YAML::Load(text).IsNull() && typed(YAML::Load(text)).is_string()) return text;
  } catch (const YAML::Exception&) {
  }
  return value.dump();
}

void write(const Json& value, int indent, std::string* out);

void write_item(const Json& value, int indent, std::string* out) {
  if (is_flat(value)) {
    *out += value.is_structured() ? flat(value) : scalar(value);
  } else {
    write(value, indent, out);
  }
}

void write(const Json& value, int indent, std::string* out) {
  const std::string margin(indent, ' ');
  bool is_first = true;
  for (const auto& [key, item] : value.items()) {
    if (!is_first) {
      *out += "\n" + margin;
    }
    is_first = false;
    if (value.is_array()) {
      *out += "- ";
      write_item(item, indent + 2, out);
      continue;
    }
    *out += scalar(Json(key)) + ":";
    *out += is_flat(item) ? " " : "\n" + std::string(indent + 2, ' ');
    write_item(item, indent + 2, out);
  }
}

}  // namespace

std::string child(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}
std::string child(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

Json parse_yaml(const std::string& text, const std::string& file, Marks* marks) {
  if (text.size() > kMostBytes) throw ConfigError(file, {{"", "is longer than 1 MiB"}});
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      const YAML::Mark at = documents[1].Mark();
      throw ConfigError(file, {{"", "must be one document: nothing may stand behind ---",
                                at.line + 1, at.column + 1}});
    }
    return documents.empty() ? Json() : Reader(file, marks).read(documents[0], "", 0);
  } catch (const YAML::Exception& error) {
    const bool is_known = !error.mark.is_null();
    throw ConfigError(file, {{"", "is not YAML: " + error.msg, is_known ? error.mark.line + 1 : 0,
                              is_known ? error.mark.column + 1 : 0}});
  }
}

std::string to_yaml(const Json& value, int indent) {
  std::string out;
  write_item(value, indent, &out);
  return out;
}

}  // namespace npustream
