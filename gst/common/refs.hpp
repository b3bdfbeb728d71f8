// Owning pointers to GStreamer's reference-counted objects, structures and texts.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace gstnpu {

struct MiniObjectUnref {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstEvent* event) const { gst_event_unref(event); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstMemory* memory) const { gst_memory_unref(memory); }
  void operator()(GstQuery* query) const { gst_query_unref(query); }
};

struct ObjectUnref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};

/// Frees by a function, for std::unique_ptr.
template <auto function>
struct FreeBy {
  void operator()(auto* object) const { function(object); }
};

using BufferRef = std::unique_ptr<GstBuffer, MiniObjectUnref>;
using EventRef = std::unique_ptr<GstEvent, MiniObjectUnref>;
using CapsRef = std::unique_ptr<GstCaps, MiniObjectUnref>;
using QueryRef = std::unique_ptr<GstQuery, MiniObjectUnref>;
using MemoryRef = std::unique_ptr<GstMemory, MiniObjectUnref>;
using StructureRef = std::unique_ptr<GstStructure, FreeBy<gst_structure_free>>;
using TextRef = std::unique_ptr<gchar, FreeBy<g_free>>;
template <typename T>
using ObjectRef = std::unique_ptr<T, ObjectUnref>;

}  // namespace gstnpu
