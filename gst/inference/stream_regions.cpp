// Stream: crops and scales on the CPU before the NPU reads: objects of a frame, and crops of many
// sizes.
#include <algorithm>
#include <utility>

#include <npucore/error.hpp>

#include "frames/picture_warnings.hpp"

#include "stream.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMostSizes = 4;  // of crops, and of frames; the CPU scales further ones

gsize bytes_of(const PixelRect& region, npu::PixelFormat format) {
  gsize bytes = 0;
  for (const npu::PlaneShape& shape : shapes_of(format)) {
    bytes += gsize{shape.columns(region.x, region.width)} * shape.rows(region.y, region.height) *
             shape.sample_bytes;
  }
  return bytes;
}

}  // namespace

// ---- Objects

/// A frame without objects does not use the device, so it is never dropped.
GstFlowReturn Stream::infer_objects(BufferRef buffer, guint64 came_ns) {
  try {
    const FrameDescription frame = describe_frame(format_->info, buffer.get());
    missing_answers_.look_for_lost(pads_.element, buffer.get(),
                                   npu::vision::FrameSize{frame.layout.width, frame.layout.height});
    const ObjectPicker::Picked picked = picker_.pick(
        find_objects(buffer.get(), frame.layout.width, frame.layout.height), live_.roi_interval);
    shared_.stats.count(&StatsReport::regions_refused, picked.refused);
    std::optional<GstFlowReturn> flow = enter(buffer.get(), !picked.objects.empty());
    if (!flow) {
      picker_.take_back();
      return GST_FLOW_OK;
    }
    if (*flow != GST_FLOW_OK) return *flow;
    shared_.stats.count_frame(visible_bytes(frame));
    if (picked.objects.empty()) {
      shared_.stats.count(picked.has_waiting ? &StatsReport::skipped : &StatsReport::no_objects);
      return shared_.fifo.push(std::move(buffer));
    }
    const auto results = std::make_shared<RegionResults>();
    results->frame_width = frame.layout.width;
    results->frame_height = frame.layout.height;
    results->came_ns = came_ns;
    flow = start_objects(buffer.get(), frame, picked.objects, results);
    if (!flow) {
      picker_.take_back();
      note_drop(buffer.get(), &StatsReport::dropped);
      return GST_FLOW_OK;
    }
    if (*flow != GST_FLOW_OK) return *flow;
    if (is_interlaced(format_->info, buffer.get())) {
      shared_.stats.count(&StatsReport::interlaced);
    }
    return shared_.fifo.push(RegionFrame{std::move(buffer), results});
  } catch (...) {
    return end_frame(std::move(buffer));
  }
}

/// Keeps at most max_frames() objects in flight. Objects that have ended and wait for a sink do not
/// count, or the device would idle. Nullopt where the frame is dropped instead.
std::optional<GstFlowReturn> Stream::start_objects(GstBuffer* buffer, const FrameDescription& frame,
                                                   const std::vector<FrameObject>& objects,
                                                   const std::shared_ptr<RegionResults>& results) {
  const RegionReader reader(format_->info, frame, buffer);
  const auto has_place = [this] {
    return shared_.backlog->unfinished() < shared_.fifo.max_frames();
  };
  for (const FrameObject& object : objects) {
    if (const GstFlowReturn flow = shared_.fifo.wait_until(has_place); flow != GST_FLOW_OK) {
      return flow;
    }
    RegionInference region;
    region.inference = start_object(reader, frame.layout, object);
    if (!region.inference) return std::nullopt;
    region.results = results;
    const GstFlowReturn flow = shared_.fifo.push(std::move(region));
    if (flow != GST_FLOW_OK) return flow;
  }
  return GST_FLOW_OK;
}

/// Null as start_inference().
std::unique_ptr<Inference> Stream::start_object(const RegionReader& reader,
                                                const npu::FrameLayout& frame,
                                                const FrameObject& object) {
  check_copy(CopyCause::kRegion, {});
  RegionTarget target = region_target();
  const RegionPlace place = place_region(object.box, frame, target);
  std::shared_ptr<Graph> graph = graph_for(target.layout);
  if (!graph) return nullptr;
  BoundPlanes planes = copy_region(reader, place, std::move(target), *graph, opened_->copies());
  const InferredRegion region{place.read, object.link};
  auto inference = submit_in_turn(nullptr, std::move(graph), std::move(planes), &region);
  if (inference) {
    inference->note_frame_size(frame);
    note_copy(CopyCause::kRegion, reason_of(CopyCause::kRegion, {}),
              bytes_of(place.read, frame.format));
  }
  return inference;
}

RegionTarget Stream::region_target() {
  if (auto target = opened_->source().region_target()) return std::move(*target);
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   opened_->model_file() +
                       " leaves the size of its input open, so that objects have no size to be "
                       "scaled to: set input-shape, like input-shape=1,3,224,224");
}

// ---- Many sizes

/// The cause where a stream has all the graphs for sizes of crops, or of frames, that it may have,
/// and would need another one for this layout, which has none. With zero-copy=require each size
/// gets a graph.
CopyCause Stream::too_many_sizes(const FrameInput& input, const npu::FrameLayout& layout) {
  if (live_.zero_copy_required) return CopyCause::kNone;
  auto& known = input.is_cropped() ? crop_layouts_ : frame_layouts_;
  const npu::FrameLayout size = input.is_cropped() ? layout : without_padding(layout);
  if (std::find(known.begin(), known.end(), size) != known.end()) return CopyCause::kNone;
  if (known.size() == kMostSizes && may_scale()) {
    return input.is_cropped() ? CopyCause::kManyCrops : CopyCause::kManySizes;
  }
  known.push_back(size);
  return CopyCause::kNone;
}

/// A model that cannot infer objects cannot take scaled frames: each size then gets a graph, and
/// that is no error.
bool Stream::may_scale() {
  try {
    return opened_->source().region_target().has_value();
  } catch (const npu::Error&) {
    return false;
  }
}

BoundPlanes Stream::scale(FrameInput& input, CopyCause cause, std::shared_ptr<Graph>& graph) {
  RegionTarget target = region_target();
  graph = graph_for(target.layout);
  return graph ? input.scale(std::move(target), cause, *graph) : BoundPlanes{};
}

}  // namespace gstnpu
