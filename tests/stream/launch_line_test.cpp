#include "run/launch_line.hpp"

#include <gst/gst.h>
#include <gtest/gtest.h>

namespace npustream {
namespace {

/// As npu-stream does, and gst-launch-1.0 with the same words.
std::string value_of(const std::string& word) {
  gst_init(nullptr, nullptr);
  const gchar* const words[] = {"filesrc", "name=f", word.c_str(), "!", "fakesink", nullptr};
  GError* error = nullptr;
  GstElement* const pipeline = gst_parse_launchv(const_cast<const gchar**>(words), &error);
  if (error) return error->message;
  GstElement* const file = gst_bin_get_by_name(GST_BIN(pipeline), "f");
  gchar* value = nullptr;
  g_object_get(file, "location", &value, nullptr);
  const std::string copy = value ? value : "";
  g_free(value);
  gst_object_unref(file);
  gst_object_unref(pipeline);
  return copy;
}

TEST(LaunchLine, CarriesAnyText) {
  for (const char* const text :
       {"plain.mp4", "with blank.mp4", "a\"quote\".mp4", "it's.mp4", "back\\slash.mp4", "a ! b.mp4",
        "a\t!\tb\n.mp4", "{\"x\":[1,2]}", "né.mp4"}) {
    EXPECT_EQ(value_of(assignment("location", text)), text);
  }
}

Config with_camera(const std::string& caps) {
  return check_document(
      {{"models", {{"m", {{"model", "m.xml"}}}}},
       {"streams",
        {{{"id", "a"}, {"model", "m"}, {"source", {{"v4l2", "/dev/video0"}, {"caps", caps}}}}}}},
      "/f/c.yaml");
}

TEST(LaunchLine, TakesCapsForNothingElse) {
  gst_init(nullptr, nullptr);
  const Config good = with_camera("video/x-raw,format=NV12");
  EXPECT_NE(shell_text(launch_line(good.streams[0], good))
                .find("! capsfilter caps=video/x-raw,format=NV12 ! npuinfer"),
            std::string::npos);
  const Config bad = with_camera("video/x-raw\t!\tfilesink\tlocation=/victim");
  EXPECT_THROW(launch_line(bad.streams[0], bad), ConfigError);
}

TEST(LaunchLine, HidesPasswordsWhereItIsKept) {
  EXPECT_EQ(without_passwords("rtspsrc location=rtsp://me:secret@camera/1 ! x"),
            "rtspsrc location=rtsp://***@camera/1 ! x");
}

TEST(LaunchLine, IsReadByAShellAsItWas) {
  const LaunchLine line = {"filesrc", "location=\"it's \\\" here\"", "!", "fakesink"};
  gchar** words = nullptr;
  gint count = 0;
  ASSERT_TRUE(g_shell_parse_argv(shell_text(line).c_str(), &count, &words, nullptr));
  EXPECT_EQ(LaunchLine(words, words + count), line);
  g_strfreev(words);
}

TEST(LaunchLine, HasTheElementsThatAStreamNeeds) {
  const Config config = parse_config(
      "models: {m: {model: m.xml}, n: {model: n.blob}}\n"
      "streams:\n"
      "- {id: plain, source: {file: x}, model: m}\n"
      "- {id: camera, source: {rtsp: 'rtsp://c'}, cascade: [m, n], labels: [a, b], interval: 3, "
      "publish: 'mqtt://h/{id}'}\n",
      "/f/c.yaml");
  EXPECT_EQ(shell_text(launch_line(config.streams[0], config)),
            "filesrc location=/f/x ! decodebin ! npuinfer name=infer model=/f/m.xml "
            "model-instance-id=m drop=late ! nputensordec name=decode ! "
            "fakesink name=end sync=true qos=true");
  EXPECT_EQ(shell_text(launch_line(config.streams[1], config)),
            "rtspsrc location=rtsp://c protocols=tcp latency=100 tcp-timeout=5000000 ! "
            "application/x-rtp,media=video ! decodebin ! "
            "npuinfer name=infer model=/f/m.xml model-instance-id=m drop=busy inference-interval=3 "
            "! nputensordec name=decode ! "
            "npuimport name=infer2 model=/f/n.blob model-instance-id=n-of-objects "
            "inference-region=roi-list object-class=a,b ! "
            "nputensordec name=decode2 ! nputrack name=track object-class=a,b ! "
            "npupublish name=publish stream-id=camera location=mqtt://h/camera policy=drop-old "
            "append=true ! fakesink name=end sync=false");
}

TEST(LaunchLine, RecordsEncodedFramesOfTheSource) {
  const Config config = parse_config(
      "models: {m: {model: m.xml}}\n"
      "defaults: {model: m, record: clips}\n"
      "streams:\n"
      "- {id: camera, source: {rtsp: 'rtsp://c'}}\n"
      "- {id: raw, source: {launch: v4l2src}}\n",
      "/f/c.yaml");
  const std::string copied = shell_text(launch_line(config.streams[0], config));
  EXPECT_NE(copied.find("! parsebin name=parse ! capsfilter "), std::string::npos) << copied;
  EXPECT_NE(copied.find(" ! tee name=encoded ! queue ! decodebin ! "), std::string::npos);
  EXPECT_TRUE(
      copied.ends_with(" ! fakesink name=end sync=false encoded. ! queue ! fakesink "
                       "name=record sync=false async=false enable-last-sample=false"))
      << copied;
  const std::string raw = shell_text(launch_line(config.streams[1], config));
  EXPECT_TRUE(
      raw.ends_with(" ! tee name=frames ! fakesink name=end sync=false frames. ! queue ! "
                    "videoconvert ! jpegenc ! fakesink name=record sync=false async=false "
                    "enable-last-sample=false"))
      << raw;
}

}  // namespace
}  // namespace npustream
