#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "gst/frames.hpp"

#include "frame_witness.hpp"
#include "producer.hpp"

namespace npu::test {
namespace {

using gstnpu::BufferRef;
using gstnpu::ObjectRef;

constexpr guint kPoolFrames = 4;
constexpr guint kFedWidth = 320, kFedHeight = 240;
constexpr const char* kFedCaps =
    "video/x-raw,format=NV12,width=320,height=240,framerate=30/1,colorimetry=bt601";
constexpr gsize kFedBytes = gsize{kFedWidth} * kFedHeight * 3 / 2;
constexpr const char* kAppsrc = "appsrc name=pixels format=time caps=\"";

struct NoDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct NoElement : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- Launch lines

/// The first video node of vivid with that kind of frames; empty when there is none.
std::string camera_with(bool several_planes) {
  for (int number = 0; number < 64; ++number) {
    const std::string path = "/dev/video" + std::to_string(number);
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) continue;
    v4l2_capability about{};
    const bool known = ::ioctl(fd, VIDIOC_QUERYCAP, &about) == 0;
    ::close(fd);
    const auto kind = several_planes ? V4L2_CAP_VIDEO_CAPTURE_MPLANE : V4L2_CAP_VIDEO_CAPTURE;
    if (!known || std::strcmp(reinterpret_cast<const char*>(about.driver), "vivid") != 0) continue;
    if (about.device_caps & kind) return path;
  }
  return {};
}

void put(std::string& line, const std::string& mark, const std::string& text) {
  if (const auto at = line.find(mark); at != std::string::npos) {
    line.replace(at, mark.size(), text);
  }
}

std::string with_devices(std::string line) {
  for (const bool several : {false, true}) {
    const std::string mark = several ? "{vivid-2}" : "{vivid-1}";
    if (line.find(mark) == std::string::npos) continue;
    const std::string path = camera_with(several);
    if (path.empty()) throw NoDevice("no camera of the driver vivid");
    put(line, mark, path);
  }
  put(line, "{pixels}", std::string(kAppsrc) + kFedCaps + "\"");
  return line;
}

ObjectRef<GstElement> parse(const std::string& line) {
  GError* error = nullptr;
  GstParseContext* context = gst_parse_context_new();
  GstElement* made =
      gst_parse_launch_full(line.c_str(), context, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  gchar** missing = gst_parse_context_get_missing_elements(context);
  const std::string lacks = missing && missing[0] ? missing[0] : "";
  const std::string why = error ? error->message : "";
  g_strfreev(missing);
  g_clear_error(&error);
  gst_parse_context_free(context);
  if (!lacks.empty()) throw NoElement("no element \"" + lacks + "\"");
  if (!made) throw std::runtime_error(why);
  return ObjectRef<GstElement>(GST_ELEMENT(gst_object_ref_sink(made)));
}

ObjectRef<GstElement> named(GstElement* pipeline, const char* name) {
  return ObjectRef<GstElement>(gst_bin_get_by_name(GST_BIN(pipeline), name));
}

// ---- Fed pixels

/// A handful of frames, used in turn as a producer with a pool of its own would.
class FedPixels {
 public:
  FedPixels(GstElement* pipeline, const Producer& producer) : source_(named(pipeline, "pixels")) {
    if (!source_) return;
    const bool pooled = producer.pool.has_value();
    for (guint i = 0; i < (pooled ? kPoolFrames : producer.frames); ++i) {
      frames_.push_back(pooled ? in_buffers(*producer.pool, producer.one_per_plane)
                               : BufferRef(gst_buffer_new_allocate(nullptr, kFedBytes, nullptr)));
      draw(frames_.back().get(), i);
    }
  }

  void push_all(guint frames) {
    if (!source_) return;
    auto* source = GST_APP_SRC(source_.get());
    for (guint i = 0; i < frames; ++i) {
      // The memory is shared: a frame is a new GstBuffer around it, as from a V4L2 queue.
      GstBuffer* frame = gst_buffer_copy(frames_[i % frames_.size()].get());
      GST_BUFFER_PTS(frame) = gst_util_uint64_scale(i, GST_SECOND, 30);
      GST_BUFFER_DURATION(frame) = GST_SECOND / 30;
      gst_app_src_push_buffer(source, frame);
    }
    gst_app_src_end_of_stream(source);
  }

 private:
  BufferRef in_buffers(BufferKind kind, bool one_per_plane) {
    BufferRef frame(gst_buffer_new());
    const std::vector<gsize> sizes = one_per_plane
                                         ? std::vector<gsize>{kFedBytes * 2 / 3, kFedBytes / 3}
                                         : std::vector<gsize>{kFedBytes};
    for (const gsize size : sizes) {
      const int fd = make_buffer(kind, size);
      if (fd < 0) throw NoDevice(why_no_buffers(kind));
      gst_buffer_append_memory(frame.get(), gstnpu::test::wrap_dmabuf(fd, size).release());
    }
    gst_buffer_add_video_meta(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12,
                              kFedWidth, kFedHeight);
    return frame;
  }

  static void draw(GstBuffer* frame, guint picture) {
    for (guint m = 0; m < gst_buffer_n_memory(frame); ++m) {
      GstMapInfo map;
      if (!gst_memory_map(gst_buffer_peek_memory(frame, m), &map, GST_MAP_WRITE)) {
        throw std::runtime_error("a buffer of the pool cannot be written");
      }
      for (gsize i = 0; i < map.size; ++i) {
        map.data[i] = static_cast<guint8>((i * 7 + i / kFedWidth * 3 + picture * 29) % 220 + 16);
      }
      gst_memory_unmap(gst_buffer_peek_memory(frame, m), &map);
    }
  }

  ObjectRef<GstElement> source_;
  std::vector<BufferRef> frames_;
};

// ---- A pipeline that plays

class Playing {
 public:
  explicit Playing(GstElement* pipeline) : pipeline_(pipeline) {}
  ~Playing() { gst_element_set_state(pipeline_, GST_STATE_NULL); }
  Playing(const Playing&) = delete;
  Playing& operator=(const Playing&) = delete;

  void start() { gst_element_set_state(pipeline_, GST_STATE_PLAYING); }

  /// Waits until the sink has caps: unixfdsink tells a reader that comes before of caps "NULL".
  void wait_for_caps() {
    GstIterator* sinks = gst_bin_iterate_sinks(GST_BIN(pipeline_));
    GValue sink = G_VALUE_INIT;
    gst_iterator_next(sinks, &sink);
    GstPad* pad = gst_element_get_static_pad(GST_ELEMENT(g_value_get_object(&sink)), "sink");
    for (int i = 0; i < 5000 && !gst_pad_has_current_caps(pad); ++i) g_usleep(1000);
    gst_object_unref(pad);
    g_value_unset(&sink);
    gst_iterator_free(sinks);
  }

  /// Empty at the end of the stream, else what happened instead.
  std::string wait() {
    const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline_));
    const auto types = static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    GstMessage* message = gst_bus_timed_pop_filtered(bus.get(), 240 * GST_SECOND, types);
    if (!message) return "nothing came for four minutes";
    std::string outcome;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      outcome = error->message;
      g_error_free(error);
    }
    gst_message_unref(message);
    return outcome;
  }

 private:
  GstElement* pipeline_;
};

/// Compilations copy texts and weights; only the frames' way is counted.
GstBusSyncReply pause_while_compiling(GstBus*, GstMessage* message, gpointer counter) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_PROGRESS) return GST_BUS_PASS;
  GstProgressType type{};
  gst_message_parse_progress(message, &type, nullptr, nullptr);
  if (type == GST_PROGRESS_TYPE_START) {
    static_cast<CopyCounter*>(counter)->pause();
  }
  if (type == GST_PROGRESS_TYPE_COMPLETE) {
    static_cast<CopyCounter*>(counter)->resume();
  }
  return GST_BUS_PASS;
}

void read_stats(GstElement* npu, ProducerRun& result) {
  GstStructure* stats = nullptr;
  g_object_get(npu, "stats", &stats, nullptr);
  const auto number = [&](const char* field) {
    guint64 value = 0;
    if (!gst_structure_get_uint64(stats, field, &value)) {
      throw std::runtime_error(std::string("no field in stats: ") + field);
    }
    return value;
  };
  result.frames = number("frames");
  result.imported = number("imported");
  result.offered = number("offered");
  result.copied = number("copied");
  result.copied_bytes = number("copied-bytes");
  result.imports = number("imports");
  const gchar* reasons = gst_structure_get_string(stats, "copy-reasons");
  result.copy_reasons = reasons ? reasons : "";
  gst_structure_free(stats);
}

void read_witness(FrameWitness& witness, ProducerRun& result) {
  result.memory = witness.memory_kinds();
  result.caps = witness.caps();
  result.inodes = witness.inodes();
  result.tensors = witness.take_tensors();
  result.pixels = witness.take_pixels();
  result.plain_caps = witness.plain_caps();
}

ProducerRun play(const Producer& producer, const RunOptions& options) {
  const std::string line = with_devices(producer.line) +
                           " ! npuinfer name=npu device=software model=\"" + options.model +
                           "\" ! fakesink name=out";
  const ObjectRef<GstElement> beside =
      producer.beside.empty() ? nullptr : parse(with_devices(producer.beside));
  const ObjectRef<GstElement> pipeline = parse(line);
  const ObjectRef<GstElement> npu = named(pipeline.get(), "npu");
  FrameWitness witness(npu.get(), options.keep_pixels);
  FedPixels pixels(pipeline.get(), producer);

  std::unique_ptr<CopyCounter> counter;
  if (CopyCounter::is_loaded()) {
    counter = std::make_unique<CopyCounter>();
    counter->pause();  // until something was compiled
    const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline.get()));
    gst_bus_set_sync_handler(bus.get(), pause_while_compiling, counter.get(), nullptr);
  }
  ProducerRun result;
  {
    std::unique_ptr<Playing> feeding;
    if (beside) {
      feeding = std::make_unique<Playing>(beside.get());
      feeding->start();
      feeding->wait_for_caps();
    }
    Playing playing(pipeline.get());
    playing.start();
    pixels.push_all(producer.frames);
    result.not_run = playing.wait();
    if (counter) {
      result.our_copies = counter->ours();
    }
    counter.reset();
    read_stats(npu.get(), result);
  }
  read_witness(witness, result);
  if (result.not_run.empty() && result.frames == 0) {
    result.not_run = "no frame came";
  }
  return result;
}

}  // namespace

ProducerRun run(const Producer& producer, const RunOptions& options) {
  ProducerRun result;
  try {
    return play(producer, options);
  } catch (const NoDevice& error) {
    result.not_run = error.what();
    result.lacks_device = true;
  } catch (const NoElement& error) {
    result.not_run = error.what();
    // V4L2's and VA's elements exist only where their device does.
    (producer.needs_device ? result.lacks_device : result.lacks_element) = true;
  } catch (const std::exception& error) {
    result.not_run = error.what();
  }
  return result;
}

}  // namespace npu::test
