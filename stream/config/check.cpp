#include "check.hpp"

#include <algorithm>
#include <set>

#include "keys.hpp"

namespace npustream {
namespace {

constexpr std::size_t kMostStreams = 10000, kMostPlaces = 256, kMostCorners = 1024;
constexpr std::size_t kLongestText = 4096, kLongestId = 64;

std::string type_of(const Json& value) {
  if (value.is_string()) return "the text " + value.dump();
  if (value.is_object()) return "keys";
  if (value.is_array()) return "a list";
  return value.is_null() ? "nothing" : value.dump();
}

std::string join(const std::vector<const char*>& names) {
  std::string text;
  for (const char* name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// Short, for messages: 0.5, 65535.
std::string number_text(double number) {
  return Json(number == static_cast<std::int64_t>(number) ? Json(static_cast<std::int64_t>(number))
                                                          : Json(number))
      .dump();
}

Json split(const std::string& text) {
  Json list = Json::array();
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::size_t first = text.find_first_not_of(' ', begin);
    if (first < end) {
      list.push_back(text.substr(first, text.find_last_not_of(' ', end - 1) - first + 1));
    }
    begin = end + 1;
  }
  return list;
}

class Checker {
 public:
  explicit Checker(const Marks& marks) : marks_(marks) {}

  void check_file(Json* document);
  std::vector<Problem> take() { return std::move(problems_); }

 private:
  void report(const std::string& path, const std::string& message);
  /// False, with a problem, where the value is no map.
  bool check_map(Json* map, Scope scope, const std::string& path);
  void check_value(Json* value, const Key& key, const std::string& path);
  bool check_text(Json* value, const std::string& path);
  void check_number(Json* value, const Key& key, const std::string& path);
  void check_texts(Json* value, const std::string& path);
  void check_places(Json* list, const std::string& path, std::size_t fewest, std::size_t most);
  void check_points(const Json& points, const std::string& path, std::size_t fewest,
                    std::size_t most);
  void check_choice(const Json& value, const Key& key, const std::string& path);
  void check_stream(const Json& stream, const Json& document, const std::string& path);
  void check_source(const Json& source, const std::string& path);
  void check_models_of(const Json& keys, const Json& document, const std::string& path);
  void check_streams(Json* document);

  const Marks& marks_;
  std::vector<Problem> problems_;
};

void Checker::report(const std::string& path, const std::string& message) {
  constexpr std::size_t kMostProblems = 50;
  if (problems_.size() >= kMostProblems) return;
  // A key that is missing is reported at the map that lacks it.
  std::string at = path;
  auto mark = marks_.find(at);
  while (mark == marks_.end() && !at.empty()) {
    const std::size_t cut = at.find_last_of(".[");
    at = at.substr(0, cut == std::string::npos ? 0 : cut);
    mark = marks_.find(at);
  }
  const bool is_known = mark != marks_.end();
  problems_.push_back(
      {path, message, is_known ? mark->second.line : 0, is_known ? mark->second.column : 0});
}

bool Checker::check_text(Json* value, const std::string& path) {
  const auto mark = marks_.find(path);
  if (!value->is_string() && value->is_primitive() && !value->is_null() && mark != marks_.end()) {
    *value = mark->second.text;  // 012 and true are texts here
  }
  if (!value->is_string() || value->get_ref<const std::string&>().empty()) {
    report(path, "must be a text, and is " + type_of(*value));
    return false;
  }
  const auto& text = value->get_ref<const std::string&>();
  const bool has_control = std::any_of(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' && c != '\n' && c != '\t'; });
  if (text.size() > kLongestText || has_control) {
    report(path, has_control ? "has a control character" : "is longer than 4096 bytes");
    return false;
  }
  return true;
}

void Checker::check_number(Json* value, const Key& key, const std::string& path) {
  const bool is_whole = value->is_number_integer();
  if (key.kind == Kind::kInteger ? !is_whole : !value->is_number()) {
    report(path, std::string("must be a ") +
                     (key.kind == Kind::kInteger ? "whole number" : "number") + " from " +
                     number_text(key.least) + " to " + number_text(key.most) + ", and is " +
                     type_of(*value));
  } else if (const double number = value->get<double>(); number < key.least || number > key.most) {
    report(path, "must be from " + number_text(key.least) + " to " + number_text(key.most) +
                     ", and is " + value->dump());
  }
}

void Checker::check_texts(Json* value, const std::string& path) {
  if (value->is_string()) {
    *value = split(value->get<std::string>());
  }
  if (!value->is_array()) {
    report(path, "must be a list of texts, [one, two], and is " + type_of(*value));
    return;
  }
  for (std::size_t i = 0; i < value->size(); ++i) {
    if (check_text(&(*value)[i], child(path, i)) &&
        (*value)[i].get_ref<const std::string&>().find(',') != std::string::npos) {
      report(child(path, i), "must not contain a comma");
    }
  }
}

void Checker::check_points(const Json& points, const std::string& path, std::size_t fewest,
                           std::size_t most) {
  if (!points.is_array() || points.size() < fewest || points.size() > most) {
    report(path, fewest == most ? "must be two points, [[x, y], [x, y]]"
                                : "must be 3 to 1024 points, [[x, y], ...]");
    return;
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Json& point = points[i];
    const bool is_pair =
        point.is_array() && point.size() == 2 && point[0].is_number() && point[1].is_number();
    const auto is_inside = [](double x) { return x >= 0 && x <= 1; };
    if (!is_pair || !is_inside(point[0].get<double>()) || !is_inside(point[1].get<double>())) {
      report(child(path, i),
             "must be two numbers, [x, y], from 0 to 1 of the frame's width and height");
    }
  }
  if (fewest == most && points[0] == points[1]) {
    report(path, "must be two points that differ");
  }
}

void Checker::check_places(Json* list, const std::string& path, std::size_t fewest,
                           std::size_t most) {
  if (!list->is_array() || list->size() > kMostPlaces) {
    report(path, "must be a list of at most 256 {name, points}, and is " + type_of(*list));
    return;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < list->size(); ++i) {
    Json& place = (*list)[i];
    const std::string at = child(path, i);
    if (!place.is_object() || !place.contains("name") || !place.contains("points")) {
      report(at, "needs name and points");
      continue;
    }
    for (const auto& [key, value] : place.items()) {
      if (key != "name" && key != "points") {
        report(child(at, key), "is not known; allowed are name, points");
      }
    }
    if (check_text(&place["name"], child(at, "name")) &&
        !names.insert(place["name"].get<std::string>()).second) {
      report(child(at, "name"), "is the name of another one in this list");
    }
    check_points(place["points"], child(at, "points"), fewest, most);
  }
}

void Checker::check_choice(const Json& value, const Key& key, const std::string& path) {
  const bool is_known =
      value.is_string() && std::any_of(key.choices.begin(), key.choices.end(),
                                       [&](const char* choice) { return value == choice; });
  if (is_known) return;
  std::string like;
  if (value.is_string()) {
    like = nearest({key.choices.begin(), key.choices.end()}, value.get<std::string>());
  }
  report(path, "must be one of " + join(key.choices) + ", and is " + type_of(value) +
                   (like.empty() ? "" : "; did you mean " + like + "?"));
}

void Checker::check_value(Json* value, const Key& key, const std::string& path) {
  switch (key.kind) {
    case Kind::kText:
    case Kind::kPath:
    case Kind::kAddress:
      check_text(value, path);
      return;
    case Kind::kInteger:
    case Kind::kNumber:
      check_number(value, key, path);
      return;
    case Kind::kChoice:
      check_choice(*value, key, path);
      return;
    case Kind::kTexts:
      check_texts(value, path);
      return;
    case Kind::kZones:
      check_places(value, path, 3, kMostCorners);
      return;
    case Kind::kLines:
      check_places(value, path, 2, 2);
      return;
    case Kind::kMapOrText:
      if (!value->is_object()) {
        check_text(value, path);
        return;
      }
      check_map(value, key.scope, path);
      return;
    case Kind::kMapOrBoolean:
      if (value->is_object()) {
        check_map(value, key.scope, path);
        return;
      }
      [[fallthrough]];
    case Kind::kBoolean:
      if (!value->is_boolean()) {
        report(path, "must be true or false, and is " + type_of(*value));
      }
      return;
    case Kind::kMap:
      check_map(value, key.scope, path);
      return;
  }
}

bool Checker::check_map(Json* map, Scope scope, const std::string& path) {
  if (!map->is_object()) {
    report(path, "must have keys, and is " + type_of(*map));
    return false;
  }
  for (auto& [name, value] : map->items()) {
    const std::string at = child(path, name);
    if (const Key* key = find_key(scope, name)) {
      if (scope != Scope::kFile) {
        check_value(&value, *key, at);
      }
      continue;
    }
    const std::string like = nearest_key(scope, name);
    std::vector<const char*> known;
    for (const Key& key : keys_of(scope)) known.push_back(key.name);
    report(at, like.empty() ? "is not known; allowed are " + join(known)
                            : "is not known; did you mean " + like + "?");
  }
  return true;
}

void Checker::check_source(const Json& source, const std::string& path) {
  if (!source.is_object()) return;  // reported before
  std::string kind;
  for (const char* name : {"file", "rtsp", "v4l2", "launch"}) {
    if (!source.contains(name)) continue;
    if (!kind.empty()) {
      report(child(path, name),
             "is too much beside " + kind + ": a source is one of file, rtsp, v4l2 and launch");
    }
    kind = name;
  }
  if (kind.empty()) {
    report(path, "needs one of file, rtsp, v4l2 and launch");
    return;
  }
  const std::vector<std::pair<const char*, const char*>> belongs = {{"loop", "file"},
                                                                    {"realtime", "file"},
                                                                    {"caps", "v4l2"},
                                                                    {"latency", "rtsp"},
                                                                    {"protocols", "rtsp"}};
  for (const auto& [name, to] : belongs) {
    if (source.contains(name) && kind != to) {
      report(child(path, name), std::string("is for ") + to + " alone, and this source is " + kind);
    }
  }
  const Json& rtsp = source.contains("rtsp") ? source["rtsp"] : Json();
  if (rtsp.is_string() && rtsp.get_ref<const std::string&>().rfind("rtsp", 0) != 0) {
    report(child(path, "rtsp"), "must begin with rtsp:// or rtsps://, and is " + type_of(rtsp));
  }
}

void Checker::check_models_of(const Json& keys, const Json& document, const std::string& path) {
  static const Json none = Json::object();
  const Json& models =
      document.contains("models") && document["models"].is_object() ? document["models"] : none;
  const auto look = [&](const Json& name, const std::string& at) {
    if (!name.is_string() || models.contains(name.get<std::string>())) return;
    std::vector<std::string> known;
    std::string all;
    for (const auto& [model, value] : models.items()) {
      known.push_back(model);
      all += (all.empty() ? "" : ", ") + model;
    }
    const std::string like = nearest(known, name.get<std::string>());
    report(at, type_of(name) + " is not the name of a model under models" +
                   (like.empty() ? (all.empty() ? ", which has none" : "; there are " + all)
                                 : "; did you mean " + like + "?"));
  };
  if (keys.contains("model")) {
    look(keys["model"], child(path, "model"));
  }
  if (!keys.contains("cascade") || !keys["cascade"].is_array()) return;
  for (std::size_t i = 0; i < keys["cascade"].size(); ++i)
    look(keys["cascade"][i], child(child(path, "cascade"), i));
  if (keys["cascade"].empty()) {
    report(child(path, "cascade"), "needs the name of a model at least");
  }
  if (keys.contains("model")) {
    report(child(path, "cascade"), "is too much beside model: a stream has one of the two");
  }
}

void Checker::check_stream(const Json& stream, const Json& document, const std::string& path) {
  const Json& id = stream.contains("id") ? stream["id"] : Json();
  if (id.is_null()) {
    report(path, "needs an id");
  } else if (id.is_string()) {
    const auto& text = id.get_ref<const std::string&>();
    const bool has_other =
        text.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
        std::string::npos;
    if (has_other || text.size() > kLongestId || text[0] == '.') {
      report(child(path, "id"),
             "must be 1 to 64 letters, digits, '-', '_' and '.', not '.' first, and is " +
                 type_of(id));
    }
  }
  if (stream.contains("source")) {
    check_source(stream["source"], child(path, "source"));
  } else {
    report(path, "needs a source");
  }
  check_models_of(stream, document, path);
  const Json& defaults = document.contains("defaults") ? document["defaults"] : Json();
  const bool has_model =
      stream.contains("model") || stream.contains("cascade") ||
      (defaults.is_object() && (defaults.contains("model") || defaults.contains("cascade")));
  if (!has_model) {
    report(path, "needs a model, or a cascade, here or under defaults");
  }
  const bool is_counted = (stream.contains("zones") && !stream["zones"].empty()) ||
                          (stream.contains("lines") && !stream["lines"].empty());
  if (is_counted && stream.contains("track") && stream["track"] == false) {
    report(child(path, "track"),
           "must not be false where there are zones or lines: only objects with identities are "
           "counted");
  }
}

void Checker::check_streams(Json* document) {
  Json& streams = (*document)["streams"];
  if (streams.is_null()) {
    streams = Json::array();
  }
  if (!streams.is_array() || streams.size() > kMostStreams) {
    report("streams", "must be a list of at most 10000 streams, and is " + type_of(streams));
    return;
  }
  std::set<std::string> ids;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const std::string path = child("streams", i);
    if (!check_map(&streams[i], Scope::kStream, path)) continue;
    check_stream(streams[i], *document, path);
    const Json& id = streams[i].contains("id") ? streams[i]["id"] : Json();
    if (id.is_string() && !ids.insert(id.get<std::string>()).second) {
      report(child(path, "id"), type_of(id) + " is the id of another stream");
    }
  }
}

void Checker::check_file(Json* document) {
  if (document->is_null()) {
    *document = Json::object();
  }
  if (!check_map(document, Scope::kFile, "")) return;
  for (auto& [name, value] : document->items()) {
    if (name == "server" && !value.is_null()) {
      check_map(&value, Scope::kServer, name);
    }
    if (name == "defaults" && !value.is_null()) {
      check_map(&value, Scope::kDefaults, name);
      if (value.is_object()) {
        check_models_of(value, *document, name);
      }
    }
    if (name != "models" || value.is_null()) continue;
    if (!value.is_object()) {
      report(name, "must have a key for each model, its name, and is " + type_of(value));
    }
    if (!value.is_object()) continue;
    for (auto& [model, keys] : value.items()) {
      if (check_map(&keys, Scope::kModel, child(name, model)) && !keys.contains("model")) {
        report(child(name, model), "needs model, the path of an .xml or a blob");
      }
    }
  }
  check_streams(document);
}

}  // namespace

std::vector<Problem> check(Json* document, const Marks& marks) {
  Checker checker(marks);
  checker.check_file(document);
  std::vector<Problem> problems = checker.take();
  const auto is_before = [](const Problem& one, const Problem& other) {
    return std::pair(one.line, one.column) < std::pair(other.line, other.column);
  };
  std::stable_sort(problems.begin(), problems.end(), is_before);
  return problems;
}

}  // namespace npustream
