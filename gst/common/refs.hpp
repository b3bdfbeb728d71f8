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

struct StructureFree {
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};

struct TextFree {
  void operator()(gchar* text) const { g_free(text); }
};

using BufferRef = std::unique_ptr<GstBuffer, MiniObjectUnref>;
using EventRef = std::unique_ptr<GstEvent, MiniObjectUnref>;
using CapsRef = std::unique_ptr<GstCaps, MiniObjectUnref>;
using QueryRef = std::unique_ptr<GstQuery, MiniObjectUnref>;
using MemoryRef = std::unique_ptr<GstMemory, MiniObjectUnref>;
using StructureRef = std::unique_ptr<GstStructure, StructureFree>;
using TextRef = std::unique_ptr<gchar, TextFree>;
template <typename T>
using ObjectRef = std::unique_ptr<T, ObjectUnref>;

}  // namespace gstnpu
