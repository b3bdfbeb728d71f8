#include "answer.hpp"

#include <algorithm>

#include <npuvision/labels.hpp>

namespace pynpu {
namespace {

namespace vision = npu::vision;

nb::object xyxy(const Answer& answer) {
  std::vector<float> edges;
  edges.reserve(answer.found.objects.size() * 4);
  for (const vision::Object& object : answer.found.objects) {
    for (const double edge : {object.left, object.top, object.right, object.bottom}) {
      edges.push_back(static_cast<float>(edge));
    }
  }
  return array_of(std::move(edges), {answer.found.objects.size(), 4});
}

template <class Value, class Get>
nb::object column(const Answer& answer, const Get& get) {
  std::vector<Value> values;
  for (const vision::Object& object : answer.found.objects) values.push_back(get(object));
  const std::size_t count = values.size();
  return array_of(std::move(values), {count});
}

nb::object confidence(const Answer& answer) {
  return column<float>(answer, [](const vision::Object& object) { return object.confidence; });
}

nb::object class_id(const Answer& answer) {
  return column<std::int64_t>(answer, [](const vision::Object& object) { return object.label_id; });
}

nb::object class_name(const Answer& answer) {
  nb::list names;
  for (const vision::Object& object : answer.found.objects) {
    names.append(vision::label_of(*answer.labels, object.label_id));
  }
  const nb::object numpy = nb::module_::import_("numpy");
  return numpy.attr("array")(names, nb::arg("dtype") = "str");
}

/// Fills the part of a frame that a mask covers, from the nearest of its values.
void draw(const vision::Answer& found, const vision::Mask& mask, std::size_t width,
          std::uint8_t* to) {
  for (std::uint32_t y = 0; y < mask.height; ++y) {
    const std::size_t row = std::size_t{y} * mask.rows / mask.height;
    const std::uint8_t* from = found.mask_pixels.data() + mask.first + row * mask.columns;
    std::uint8_t* line = to + (std::size_t{mask.y} + y) * width + mask.x;
    for (std::uint32_t x = 0; x < mask.width; ++x) {
      line[x] = from[std::size_t{x} * mask.columns / mask.width] != 0 ? 1 : 0;
    }
  }
}

nb::object mask(const Answer& answer) {
  const vision::Answer& found = answer.found;
  if (found.masks.empty()) return nb::none();
  const std::size_t width = answer.frame.width, height = answer.frame.height;
  std::vector<std::uint8_t> pixels(found.masks.size() * width * height);
  without_gil([&] {
    for (std::size_t i = 0; i < found.masks.size(); ++i) {
      draw(found, found.masks[i], width, pixels.data() + i * width * height);
    }
  });
  return array_of(std::move(pixels), {found.masks.size(), height, width}).attr("view")("bool");
}

nb::object key_points(const Answer& answer) {
  const vision::Answer& found = answer.found;
  if (found.key_points_per_object == 0) return nb::none();
  std::vector<float> values;
  for (const vision::KeyPoint& point : found.key_points) {
    values.insert(values.end(),
                  {static_cast<float>(point.x), static_cast<float>(point.y), point.confidence});
  }
  const std::size_t objects = found.key_points.size() / found.key_points_per_object;
  return array_of(std::move(values), {objects, found.key_points_per_object, 3});
}

nb::object oriented(const Answer& answer) {
  std::vector<float> values;
  for (const vision::Object& object : answer.found.objects) {
    if (!object.oriented) return nb::none();
    const auto& box = *object.oriented;
    for (const double value : {box.center_x, box.center_y, box.width, box.height, box.angle}) {
      values.push_back(static_cast<float>(value));
    }
  }
  if (values.empty()) return nb::none();
  const std::size_t count = values.size() / 5;
  return array_of(std::move(values), {count, 5});
}

nb::list classes(const Answer& answer) {
  nb::list all;
  for (const vision::ClassScore& score : answer.found.classes) {
    all.append(nb::make_tuple(vision::label_of(*answer.labels, score.label_id), score.label_id,
                              score.confidence));
  }
  return all;
}

template <class Value>
nb::object map_of(const vision::Map<Value>& map) {
  if (map.empty()) return nb::none();
  return array_of(map.values, {map.height, map.width});
}

nb::object tracker_id(const Answer& answer) {
  if (!answer.tracker_id) return nb::none();
  return array_of(*answer.tracker_id, {answer.tracker_id->size()});
}

nb::dict detections(const Answer& answer) {
  nb::dict data;
  data["class_name"] = class_name(answer);
  nb::dict all;
  all["xyxy"] = xyxy(answer);
  all["mask"] = mask(answer);
  all["confidence"] = confidence(answer);
  all["class_id"] = class_id(answer);
  all["tracker_id"] = tracker_id(answer);
  all["data"] = data;
  return all;
}

}  // namespace

void bind_answer(nb::module_& module) {
  nb::class_<Answer>(
      module, "Answer",
      "A model's results for one frame. What the model does not give is empty or None. "
      "len(answer): the number of objects, best first.")
      .def("__len__", [](const Answer& answer) { return answer.found.objects.size(); })
      .def_prop_ro(
          "frame_size",
          [](const Answer& answer) {
            return nb::make_tuple(answer.frame.width, answer.frame.height);
          },
          "(width, height) in pixels")
      .def_prop_ro("xyxy", &xyxy, "(n, 4) float32: left, top, right, bottom in frame pixels")
      .def_prop_ro("confidence", &confidence, "(n,) float32, 0..1")
      .def_prop_ro("class_id", &class_id, "(n,) int64")
      .def_prop_ro("class_name", &class_name, "(n,) str")
      .def_prop_ro("tracker_id", &tracker_id,
                   "(n,) int64 once a Tracker has seen it, -1: not confirmed yet; else None")
      .def_prop_ro("mask", &mask, "(n, height, width) bool, in frame pixels, or None")
      .def_prop_ro("key_points", &key_points,
                   "(n, points, 3) float32: x, y in frame pixels, confidence; or None")
      .def_prop_ro(
          "oriented", &oriented,
          "(n, 5) float32: centre x, y, width, height in frame pixels, radians clockwise; or None")
      .def_prop_ro("classes", &classes,
                   "[(name, id, confidence)], best first, of the whole picture")
      .def_prop_ro(
          "class_map", [](const Answer& answer) { return map_of(answer.found.class_map); },
          "(rows, columns) uint16 label ids at the model's resolution, or None")
      .def_prop_ro(
          "value_map", [](const Answer& answer) { return map_of(answer.found.value_map); },
          "(rows, columns) float32: depth, or anomaly 0..1, or None")
      .def_prop_ro(
          "anomaly", [](const Answer& answer) { return answer.found.anomaly; }, "0..1, or None")
      .def_prop_ro(
          "embedding",
          [](const Answer& answer) -> nb::object {
            if (answer.found.embedding.empty()) return nb::none();
            return array_of(answer.found.embedding, {answer.found.embedding.size()});
          },
          "(n,) float32 of length 1, or None")
      .def_prop_ro("text", [](const Answer& answer) { return answer.found.text; })
      .def_prop_ro("text_confidence",
                   [](const Answer& answer) { return answer.found.text_confidence; })
      .def_prop_ro(
          "is_undefined", [](const Answer& answer) { return answer.found.is_undefined; },
          "Whether it is empty because the model's values are not finite.")
      .def("detections", &detections,
           "A dict for supervision: sv.Detections(**answer.detections())");
}

}  // namespace pynpu
