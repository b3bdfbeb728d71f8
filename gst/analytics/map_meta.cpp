#include "map_meta.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "structure_values.hpp"

namespace gstnpu {
namespace {

template <typename Value>
npu::vision::Map<Value> read_map(const GstStructure* results, const std::string& field) {
  npu::vision::Map<Value> map;
  guint width = 0, height = 0;
  if (!gst_structure_get_uint(results, (field + "-width").c_str(), &width) ||
      !gst_structure_get_uint(results, (field + "-height").c_str(), &height)) {
    return map;
  }
  const std::size_t bytes = bytes_of(results, field.c_str()).size();
  const std::size_t count = bytes / sizeof(Value);
  if (count == 0 || bytes % sizeof(Value) != 0 || count != std::size_t{width} * height) return map;
  map.width = width;
  map.height = height;
  map.values = values_of<Value>(results, field.c_str());
  return map;
}

}  // namespace

std::vector<FrameMaps> read_maps(GstBuffer* buffer) {
  std::vector<FrameMaps> of_frames, of_objects;
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                          gst_npu_inference_meta_api_get_type())) {
    const auto& meta = *reinterpret_cast<const GstNpuInferenceMeta*>(base);
    if (meta.results == nullptr) continue;
    const auto edges = edges_of(meta.results);
    if (meta.is_region && !edges) continue;
    FrameMaps maps;
    maps.classes = read_map<guint16>(meta.results, "class-map");
    maps.values = read_map<float>(meta.results, "value-map");
    if (maps.classes.empty() && maps.values.empty()) continue;
    if (edges) {
      maps.place = {edges->left, edges->top, edges->right, edges->bottom};
    }
    maps.has_anomaly = gst_structure_has_field(meta.results, "anomaly");
    maps.card = meta.card;
    if (meta.is_region) {
      maps.object_id = meta.object_id;
    }
    (meta.is_region ? of_objects : of_frames).push_back(std::move(maps));
  }
  std::move(of_objects.begin(), of_objects.end(), std::back_inserter(of_frames));
  return of_frames;
}

}  // namespace gstnpu
