#pragma once

#include <gst/gst.h>

#include <memory>

namespace pynpu::video {

struct Unref {
  void operator()(GstSample* sample) const noexcept { gst_sample_unref(sample); }
  void operator()(GstMessage* message) const noexcept { gst_message_unref(message); }
  void operator()(GstBuffer* buffer) const noexcept { gst_buffer_unref(buffer); }
  void operator()(GstCaps* caps) const noexcept { gst_caps_unref(caps); }
  void operator()(GError* error) const noexcept { g_error_free(error); }
  void operator()(gchar* text) const noexcept { g_free(text); }
  template <class Object>
  void operator()(Object* object) const noexcept {
    gst_object_unref(object);
  }
};

/// Owns one reference.
template <class Type>
using Ref = std::unique_ptr<Type, Unref>;

using SampleRef = Ref<GstSample>;

}  // namespace pynpu::video
