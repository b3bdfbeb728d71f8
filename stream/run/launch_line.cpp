#include "launch_line.hpp"

#include <gst/gst.h>

#include <algorithm>
#include <filesystem>

#include "config/keys.hpp"

namespace npustream {
namespace {

constexpr const char* kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,%@+-";

/// Video that Matroska files have, in their form where there are several.
constexpr const char* kRecordable =
    "video/x-h264,stream-format=avc,alignment=au;video/x-h265,stream-format=hvc1,alignment=au;"
    "video/x-vp8;video/x-vp9;video/x-av1;video/mpeg,systemstream=false;image/jpeg";

bool is_plain(const std::string& text) {
  return !text.empty() && text.find_first_not_of(kPlain) == std::string::npos;
}

std::string joined(const Json& texts) {
  std::string text;
  for (const Json& one : texts) text += (text.empty() ? "" : ",") + one.get<std::string>();
  return text;
}

class Builder {
 public:
  Builder(const StreamConfig& stream, const Config& config)
      : keys_(stream.json), stream_(stream), config_(config), folder_(stream.folder) {}

  LaunchLine build();

 private:
  void element(const std::string& factory, const std::string& name = "") {
    if (!line_.empty()) {
      line_.emplace_back("!");
    }
    line_.push_back(factory);
    if (!name.empty()) {
      line_.push_back("name=" + name);
    }
  }
  void set(const std::string& name, const std::string& value) {
    line_.push_back(assignment(name, value));
  }
  /// All keys of `map` that are properties of this element.
  void set_properties(const Json& map, Scope scope, const std::string& factory);
  std::string path(const std::string& text) const {
    return (folder_ / text).lexically_normal().string();
  }
  std::string value_text(const Json& value, Kind kind) const;

  [[noreturn]] void refuse(const std::string& key, const std::string& why) const {
    throw ConfigError(config_.file, {{"stream " + stream_.id + ": " + key, why}});
  }
  void require_caps(const std::string& text) const;
  void add_source();
  void add_model(const std::string& name, std::size_t number);
  void add_tracking();
  void add_publish();
  void decode();
  bool is_recorded() const { return keys_.contains("record"); }
  void add_end();
  void add_branch(const char* from, std::initializer_list<const char*> elements);
  bool is_tracked() const;
  Json places() const;
  std::string drop() const;

  const Json& keys_;
  const StreamConfig& stream_;
  const Config& config_;
  std::filesystem::path folder_;
  LaunchLine line_;
  bool is_encoded_ = false;  // what the source gives
};

std::string Builder::value_text(const Json& value, Kind kind) const {
  if (value.is_array()) return joined(value);
  if (!value.is_string()) return value.dump();
  auto text = value.get<std::string>();
  const bool is_address = text.find("://") != std::string::npos || text.rfind("unix:", 0) == 0 ||
                          text.rfind("fd:", 0) == 0 || text == "-";
  return kind == Kind::kPath || (kind == Kind::kAddress && !is_address) ? path(text) : text;
}

void Builder::set_properties(const Json& map, Scope scope, const std::string& factory) {
  for (const Key& key : keys_of(scope)) {
    if (key.element && factory == key.element && map.contains(key.name)) {
      set(key.name, value_text(map[key.name], key.kind));
    }
  }
}

void Builder::require_caps(const std::string& text) const {
  GstCaps* const caps = gst_caps_from_string(text.c_str());
  if (!caps) {
    refuse("source.caps",
           "must be caps, such as video/x-raw,format=NV12, and are \"" + text + "\"");
  }
  gst_caps_unref(caps);
}

/// A clip gets the source's own encoded frames, from in front of the decoder.
void Builder::decode() {
  is_encoded_ = true;
  if (is_recorded()) {
    element("parsebin", "parse");
    element("capsfilter");
    set("caps", kRecordable);
    element("tee", "encoded");
    element("queue");
  }
  element("decodebin");
}

void Builder::add_source() {
  const Json& source = keys_["source"];
  if (source.contains("file")) {
    element("filesrc");
    set("location", path(source["file"].get<std::string>()));
    decode();
  } else if (source.contains("rtsp")) {
    element("rtspsrc");
    set("location", source["rtsp"].get<std::string>());
    set("protocols", source.value("protocols", "tcp"));
    set("latency", std::to_string(source.value("latency", 100)));
    set("tcp-timeout", "5000000");  // microseconds
    element("application/x-rtp,media=video");
    decode();
  } else if (source.contains("v4l2")) {
    const std::string caps = source.value("caps", "");
    const bool is_encoded = !caps.empty() && caps.rfind("video/x-raw", 0) != 0;
    element("v4l2src");
    set("device", source["v4l2"].get<std::string>());
    if (!is_encoded) {
      set("io-mode", "dmabuf");
    }
    if (!caps.empty()) {
      require_caps(caps);
      element("capsfilter");
      set("caps", caps);
    }
    if (is_encoded) {
      decode();
    }
  } else {
    gint count = 0;
    gchar** words = nullptr;
    const auto text = source["launch"].get<std::string>();
    if (!g_shell_parse_argv(text.c_str(), &count, &words, nullptr)) {
      refuse("source.launch", "has a quote that is not closed");
    }
    line_.assign(words, words + count);
    g_strfreev(words);
  }
}

std::string Builder::drop() const {
  const std::string wanted = keys_.value("drop", "auto");
  if (wanted != "auto") return wanted;
  if (is_camera(stream_)) return "busy";
  return keys_["source"].value("realtime", true) ? "late" : "none";
}

void Builder::add_model(const std::string& name, std::size_t number) {
  const Json& model = config_.models.at(name);
  const std::string file = path(model["model"].get<std::string>());
  const bool is_ir = std::filesystem::path(file).extension() == ".xml";
  const std::string suffix = number == 0 ? "" : std::to_string(number + 1);
  element(is_ir ? "npuinfer" : "npuimport", "infer" + suffix);
  set("model", file);
  set_properties(model, Scope::kModel, "npuinfer");
  if (number == 0) {
    set("model-instance-id", name);
    set("drop", drop());
    if (const int interval = keys_.value("interval", 1); interval > 1) {
      set("inference-interval", std::to_string(interval));
    }
    if (keys_.contains("zero-copy")) {
      set("zero-copy", keys_["zero-copy"].get<std::string>());
    }
  } else {
    set("model-instance-id", name + "-of-objects");
    set("inference-region", "roi-list");
    if (keys_.contains("labels")) {
      set("object-class", joined(keys_["labels"]));
    }
  }
  if (const auto priority = keys_.value("priority", std::uint64_t{0}); priority > 0) {
    set("priority", std::to_string(priority));
  }
  element("nputensordec", "decode" + suffix);
  set_properties(model, Scope::kModel, "nputensordec");
}

Json Builder::places() const {
  Json places = Json::object();
  for (const char* kind : {"zones", "lines"}) {
    if (keys_.contains(kind) && !keys_[kind].empty()) {
      places[kind] = keys_[kind];
    }
  }
  return places;
}

bool Builder::is_tracked() const {
  if (!places().empty()) return true;
  if (!keys_.contains("track")) return keys_.value("interval", 1) > 1;
  return keys_["track"].is_object() || keys_["track"].get<bool>();
}

void Builder::add_tracking() {
  if (!is_tracked()) return;
  const std::string labels = keys_.contains("labels") ? joined(keys_["labels"]) : "";
  element("nputrack", "track");
  if (keys_.contains("track") && keys_["track"].is_object()) {
    set_properties(keys_["track"], Scope::kTrack, "nputrack");
  }
  if (!labels.empty()) {
    set("object-class", labels);
  }
  const Json counted = places();
  if (counted.empty()) return;
  element("npucount", "count");
  set("places", counted.dump());
  if (keys_.contains("count")) {
    set_properties(keys_["count"], Scope::kCount, "npucount");
  }
  if (!labels.empty()) {
    set("object-class", labels);
  }
}

void Builder::add_publish() {
  if (!keys_.contains("publish")) return;
  Json publish = keys_["publish"];
  if (publish.is_string()) {
    publish = {{"location", publish}};
  }
  publish["policy"] = publish.value("policy", "drop-old");
  publish["append"] = publish.value("append", true);
  publish["location"] = with_id(publish.value("location", "-"), stream_.id);
  element("npupublish", "publish");
  set("stream-id", stream_.id);
  set_properties(publish, Scope::kPublish, "npupublish");
}

void Builder::add_branch(const char* from, std::initializer_list<const char*> elements) {
  line_.emplace_back(from);
  for (const char* name : elements) element(name);
  element("fakesink", "record");
  for (const char* property : {"sync=false", "async=false", "enable-last-sample=false"})
    line_.emplace_back(property);
}

void Builder::add_end() {
  if (is_recorded() && !is_encoded_) {
    element("tee", "frames");
  }
  element("fakesink", "end");
  const bool is_paced = keys_["source"].contains("file") && keys_["source"].value("realtime", true);
  set("sync", is_paced ? "true" : "false");
  if (is_paced) {
    set("qos", "true");
  }
  if (!is_recorded()) return;
  if (is_encoded_) {
    add_branch("encoded.", {"queue"});
  } else {
    add_branch("frames.", {"queue", "videoconvert", "jpegenc"});
  }
}

LaunchLine Builder::build() {
  add_source();
  if (keys_.contains("region")) {
    element("videocrop", "region");
    set_properties(keys_["region"], Scope::kCrop, "videocrop");
  }
  if (keys_.contains("cascade")) {
    for (std::size_t i = 0; i < keys_["cascade"].size(); ++i)
      add_model(keys_["cascade"][i].get<std::string>(), i);
  } else {
    add_model(keys_["model"].get<std::string>(), 0);
  }
  add_tracking();
  add_publish();
  add_end();
  return std::move(line_);
}

}  // namespace

std::string assignment(const std::string& name, const std::string& value) {
  if (is_plain(value)) return name + "=" + value;
  std::string text = name + "=\"";
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') {
      text += '\\';
    }
    text += letter;
  }
  return text + "\"";
}

LaunchLine launch_line(const StreamConfig& stream, const Config& config) {
  return Builder(stream, config).build();
}

std::string shell_text(const LaunchLine& line) {
  std::string text;
  for (const std::string& word : line) {
    text += text.empty() ? "" : " ";
    if (is_plain(word) || word == "!") {
      text += word;
      continue;
    }
    gchar* const quoted = g_shell_quote(word.c_str());
    text += quoted;
    g_free(quoted);
  }
  return text;
}

std::string without_passwords(std::string text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at)) {
    at += 3;
    const std::size_t end = std::min(text.find_first_of("/ \"'\\?", at), text.size());
    const std::size_t sign = text.rfind('@', end);
    if (sign != std::string::npos && sign >= at && sign < end) {
      text.replace(at, sign - at, "***");
    }
  }
  return text;
}

bool is_looped(const StreamConfig& stream) {
  return stream.json["source"].value("loop", false);
}
bool is_camera(const StreamConfig& stream) {
  return !stream.json["source"].contains("file");
}

std::string first_model(const StreamConfig& stream) {
  const Json& keys = stream.json;
  return keys.contains("cascade") ? keys["cascade"][0].get<std::string>()
                                  : keys["model"].get<std::string>();
}

bool has_places(const StreamConfig& stream) {
  const auto has = [&](const char* kind) {
    return stream.json.contains(kind) && !stream.json[kind].empty();
  };
  return has("zones") || has("lines");
}

std::string with_id(std::string text, const std::string& id) {
  for (std::size_t at = 0; (at = text.find("{id}", at)) != std::string::npos; at += id.size())
    text.replace(at, 4, id);
  return text;
}

std::string overlay_words(const StreamConfig& stream) {
  const Json overlay = stream.json.value("overlay", Json(true));
  if (overlay == false) return "";
  std::string words = "npuoverlay";
  for (const Key& key : keys_of(Scope::kOverlay)) {
    if (overlay.is_object() && overlay.contains(key.name)) {
      words += " " + assignment(key.name, overlay[key.name].dump());
    }
  }
  return words;
}

}  // namespace npustream
