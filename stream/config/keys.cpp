#include "keys.hpp"

#include <algorithm>
#include <numeric>

namespace npustream {
namespace {

constexpr double kMostUnsigned = 4294967295.0;
constexpr double kMostInt = 2147483647.0;

std::vector<Key> file_keys() {
  return {
      {.name = "server", .kind = Kind::kMap, .help = "the page and REST", .scope = Scope::kServer},
      {.name = "models",
       .kind = Kind::kMap,
       .help = "name: keys of a model",
       .scope = Scope::kModel},
      {.name = "defaults",
       .kind = Kind::kMap,
       .help = "keys for all streams that do not have them",
       .scope = Scope::kDefaults},
      {.name = "streams", .kind = Kind::kMap, .help = "a list of streams", .scope = Scope::kStream},
  };
}

std::vector<Key> server_keys() {
  return {
      {.name = "enabled",
       .kind = Kind::kBoolean,
       .help = "whether there is a page and REST",
       .value_if_missing = "true"},
      {.name = "address",
       .kind = Kind::kText,
       .help = "IP address to listen at; one that is not loopback needs a token-file",
       .value_if_missing = "\"127.0.0.1\""},
      {.name = "port",
       .kind = Kind::kInteger,
       .help = "TCP port; 0: the system chooses",
       .most = 65535,
       .value_if_missing = "8080"},
      {.name = "token-file",
       .kind = Kind::kPath,
       .help = "file with the token that clients must send; others must not be able to read it"},
  };
}

std::vector<Key> model_keys() {
  const char* infer = "npuinfer";
  const char* decode = "nputensordec";
  return {
      {.name = "model",
       .kind = Kind::kPath,
       .help = "an OpenVINO IR (.xml), or a blob of npu-compile"},
      {.name = "device",
       .kind = Kind::kText,
       .help = "auto, npu, software, or an NPU's PCI address or UUID",
       .element = infer,
       .value_if_missing = "\"auto\""},
      {.name = "cache-dir",
       .kind = Kind::kPath,
       .help = "folder that keeps compiled models",
       .element = infer},
      {.name = "nireq",
       .kind = Kind::kInteger,
       .help = "most frames of all its streams at the device; 0: two",
       .most = 64,
       .element = infer,
       .value_if_missing = "0"},
      {.name = "input-shape",
       .kind = Kind::kText,
       .help = "sizes of the model's input, like 1,3,640,640",
       .element = infer},
      {.name = "resize-mode",
       .kind = Kind::kChoice,
       .help = "how a frame fills the model's input",
       .choices = {"auto", "stretch", "letterbox", "fit-to-window", "crop"},
       .element = infer,
       .value_if_missing = "\"auto\""},
      {.name = "mean",
       .kind = Kind::kText,
       .help = "subtracted from grey levels; one value or one per channel",
       .element = infer},
      {.name = "scale",
       .kind = Kind::kText,
       .help = "divides after the mean; likewise",
       .element = infer},
      {.name = "channel-order",
       .kind = Kind::kChoice,
       .help = "what the model expects",
       .choices = {"auto", "rgb", "bgr"},
       .element = infer,
       .value_if_missing = "\"auto\""},
      {.name = "repair",
       .kind = Kind::kChoice,
       .help = "whether what NPUs refuse is changed before compilation",
       .choices = {"auto", "none"},
       .element = infer,
       .value_if_missing = "\"auto\""},
      {.name = "config",
       .kind = Kind::kText,
       .help = "options for the driver's compiler, KEY=VALUE,KEY=VALUE",
       .element = infer},
      {.name = "properties",
       .kind = Kind::kText,
       .help = "properties of npucore, KEY=VALUE KEY=VALUE",
       .element = infer},
      {.name = "threshold",
       .kind = Kind::kNumber,
       .help = "lowest score of a detection; -1: the model's own",
       .least = -1,
       .most = 1,
       .element = decode,
       .value_if_missing = "-1"},
      {.name = "iou-threshold",
       .kind = Kind::kNumber,
       .help = "of two boxes that overlap more than this only the better one stays; -1: the "
               "model's own",
       .least = -1,
       .most = 1,
       .element = decode,
       .value_if_missing = "-1"},
      {.name = "max-detections",
       .kind = Kind::kInteger,
       .help = "most detections per frame; 0: the model's own",
       .most = kMostInt,
       .element = decode,
       .value_if_missing = "0"},
      {.name = "labels",
       .kind = Kind::kTexts,
       .help = "class names; empty: the model's own",
       .element = decode},
      {.name = "labels-file",
       .kind = Kind::kPath,
       .help = "file with one class name per line",
       .element = decode},
      {.name = "model-task",
       .kind = Kind::kText,
       .help = "detect, segment, pose, ...: docs/models.md",
       .element = decode,
       .value_if_missing = "\"auto\""},
      {.name = "model-family",
       .kind = Kind::kText,
       .help = "yolo, ssd, detr, ...: docs/models.md",
       .element = decode,
       .value_if_missing = "\"auto\""},
      {.name = "tensor-name", .kind = Kind::kText, .help = "output to decode", .element = decode},
      {.name = "tensor-layout",
       .kind = Kind::kChoice,
       .help = "order of the tensor's dimensions",
       .choices = {"auto", "channels-first", "boxes-first", "end-to-end"},
       .element = decode,
       .value_if_missing = "\"auto\""},
      {.name = "anchors",
       .kind = Kind::kText,
       .help = "width and height of each anchor, with commas",
       .element = decode},
  };
}

/// Those that each stream has for itself.
std::vector<Key> own_stream_keys() {
  return {
      {.name = "id",
       .kind = Kind::kText,
       .help = "1 to 64 letters, digits, '-', '_' and '.'; no other stream has it"},
      {.name = "source",
       .kind = Kind::kMap,
       .help = "one of file, rtsp, v4l2 and launch",
       .scope = Scope::kSource},
      {.name = "zones",
       .kind = Kind::kZones,
       .help = "list of {name, points}: three points [x, y] or more, 0 to 1 of the frame"},
      {.name = "lines",
       .kind = Kind::kLines,
       .help = "list of {name, points}: two points [x, y], 0 to 1 of the frame"},
      {.name = "paused",
       .kind = Kind::kBoolean,
       .help = "whether the stream stands still",
       .value_if_missing = "false"},
  };
}

std::vector<Key> shared_stream_keys() {
  return {
      {.name = "model", .kind = Kind::kText, .help = "name of a model under models"},
      {.name = "cascade",
       .kind = Kind::kTexts,
       .help = "names of models: the first finds objects, each other one looks at these; instead "
               "of model"},
      {.name = "interval",
       .kind = Kind::kInteger,
       .help = "infer every Nth frame",
       .least = 1,
       .most = 1000,
       .value_if_missing = "1"},
      {.name = "drop",
       .kind = Kind::kChoice,
       .help =
           "npuinfer's drop; auto: busy for cameras, late for files at their own speed, else none",
       .choices = {"auto", "none", "late", "busy"},
       .value_if_missing = "\"auto\""},
      {.name = "zero-copy",
       .kind = Kind::kChoice,
       .help = "whether a frame may be copied",
       .choices = {"auto", "require"},
       .element = "npuinfer",
       .value_if_missing = "\"auto\""},
      {.name = "region",
       .kind = Kind::kMap,
       .help = "what is cut off before all else",
       .scope = Scope::kCrop},
      {.name = "labels",
       .kind = Kind::kTexts,
       .help =
           "only objects with these are tracked, counted and given to a cascade's further models"},
      {.name = "track",
       .kind = Kind::kMapOrBoolean,
       .help = "identities; by default where there are zones, lines or an interval",
       .scope = Scope::kTrack},
      {.name = "count",
       .kind = Kind::kMap,
       .help = "how zones and lines count",
       .scope = Scope::kCount},
      {.name = "overlay",
       .kind = Kind::kMapOrBoolean,
       .help = "what is drawn on pictures",
       .scope = Scope::kOverlay,
       .value_if_missing = "true"},
      {.name = "publish",
       .kind = Kind::kMapOrText,
       .help = "where a JSON line per frame goes; {id} in the location is the stream's",
       .scope = Scope::kPublish},
      {.name = "record",
       .kind = Kind::kMapOrText,
       .help = "write a video of each event; a text is the folder",
       .scope = Scope::kRecord},
      {.name = "priority",
       .kind = Kind::kInteger,
       .help = "higher ones have their turn first",
       .most = kMostUnsigned,
       .value_if_missing = "0"},
      {.name = "min-fps",
       .kind = Kind::kNumber,
       .help = "inferences a second that remain where the device cannot serve all",
       .most = 1000,
       .value_if_missing = "1"},
  };
}

std::vector<Key> stream_keys() {
  std::vector<Key> own = own_stream_keys();
  const std::vector<Key> shared = shared_stream_keys();
  own.insert(own.begin() + 2, shared.begin(), shared.end());
  return own;
}

std::vector<Key> source_keys() {
  return {
      {.name = "file", .kind = Kind::kPath, .help = "a video"},
      {.name = "rtsp", .kind = Kind::kText, .help = "address of a network camera, rtsp://..."},
      {.name = "v4l2", .kind = Kind::kText, .help = "a camera of this machine, like /dev/video0"},
      {.name = "launch",
       .kind = Kind::kText,
       .help = "part of a launch line that gives raw frames"},
      {.name = "loop",
       .kind = Kind::kBoolean,
       .help = "with file: begin again at its end",
       .value_if_missing = "false"},
      {.name = "realtime",
       .kind = Kind::kBoolean,
       .help = "with file: at its own speed, else as fast as it goes",
       .value_if_missing = "true"},
      {.name = "caps",
       .kind = Kind::kText,
       .help = "with v4l2: such as video/x-raw,format=NV12,width=1280,height=720"},
      {.name = "latency",
       .kind = Kind::kInteger,
       .help = "with rtsp: milliseconds that packets may be late",
       .most = kMostInt,
       .value_if_missing = "100"},
      {.name = "protocols",
       .kind = Kind::kChoice,
       .help = "with rtsp",
       .choices = {"tcp", "udp"},
       .value_if_missing = "\"tcp\""},
  };
}

std::vector<Key> crop_keys() {
  std::vector<Key> keys;
  for (const char* name : {"left", "top", "right", "bottom"}) {
    keys.push_back({.name = name,
                    .kind = Kind::kInteger,
                    .help = "pixels cut off on this side",
                    .most = kMostInt,
                    .element = "videocrop",
                    .value_if_missing = "0"});
  }
  return keys;
}

std::vector<Key> track_keys() {
  const char* track = "nputrack";
  return {
      {.name = "high-threshold",
       .kind = Kind::kNumber,
       .help = "least confidence that begins a track",
       .most = 1,
       .element = track,
       .value_if_missing = "0.5"},
      {.name = "low-threshold",
       .kind = Kind::kNumber,
       .help = "least confidence that continues one",
       .most = 1,
       .element = track,
       .value_if_missing = "0.1"},
      {.name = "min-hits",
       .kind = Kind::kInteger,
       .help = "how often an object must be found",
       .least = 1,
       .most = kMostInt,
       .element = track,
       .value_if_missing = "2"},
      {.name = "max-age",
       .kind = Kind::kInteger,
       .help = "milliseconds that one not found keeps its identity",
       .most = kMostInt,
       .element = track,
       .value_if_missing = "1000"},
      {.name = "across-labels",
       .kind = Kind::kBoolean,
       .help = "whether one found with another label may be the same",
       .element = track,
       .value_if_missing = "false"},
      {.name = "predict",
       .kind = Kind::kBoolean,
       .help = "whether frames between inferences get objects",
       .element = track,
       .value_if_missing = "true"},
  };
}

std::vector<Key> count_keys() {
  const char* count = "npucount";
  return {
      {.name = "anchor",
       .kind = Kind::kChoice,
       .help = "where in its box an object is",
       .choices = {"bottom", "center"},
       .element = count,
       .value_if_missing = "\"bottom\""},
      {.name = "max-age",
       .kind = Kind::kInteger,
       .help = "milliseconds that one not seen stays in its zones",
       .most = kMostInt,
       .element = count,
       .value_if_missing = "1000"},
      {.name = "margin",
       .kind = Kind::kNumber,
       .help = "how far it gets before it counts again, 0 to 1 of the frame",
       .most = 1,
       .element = count,
       .value_if_missing = "0.01"},
  };
}

std::vector<Key> overlay_keys() {
  const char* overlay = "npuoverlay";
  std::vector<Key> keys;
  for (const char* name : {"labels", "masks", "maps", "places"}) {
    keys.push_back({.name = name,
                    .kind = Kind::kBoolean,
                    .help = "whether they are drawn",
                    .element = overlay,
                    .value_if_missing = "true"});
  }
  keys.push_back({.name = "statistics",
                  .kind = Kind::kBoolean,
                  .help = "whether rates are written at the bottom",
                  .element = overlay,
                  .value_if_missing = "false"});
  keys.push_back({.name = "trail-length",
                  .kind = Kind::kInteger,
                  .help = "milliseconds of a path that are drawn",
                  .most = kMostInt,
                  .element = overlay,
                  .value_if_missing = "0"});
  return keys;
}

std::vector<Key> record_keys() {
  return {
      {.name = "folder",
       .kind = Kind::kPath,
       .help = "where clips are written; {id} is the stream's",
       .value_if_missing = "\"clips\""},
      {.name = "before",
       .kind = Kind::kNumber,
       .help = "seconds in front of an event",
       .most = 60,
       .value_if_missing = "5"},
      {.name = "after",
       .kind = Kind::kNumber,
       .help = "seconds behind the last event",
       .most = 600,
       .value_if_missing = "10"},
      {.name = "longest",
       .kind = Kind::kNumber,
       .help = "seconds; an event later begins another clip",
       .least = 10,
       .most = 3600,
       .value_if_missing = "300"},
      {.name = "on",
       .kind = Kind::kTexts,
       .help = "entered, left, forward, backward, and labels of objects; else every event of zones "
               "and lines, or any object, of `labels` if set, where there are none"},
      {.name = "keep",
       .kind = Kind::kInteger,
       .help = "most clips of a stream; the oldest go",
       .least = 1,
       .most = 1000000,
       .value_if_missing = "100"},
      {.name = "keep-bytes",
       .kind = Kind::kInteger,
       .help = "most bytes of a stream's clips; the oldest go; 0: any number",
       .most = 1e15,
       .value_if_missing = "0"},
  };
}

std::vector<Key> publish_keys() {
  const char* publish = "npupublish";
  return {
      {.name = "location",
       .kind = Kind::kAddress,
       .help = "a file, unix:PATH, tcp://HOST:PORT, mqtt://HOST/TOPIC or kafka://HOST/TOPIC",
       .element = publish},
      {.name = "policy",
       .kind = Kind::kChoice,
       .help = "what happens without room for a line",
       .choices = {"drop-old", "drop-new", "block"},
       .element = publish,
       .value_if_missing = "\"drop-old\""},
      {.name = "queue-size",
       .kind = Kind::kInteger,
       .help = "lines that may wait",
       .least = 1,
       .most = 1000000,
       .element = publish,
       .value_if_missing = "1000"},
      {.name = "format",
       .kind = Kind::kChoice,
       .help = "docs/json.md",
       .choices = {"npu", "dlstreamer"},
       .element = publish,
       .value_if_missing = "\"npu\""},
      {.name = "append",
       .kind = Kind::kBoolean,
       .help = "with a file: add to it",
       .element = publish,
       .value_if_missing = "true"},
      {.name = "wall-clock",
       .kind = Kind::kBoolean,
       .help = "add when the frame was taken",
       .element = publish,
       .value_if_missing = "false"},
      {.name = "tensors",
       .kind = Kind::kBoolean,
       .help = "add name, type and shape of tensors",
       .element = publish,
       .value_if_missing = "false"},
      {.name = "broker-config",
       .kind = Kind::kText,
       .help = "KEY=VALUE,... of the broker's library",
       .element = publish},
      {.name = "broker-config-file",
       .kind = Kind::kPath,
       .help = "the same, one per line; for secrets",
       .element = publish},
  };
}

std::size_t edits_between(const std::string& one, const std::string& other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= one.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t changed = diagonal + (one[i - 1] == other[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

const std::vector<Key>& keys_of(Scope scope) {
  static const std::vector<Key> file = file_keys(), server = server_keys(), model = model_keys(),
                                stream = stream_keys(), defaults = shared_stream_keys(),
                                source = source_keys(), crop = crop_keys(), track = track_keys(),
                                count = count_keys(), overlay = overlay_keys(),
                                record = record_keys(), publish = publish_keys();
  switch (scope) {
    case Scope::kFile:
      return file;
    case Scope::kServer:
      return server;
    case Scope::kModel:
      return model;
    case Scope::kStream:
      return stream;
    case Scope::kDefaults:
      return defaults;
    case Scope::kSource:
      return source;
    case Scope::kCrop:
      return crop;
    case Scope::kTrack:
      return track;
    case Scope::kCount:
      return count;
    case Scope::kOverlay:
      return overlay;
    case Scope::kRecord:
      return record;
    case Scope::kPublish:
      return publish;
  }
  return file;
}

const Key* find_key(Scope scope, const std::string& name) {
  for (const Key& key : keys_of(scope)) {
    if (name == key.name) return &key;
  }
  return nullptr;
}

std::string nearest(const std::vector<std::string>& known, const std::string& name) {
  constexpr std::size_t kLongest = 64;  // names that are longer are no slips
  if (name.size() > kLongest) return "";
  std::string best;
  std::size_t fewest = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t edits = edits_between(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

std::string nearest_key(Scope scope, const std::string& name) {
  std::vector<std::string> known;
  for (const Key& key : keys_of(scope)) known.emplace_back(key.name);
  return nearest(known, name);
}

}  // namespace npustream
