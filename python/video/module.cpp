#include "meta/npumeta.h"

#include "picture.hpp"
#include "video.hpp"

namespace pynpu::video {
namespace {

using namespace nb::literals;

/// How long a call waits at most; then Python looks for Ctrl-C.
constexpr std::chrono::milliseconds kSlice{50};

/// A frame in the decoder's memory.
class Sample {
 public:
  Sample(SampleRef sample, std::shared_ptr<Pictures> pictures)
      : sample_(std::move(sample)),
        pictures_(std::move(pictures)),
        part_(pictures_->visible(sample_.get())) {}

  std::optional<double> seconds() const;
  nb::tuple size() const { return nb::make_tuple(part_.width, part_.height); }
  bool is_inferred() const { return gst_buffer_get_npu_frame_inference_meta(buffer()) != nullptr; }
  nb::object image() const;
  Answer answer() const { return read_answer(buffer(), {part_.width, part_.height}); }
  nb::list details() const { return read_details(buffer()); }

 private:
  GstBuffer* buffer() const { return gst_sample_get_buffer(sample_.get()); }

  SampleRef sample_;
  std::shared_ptr<Pictures> pictures_;
  Visible part_;
};

std::optional<double> Sample::seconds() const {
  const GstClockTime pts = GST_BUFFER_PTS(buffer());
  const GstSegment* segment = gst_sample_get_segment(sample_.get());
  if (!GST_CLOCK_TIME_IS_VALID(pts) || segment->format != GST_FORMAT_TIME) return std::nullopt;
  const guint64 time = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, pts);
  if (!GST_CLOCK_TIME_IS_VALID(time)) return std::nullopt;
  return static_cast<double>(time) / GST_SECOND;
}

nb::object Sample::image() const {
  std::vector<std::uint8_t> pixels(std::size_t{part_.width} * part_.height * 3);
  without_gil([&] { pictures_->convert(sample_.get(), pixels.data()); });
  return array_of(std::move(pixels), {part_.height, part_.width, 3});
}

/// A pipeline, with what its frames share.
struct Player {
  Player(const std::string& launch, bool is_file, bool is_rgb)
      : pipeline(launch, is_file),
        pictures(std::make_shared<Pictures>(is_rgb ? GST_VIDEO_FORMAT_RGB : GST_VIDEO_FORMAT_BGR)) {
  }

  nb::object pull() {
    SampleRef sample = without_gil([&] { return pipeline.pull(kSlice); });
    return sample ? nb::cast(Sample(std::move(sample), pictures)) : nb::none();
  }
  nb::list take_notes() {
    nb::list notes;
    for (const Note& note : pipeline.take_notes()) {
      notes.append(nb::make_tuple(note.is_warning, note.text));
    }
    return notes;
  }

  Pipeline pipeline;
  std::shared_ptr<Pictures> pictures;
};

void bind(nb::module_& module) {
  nb::class_<Sample>(module, "Sample", "A frame in the decoder's memory: see VideoFrame.")
      .def_prop_ro("seconds", &Sample::seconds)
      .def_prop_ro("size", &Sample::size)
      .def_prop_ro("is_inferred", &Sample::is_inferred)
      .def("image", &Sample::image)
      .def("answer", &Sample::answer)
      .def("details", &Sample::details,
           "For each object: (track id, classes, text, anomaly, embedding).");
  nb::class_<Player>(module, "Player", "A pipeline: see npucore.video().")
      .def(nb::init<const std::string&, bool, bool>(), "launch"_a, "is_file"_a, "is_rgb"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def(
          "start", [](Player& player) { player.pipeline.start(); },
          nb::call_guard<nb::gil_scoped_release>())
      .def(
          "stop", [](Player& player) { player.pipeline.stop(); },
          nb::call_guard<nb::gil_scoped_release>(), "From any thread.")
      .def("pull", &Player::pull, "The next Sample; None where none has come for a moment.")
      .def(
          "is_over", [](Player& player) { return player.pipeline.is_over(); },
          nb::call_guard<nb::gil_scoped_release>(), "Raises the first element's error.")
      .def("take_notes", &Player::take_notes, "[(is a warning, words)] since the last call.");
}

}  // namespace
}  // namespace pynpu::video

NB_MODULE(_video, module) {
  module.doc() = "Video by GStreamer and the elements. Use it through npucore.video().";
  nanobind::set_leak_warnings(false);
  module.def("prepare", &pynpu::video::prepare,
             "Starts GStreamer and loads the elements. Called once.");
  pynpu::video::bind(module);
}
