#include "frame_path.hpp"

#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include <npucore/error.hpp>

#include "common/upstream.hpp"

#include "frame_stream.hpp"

namespace gstnpu {

using npu::vision::FrameSize;

namespace {

using PadRef = ObjectRef<GstPad>;

/// onnxinference, tfliteinference and their like.
bool infers_otherwise(GstElement* element) {
  return factory_of(element).ends_with("inference");
}

/// Pixels stay where they are.
bool keeps_places(GstElement* element) {
  constexpr std::string_view kNames[] = {"videoconvert", "videorate", "videobalance", "gamma"};
  const std::string_view name = factory_of(element);
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  GstElementFactory* factory = gst_element_get_factory(element);
  const gchar* plugin =
      factory ? gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory)) : nullptr;
  return (plugin && g_str_equal(plugin, "coreelements")) ||
         g_str_has_prefix(G_OBJECT_TYPE_NAME(element), "GstNpu");
}

struct Picture {
  FrameSize size;
  int par_n = 1, par_d = 1;
};

Picture picture_of(GstPad* pad) {
  Picture picture;
  const CapsRef caps(gst_pad_get_current_caps(pad));
  if (!caps) return picture;
  const GstStructure* structure = gst_caps_get_structure(caps.get(), 0);
  picture.size = frame_size_in(structure).value_or(FrameSize{});
  gst_structure_get_fraction(structure, "pixel-aspect-ratio", &picture.par_n, &picture.par_d);
  return picture;
}

bool is_same(FrameSize a, FrameSize b) {
  return a.width == b.width && a.height == b.height;
}

int number(GstElement* element, const char* property) {
  gint value = 0;
  g_object_get(element, property, &value, nullptr);
  return value;
}

// ---- videocrop, videobox

std::vector<int> edges_of(GstElement* element) {
  return {number(element, "left"), number(element, "right"), number(element, "top"),
          number(element, "bottom")};
}

/// How much videocrop takes away at the left or upper edge; -1: as much as the sizes say.
std::optional<int> cut(int first, int last, int surplus) {
  if (first == -1 && last == -1) return surplus / 2;
  if (first == -1) return surplus - last;
  if (last != -1 && first + last != surplus) return std::nullopt;
  return first;
}

struct Surplus {
  int width, height;
};

Surplus surplus_of(FrameSize from, FrameSize to) {
  return {static_cast<int>(from.width) - static_cast<int>(to.width),
          static_cast<int>(from.height) - static_cast<int>(to.height)};
}

std::optional<FrameMove> move_of_crop(const std::vector<int>& edges, FrameSize from, FrameSize to) {
  const Surplus surplus = surplus_of(from, to);
  const auto left = cut(edges[0], edges[1], surplus.width);
  const auto top = cut(edges[2], edges[3], surplus.height);
  if (!left || !top) return std::nullopt;
  return FrameMove{.move_x = -static_cast<double>(*left), .move_y = -static_cast<double>(*top)};
}

/// The fifth is autocrop: as much on either side.
std::optional<FrameMove> move_of_box(const std::vector<int>& edges, FrameSize from, FrameSize to) {
  const Surplus surplus = surplus_of(from, to);
  const bool is_auto = edges[4] != 0;
  const int left = is_auto ? surplus.width / 2 : edges[0];
  const int top = is_auto ? surplus.height / 2 : edges[2];
  if (!is_auto && (left + edges[1] != surplus.width || top + edges[3] != surplus.height)) {
    return std::nullopt;
  }
  return FrameMove{.move_x = -static_cast<double>(left), .move_y = -static_cast<double>(top)};
}

// ---- videoflip

std::optional<FrameMove> move_of_flip(int method, FrameSize from, FrameSize to) {
  const double width = from.width, height = from.height;
  FrameMove move;
  switch (method) {
    case GST_VIDEO_ORIENTATION_IDENTITY:
      break;
    case GST_VIDEO_ORIENTATION_90R:
      move = {true, -1, 1, height, 0};
      break;
    case GST_VIDEO_ORIENTATION_180:
      move = {false, -1, -1, width, height};
      break;
    case GST_VIDEO_ORIENTATION_90L:
      move = {true, 1, -1, 0, width};
      break;
    case GST_VIDEO_ORIENTATION_HORIZ:
      move = {false, -1, 1, width, 0};
      break;
    case GST_VIDEO_ORIENTATION_VERT:
      move = {false, 1, -1, 0, height};
      break;
    case GST_VIDEO_ORIENTATION_UL_LR:
      move = {true, 1, 1, 0, 0};
      break;
    case GST_VIDEO_ORIENTATION_UR_LL:
      move = {true, -1, -1, height, width};
      break;
    default:  // auto: only the element knows what tags say
      return std::nullopt;
  }
  const FrameSize turned = move.is_transposed ? FrameSize{from.height, from.width} : from;
  if (!is_same(turned, to)) return std::nullopt;
  return move;
}

// ---- videoscale

/// The picture may keep its shape: it then fills as much of the new frame as it can, in its middle.
std::optional<FrameMove> move_of_scale(GstElement* element, const Picture& from,
                                       const Picture& to) {
  gboolean adds_borders = FALSE;
  g_object_get(element, "add-borders", &adds_borders, nullptr);
  const guint64 across = guint64{from.size.width} * static_cast<guint>(from.par_n * to.par_d);
  const guint64 down = guint64{from.size.height} * static_cast<guint>(from.par_d * to.par_n);
  if (across == 0 || down == 0) return std::nullopt;
  double width = to.size.width, height = to.size.height;
  if (adds_borders) {
    const guint64 rows = guint64{to.size.width} * down / across;
    const guint64 columns = guint64{to.size.height} * across / down;
    if (rows <= to.size.height) {
      height = static_cast<double>(rows);
    } else {
      width = static_cast<double>(columns);
    }
  }
  return FrameMove{.scale_x = width / from.size.width,
                   .scale_y = height / from.size.height,
                   .move_x = std::floor((to.size.width - width) / 2),
                   .move_y = std::floor((to.size.height - height) / 2)};
}

bool is_automatic(GstElement* element) {
  return GST_IS_VIDEO_DIRECTION(element) &&
         number(element, "video-direction") == GST_VIDEO_ORIENTATION_AUTO;
}

bool turns(GstElement* element) {
  if (!GST_IS_VIDEO_DIRECTION(element)) return false;
  return number(element, "video-direction") != GST_VIDEO_ORIENTATION_IDENTITY &&
         !is_automatic(element);
}

// ---- Elements with settings

using Setting = std::vector<int>;
struct Filter {
  std::string_view factory;
  Setting (*read)(GstElement*);
  std::optional<FrameMove> (*move)(const Setting&, FrameSize from, FrameSize to);
};

constexpr Filter kFilters[] = {
    {"videocrop", edges_of, move_of_crop},
    {"videobox",
     [](GstElement* element) {
       Setting setting = edges_of(element);
       setting.push_back(number(element, "autocrop"));
       return setting;
     },
     move_of_box},
    {"videoflip", [](GstElement* element) { return Setting{number(element, "video-direction")}; },
     [](const Setting& setting, FrameSize from, FrameSize to) {
       return move_of_flip(setting.front(), from, to);
     }},
};

const Filter* find_filter(GstElement* element) {
  const auto* const found =
      std::find_if(std::begin(kFilters), std::end(kFilters),
                   [&](const Filter& filter) { return filter.factory == factory_of(element); });
  return found == std::end(kFilters) ? nullptr : found;
}

bool scales(GstElement* element) {
  const std::string_view name = factory_of(element);
  return name == "videoscale" || name == "videoconvertscale";
}

std::optional<FrameMove> move_of_other(GstElement* element, const Picture& from,
                                       const Picture& to) {
  if (scales(element)) return move_of_scale(element, from, to);
  const bool keeps = keeps_places(element) && is_same(from.size, to.size);
  return keeps ? std::optional(FrameMove{}) : std::nullopt;
}

}  // namespace

/// A pad that gets caps has them only afterwards; the one that feeds it has them before.
FramePath::FramePath(GstPad* sink) {
  PadRef feeder = feeding(PadRef(GST_PAD(gst_object_ref(sink))));
  for (int i = 0; feeder && i < kFarthestUpstream; ++i) {
    const ObjectRef<GstElement> element(gst_pad_get_parent_element(feeder.get()));
    if (!element) break;
    PadRef next = feeding(only_sink_of(element.get()));
    add(element.get(), next.get(), feeder.get());
    feeder = std::move(next);
  }
  find_turning();
}

/// Nearer than any inference, of which nothing is known but that the frame was turned.
void FramePath::find_turning() {
  std::size_t near = other_ ? other_->steps : steps_.size();
  if (!inferences_.empty()) {
    near = std::min(near, inferences_.front().steps);
  }
  const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(near);
  const auto found = std::find_if(steps_.begin(), end, [this](const Step& step) {
    return step.is_turning && ((inferences_.empty() && !other_) || !step.move);
  });
  if (found != end) {
    turning_ = GST_OBJECT_NAME(found->element.get());
  }
}

/// An element between two pads that feed; the first may be null.
void FramePath::add(GstElement* element, GstPad* before, GstPad* after) {
  const Picture from = before ? picture_of(before) : Picture{}, to = picture_of(after);
  if (infers(element)) {
    gchar* model = nullptr;
    g_object_get(element, "model", &model, nullptr);
    inferences_.push_back({model ? model : "", steps_.size(), to.size});
    g_free(model);
    return;
  }
  if (!other_ && infers_otherwise(element)) {
    other_ = {"", steps_.size(), to.size};
  }
  Step step{.element = {},
            .from = from.size,
            .to = to.size,
            .setting = {},
            .move = {},
            .is_known = false,
            .is_turning = turns(element)};
  step.element.reset(GST_ELEMENT(gst_object_ref(element)));
  if (const Filter* filter = find_filter(element)) {
    step.setting = filter->read(element);
    step.move = filter->move(step.setting, step.from, step.to);
    step.is_known = !is_automatic(element);
  } else {
    step.move = move_of_other(element, from, to);
    step.is_known = scales(element) || keeps_places(element);
  }
  steps_.push_back(std::move(step));
}

/// Other sizes come with other caps; until then frames are as they were.
void FramePath::check_unchanged(const Step& step) {
  const Filter* filter = find_filter(step.element.get());
  if (!filter) return;
  const Setting now = filter->read(step.element.get());
  if (now == step.setting || !filter->move(now, step.from, step.to)) return;
  const std::string name = GST_OBJECT_NAME(step.element.get());
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   name +
                       " was given other settings while playing, and frames from before cannot be "
                       "told from those after; put nputensordec in front of " +
                       name + ", or use GStreamer 1.28 or later");
}

std::optional<FrameMove> FramePath::move_over(std::size_t steps) const {
  FrameMove move;
  for (std::size_t i = steps; i-- > 0;) {
    const Step& step = steps_[i];
    const bool fits = i + 1 == steps || is_same(step.from, steps_[i + 1].to);
    if (!step.move || !fits) return std::nullopt;
    check_unchanged(step);
    move = then(move, *step.move);
  }
  return move;
}

/// Those that the meta may be of.
std::vector<FramePath::Inference> FramePath::inferences_of(
    const GstNpuInferenceMeta& origin) const {
  std::vector<Inference> named = inferences_;
  std::erase_if(named, [model = std::string_view(origin.model ? origin.model : "")](
                           const Inference& one) { return one.model != model; });
  return named.empty() ? inferences_ : named;
}

/// Several inferences upstream must all give the same move.
std::optional<FrameMove> FramePath::move_of(const GstNpuInferenceMeta& origin) const {
  std::optional<FrameMove> result;
  for (const Inference& one : inferences_of(origin)) {
    if (!is_same(one.frame, {origin.frame_width, origin.frame_height})) continue;
    const std::optional<FrameMove> move = move_over(one.steps);
    if (!move || (result && *result != *move)) return std::nullopt;
    result = move;
  }
  return result;
}

bool FramePath::is_older_than(const GstNpuInferenceMeta& origin) const {
  return !inferences_.empty() &&
         std::none_of(inferences_.begin(), inferences_.end(), [&](const Inference& one) {
           return is_same(one.frame, {origin.frame_width, origin.frame_height});
         });
}

/// As far as the nearest inference that may be the origin's; all where none may.
std::size_t FramePath::steps_of(const GstNpuInferenceMeta& origin) const {
  const std::string_view model = origin.model ? origin.model : "";
  const auto found = std::find_if(inferences_.begin(), inferences_.end(),
                                  [&](const Inference& one) { return one.model == model; });
  if (found != inferences_.end()) return found->steps;
  return inferences_.empty() ? steps_.size() : inferences_.front().steps;
}

void FramePath::check_borders(const GstNpuInferenceMeta& origin) const {
  const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(steps_of(origin));
  const auto found = std::find_if(steps_.begin(), end, [](const Step& step) {
    return step.move && step.setting.empty() && (step.move->move_x > 0 || step.move->move_y > 0);
  });
  if (found == end) return;
  const std::string name = GST_OBJECT_NAME(found->element.get());
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   name +
                       " adds borders to frames, and nobody knows what the elements around it do; "
                       "put nputensordec in front of " +
                       name + ", or set its add-borders to false");
}

void FramePath::check_sizes(const GstNpuInferenceMeta& origin) const {
  const std::vector<Inference> inferences = inferences_of(origin);
  const bool is_outdated =
      !inferences.empty() &&
      std::all_of(inferences.begin(), inferences.end(), [&](const Inference& one) {
        const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(one.steps);
        const bool fits = is_same(one.frame, {origin.frame_width, origin.frame_height});
        return std::all_of(steps_.begin(), end, [](const Step& step) { return step.is_known; }) &&
               !(fits && move_over(one.steps));
      });
  if (!is_outdated) return;
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   "frames were changed between the inference and nputensordec by sizes or "
                   "settings that are others by now, and nothing tells which they were; put "
                   "nputensordec directly behind the inference, or use GStreamer 1.28 or later");
}

bool FramePath::may_move(const Step& step) {
  return step.move ? !step.move->is_identity() : !step.setting.empty() || step.is_turning;
}

/// Those between the inference and the pad; where none is known to be one, those up to an element
/// that nobody knows, which may be it.
std::size_t FramePath::steps_of_others() const {
  if (other_) return other_->steps;
  const auto found = std::find_if(steps_.begin(), steps_.end(), [](const Step& step) {
    return !step.move && step.setting.empty();
  });
  return static_cast<std::size_t>(found - steps_.begin());
}

std::optional<FramePath::Others> FramePath::move_of_others() const {
  const std::size_t count = steps_of_others();
  const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(count);
  const auto mover = std::find_if(steps_.begin(), end, may_move);
  if (mover == end) return std::nullopt;
  if (other_) {
    if (const auto move = move_over(count)) return Others{*move, other_->frame};
  }
  const std::string name = GST_OBJECT_NAME(mover->element.get());
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   "the tensors came without the metadata that tells where in the frame their "
                   "values are, and " +
                       name + " changes frames; put nputensordec in front of " + name);
}

}  // namespace gstnpu
