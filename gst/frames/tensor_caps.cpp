#include "tensor_caps.hpp"

namespace gstnpu {

#if GST_CHECK_VERSION(1, 28, 0)
namespace {

constexpr const char* kField = "tensors";

GstCapsFeatures* features_of(const GstCaps* caps, guint index) {
  return gst_caps_features_copy(gst_caps_get_features(caps, index));
}

// ---- The group as a value: tensorgroups, ID=(/uniquelist){ caps of each tensor }

void set_dims(GstStructure* description, const GstNpuTensor& tensor) {
  GValue dims = G_VALUE_INIT;
  gst_value_array_init(&dims, tensor.num_dims);
  for (guint i = 0; i < tensor.num_dims; ++i) {
    GValue dim = G_VALUE_INIT;
    g_value_init(&dim, G_TYPE_INT);
    g_value_set_int(&dim, static_cast<gint>(tensor.dims[i]));
    gst_value_array_append_and_take_value(&dims, &dim);
  }
  gst_structure_take_value(description, "dims", &dims);
}

CapsRef describe(const GstNpuTensor& tensor) {
  GstStructure* description =
      gst_structure_new("tensor/strided", "tensor-id", G_TYPE_STRING, tensor.id, "dims-order",
                        G_TYPE_STRING, tensor.is_column_major ? "col-major" : "row-major", "type",
                        G_TYPE_STRING, gst_npu_data_type_name(tensor.type), nullptr);
  set_dims(description, tensor);
  return CapsRef(gst_caps_new_full(description, nullptr));
}

void append(GValue* list, const TensorGroup& group) {
  for (const GstNpuTensor& tensor : group.tensors) {
    GValue caps = G_VALUE_INIT;
    g_value_init(&caps, GST_TYPE_CAPS);
    gst_value_set_caps(&caps, describe(tensor).get());
    gst_value_unique_list_append_and_take_value(list, &caps);
  }
}

/// The groups in a structure of caps; null where it has none.
const GstStructure* groups_in(const GstStructure* structure) {
  const GValue* value = gst_structure_get_value(structure, kField);
  return value && GST_VALUE_HOLDS_STRUCTURE(value) ? gst_value_get_structure(value) : nullptr;
}

/// Adds the group's tensors; those of a model of the same kind upstream stay in the list.
void add_group(GstStructure* structure, const TensorGroup& group) {
  const GstStructure* before = groups_in(structure);
  const StructureRef groups(before ? gst_structure_copy(before)
                                   : gst_structure_new_empty("tensorgroups"));
  GValue list = G_VALUE_INIT;
  const GValue* same = gst_structure_get_value(groups.get(), group.id.c_str());
  if (same && GST_VALUE_HOLDS_UNIQUE_LIST(same)) {
    g_value_init(&list, GST_TYPE_UNIQUE_LIST);
    g_value_copy(same, &list);
  } else {
    g_value_init(&list, GST_TYPE_UNIQUE_LIST);
  }
  append(&list, group);
  gst_structure_take_value(groups.get(), group.id.c_str(), &list);
  gst_structure_set(structure, kField, GST_TYPE_STRUCTURE, groups.get(), nullptr);
}

// ---- Sizes

/// Restricts the structure to the group's size; null where it has another size.
StructureRef of_size(const GstStructure* structure, const TensorGroup& group) {
  if (!group.size) return StructureRef(gst_structure_copy(structure));
  const StructureRef size(gst_structure_new(
      gst_structure_get_name(structure), "width", G_TYPE_INT, static_cast<gint>(group.size->first),
      "height", G_TYPE_INT, static_cast<gint>(group.size->second), nullptr));
  return StructureRef(gst_structure_intersect(structure, size.get()));
}

bool has_size(const GstStructure* structure, const TensorGroup& group) {
  gint width = 0, height = 0;
  return !group.size || (gst_structure_get_int(structure, "width", &width) &&
                         gst_structure_get_int(structure, "height", &height) &&
                         width == static_cast<gint>(group.size->first) &&
                         height == static_cast<gint>(group.size->second));
}

// ---- What downstream wants

/// Downstream's description of the group; null where it does not ask for it.
const GValue* wanted_group(const GstStructure* wanted, const TensorGroup& group) {
  const GstStructure* groups = group.id.empty() ? nullptr : groups_in(wanted);
  return groups ? gst_structure_get_value(groups, group.id.c_str()) : nullptr;
}

bool fits(const GstStructure* wanted, const TensorGroup& group) {
  const StructureRef made(gst_structure_new_empty(gst_structure_get_name(wanted)));
  add_group(made.get(), group);
  return gst_structure_can_intersect(made.get(), wanted);
}

/// Combined wishes of all structures in downstream's caps.
struct Wish {
  Wish(const GstCaps* wanted, const TensorGroup& group) {
    if (gst_caps_is_any(wanted)) return;
    for (guint i = 0; i < gst_caps_get_size(wanted); ++i) {
      const GstStructure* structure = gst_caps_get_structure(wanted, i);
      takes_frames_alone |= groups_in(structure) == nullptr;
      if (const GValue* asked = wanted_group(structure, group)) {
        (fits(structure, group) ? fitting : misfit) = asked;
      }
    }
  }
  bool asks_for_group() const { return fitting || misfit; }

  bool takes_frames_alone = false;  // takes frames without tensors, or with any
  const GValue* fitting = nullptr;  // a description that our group fits
  const GValue* misfit = nullptr;   // a description that it does not fit
};

bool may_have_size(const GstCaps* offered, const TensorGroup& group) {
  for (guint i = 0; i < gst_caps_get_size(offered); ++i) {
    if (of_size(gst_caps_get_structure(offered, i), group)) return true;
  }
  return false;
}

std::string size_refusal(const TensorGroup& group, const std::string& file) {
  return "the tensor decoder downstream takes the pixels of " + file +
         "'s input for those of the frame, so frames must have its size, " +
         std::to_string(group.size->first) + "x" + std::to_string(group.size->second) +
         "; put videoconvertscale in front, or decode with nputensordec, which knows how frames "
         "were scaled";
}

std::string misfit_refusal(const GValue* misfit, const TensorGroup& group,
                           const std::string& file) {
  GValue made = G_VALUE_INIT;
  g_value_init(&made, GST_TYPE_UNIQUE_LIST);
  append(&made, group);
  const TextRef wish(gst_value_serialize(misfit)), gift(gst_value_serialize(&made));
  g_value_unset(&made);
  return "the tensor decoder downstream takes " + group.id + " as " + (wish ? wish.get() : "?") +
         ", but " + file + " gives " + (gift ? gift.get() : "?") +
         "; decode with nputensordec, or export the model with float32 outputs";
}

}  // namespace

CapsRef with_tensors(const GstCaps* caps, const TensorGroup& group) {
  CapsRef made(gst_caps_copy(caps));
  if (group.id.empty() || gst_caps_is_any(caps)) return made;
  for (guint i = 0; i < gst_caps_get_size(made.get()); ++i) {
    GstStructure* structure = gst_caps_get_structure(made.get(), i);
    if (has_size(structure, group)) {
      add_group(structure, group);
    }
  }
  return made;
}

CapsRef all_with_tensors(const GstCaps* caps, const TensorGroup& group) {
  if (group.id.empty() || gst_caps_is_any(caps)) return CapsRef(gst_caps_copy(caps));
  CapsRef all(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure* structure = gst_caps_get_structure(caps, i);
    if (StructureRef sized = of_size(structure, group)) {
      add_group(sized.get(), group);
      gst_caps_append_structure_full(all.get(), sized.release(), features_of(caps, i));
    }
    if (!has_size(structure, group)) {
      gst_caps_append_structure_full(all.get(), gst_structure_copy(structure),
                                     features_of(caps, i));
    }
  }
  return all;
}

/// A structure that describes another group is dropped when a different decoder knows ours.
CapsRef without_tensors(const GstCaps* wanted, const TensorGroup& group) {
  if (gst_caps_is_any(wanted)) return CapsRef(gst_caps_copy(wanted));
  const bool asks_for_group = Wish(wanted, group).asks_for_group();
  CapsRef taken(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(wanted); ++i) {
    const GstStructure* structure = gst_caps_get_structure(wanted, i);
    StructureRef needed(gst_structure_copy(structure));
    if (asks_for_group && groups_in(structure)) {
      const bool is_ours = wanted_group(structure, group) && fits(structure, group);
      needed = is_ours ? of_size(structure, group) : nullptr;
    }
    if (!needed) continue;
    gst_structure_remove_field(needed.get(), kField);
    gst_caps_append_structure_full(taken.get(), needed.release(), features_of(wanted, i));
  }
  return taken;
}

std::string tensor_refusal(const GstCaps* offered, const GstCaps* wanted, const TensorGroup& group,
                           const std::string& file) {
  const Wish wish(wanted, group);
  if (wish.takes_frames_alone || !wish.asks_for_group()) return {};
  if (!wish.fitting) return misfit_refusal(wish.misfit, group, file);
  return may_have_size(offered, group) ? std::string() : size_refusal(group, file);
}

#else

CapsRef with_tensors(const GstCaps* caps, const TensorGroup&) {
  return CapsRef(gst_caps_copy(caps));
}

CapsRef all_with_tensors(const GstCaps* caps, const TensorGroup&) {
  return CapsRef(gst_caps_copy(caps));
}

CapsRef without_tensors(const GstCaps* wanted, const TensorGroup&) {
  return CapsRef(gst_caps_copy(wanted));
}

std::string tensor_refusal(const GstCaps*, const GstCaps*, const TensorGroup&, const std::string&) {
  return {};
}

#endif

}  // namespace gstnpu
