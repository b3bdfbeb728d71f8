#include <map>
#include <regex>
#include <sstream>
#include <utility>

#include "video.hpp"

namespace pynpu::video {
namespace {

using npu::ErrorCode;
using Parse = void (*)(GstMessage*, GError**, gchar**);

constexpr const char* kPackages =
    "sudo apt install gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad "
    "gstreamer1.0-libav";

struct Words {
  Ref<GError> error;
  std::string message, debug;
};

/// Leaves out the lines that tell a place in the source code, as GStreamer puts them in front.
std::string without_places(const std::string& debug) {
  static const std::regex place(R"(\S+\(\d+\): \S+ \(\): .*)");
  std::istringstream lines(debug);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || std::regex_match(line, place)) continue;
    kept += (kept.empty() ? "" : "\n") + line;
  }
  return kept;
}

GstElementFactory* factory_of(GstMessage* message) {
  GstObject* source = GST_MESSAGE_SRC(message);
  return GST_IS_ELEMENT(source) ? gst_element_get_factory(GST_ELEMENT(source)) : nullptr;
}

/// `npuinfer: words`, and what stands behind them.
Words words_of(GstMessage* message, Parse parse) {
  GError* error = nullptr;
  gchar* details = nullptr;
  parse(message, &error, &details);
  const Ref<gchar> debug(details);
  GstElementFactory* factory = factory_of(message);
  const std::string name = factory ? GST_OBJECT_NAME(factory) : GST_MESSAGE_SRC_NAME(message);
  return {Ref<GError>(error), name + ": " + error->message,
          debug ? without_places(debug.get()) : ""};
}

bool is_ours(GstMessage* message) {
  GstElementFactory* factory = factory_of(message);
  const gchar* plugin =
      factory ? gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory)) : nullptr;
  return g_strcmp0(plugin, "npu") == 0;
}

/// The plugin's elements write npucore's codes in GStreamer's words: gst/common/bus.cpp.
ErrorCode own_code(const GError& error) {
  static const std::map<std::pair<GQuark, gint>, ErrorCode> codes = {
      {{GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND}, ErrorCode::kNotFound},
      {{GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ}, ErrorCode::kIo},
      {{GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS}, ErrorCode::kInvalidArgument},
      {{GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT}, ErrorCode::kOutOfMemory},
      {{GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED}, ErrorCode::kDeviceLost},
      {{GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_BUSY}, ErrorCode::kTimeout},
      {{GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED}, ErrorCode::kUnsupported},
      {{GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE}, ErrorCode::kIncompatible},
      {{GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT}, ErrorCode::kUnsupported},
      {{GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE}, ErrorCode::kInvalidArgument},
      {{GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT}, ErrorCode::kCompileFailed},
  };
  const auto found = codes.find({error.domain, error.code});
  return found == codes.end() ? ErrorCode::kInternal : found->second;
}

/// Sources and decoders fail at their files and hosts.
ErrorCode others_code(const GError& error) {
  if (g_error_matches(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND)) {
    return ErrorCode::kNotFound;
  }
  const bool is_refused =
      error.domain == GST_CORE_ERROR ||
      g_error_matches(&error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE) ||
      g_error_matches(&error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND);
  return is_refused ? ErrorCode::kUnsupported : ErrorCode::kIo;
}

/// The error may come before the message that names the decoder; its details name it, too.
std::string missing_in(const std::string& debug) {
  static const std::regex decoder(R"(Missing decoder: (.+?) \((?:video|image)/)");
  std::smatch found;
  return std::regex_search(debug, found, decoder) ? found[1].str() + " decoder" : "";
}

bool is_about_plugins(const GError& error) {
  return g_error_matches(&error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN) ||
         g_error_matches(&error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND);
}

}  // namespace

npu::Error error_of(GstMessage* message, const std::string& missing) {
  const Words words = words_of(message, gst_message_parse_error);
  if (is_ours(message)) return {own_code(*words.error), words.message, words.debug};
  if (is_about_plugins(*words.error)) {
    const std::string what = missing.empty() ? missing_in(words.debug) : missing;
    return {ErrorCode::kUnsupported, what.empty()
                                         ? "it has no video that can be decoded: " + words.debug
                                         : "this GStreamer has no " + what + ": " + kPackages};
  }
  return {others_code(*words.error),
          words.message + (words.debug.empty() ? "" : " (" + words.debug + ')')};
}

npu::Error error_of(const GError& error) {
  if (g_error_matches(&error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT)) {
    return {ErrorCode::kUnsupported,
            std::string("this GStreamer has ") + error.message + ": " + kPackages};
  }
  const bool is_property =
      g_error_matches(&error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_PROPERTY) ||
      g_error_matches(&error, GST_PARSE_ERROR, GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY);
  return {ErrorCode::kInvalidArgument,
          error.message + std::string(is_property ? ": gst-inspect-1.0 ELEMENT shows its properties"
                                                  : ": this is no pipeline")};
}

std::string text_of(GstMessage* message) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_PROGRESS) {
    gchar* words = nullptr;
    gst_message_parse_progress(message, nullptr, nullptr, &words);
    const Ref<gchar> text(words);
    return GST_MESSAGE_SRC_NAME(message) + std::string(": ") + (text ? text.get() : "");
  }
  const bool is_warning = GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
  return words_of(message, is_warning ? gst_message_parse_warning : gst_message_parse_info).message;
}

std::string missing_of(GstMessage* message) {
  const GstStructure* structure = gst_message_get_structure(message);
  if (structure == nullptr || !gst_structure_has_name(structure, "missing-plugin")) return {};
  const gchar* name = gst_structure_get_string(structure, "name");
  return name != nullptr ? name : "plugin for this stream";
}

}  // namespace pynpu::video
