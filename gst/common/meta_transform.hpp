// Base of the elements that pass frames on and change no more than their metadata, or their pixels
// in place.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include <npuvision/answer.hpp>

#include "bus.hpp"
#include "frame_stream.hpp"
#include "gtype.hpp"
#include "properties.hpp"
#include "refs.hpp"

namespace gstnpu {

/// State of such an element. A derived one hides what it does in another way; all but the settings
/// is for the streaming thread, and for start and stop, which never run beside it.
template <class SettingsOfElement>
class MetaState {
 public:
  using Settings = SettingsOfElement;

  explicit MetaState(GstBaseTransform* base) : base_(base) {
    gst_base_transform_set_in_place(base, TRUE);
  }

  Settings settings() const {
    const std::scoped_lock lock(mutex_);
    return settings_;
  }
  void change_settings(const auto& change) {
    const std::scoped_lock lock(mutex_);
    has_new_settings_ = true;
    change(settings_);
  }

  void start() {}
  void stop() {}
  /// The caps; throws what refuses them.
  void set_frames(const npu::vision::FrameSize& size, const GstCaps* /*in*/,
                  const GstCaps* /*out*/) {
    frame_ = size;
  }
  /// Another stream, or another place of it.
  void reset() {}
  void end() {}
  /// Tells the application that a frame could not be processed.
  void fail(const std::exception& error) { post_error(element(), error, ""); }

 protected:
  GstElement* element() const { return GST_ELEMENT(base_); }
  GstBaseTransform* base() const { return base_; }
  const npu::vision::FrameSize& frame() const { return frame_; }

  /// Settings that were made since the last call.
  std::optional<Settings> new_settings() {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(has_new_settings_, false)) return std::nullopt;
    return settings_;
  }
  /// The next call of new_settings() gives them again.
  void forget_settings() {
    const std::scoped_lock lock(mutex_);
    has_new_settings_ = true;
  }
  /// Goes back to settings from before, unless there are new ones.
  void go_back_to(const Settings& settings) {
    const std::scoped_lock lock(mutex_);
    if (!has_new_settings_) {
      settings_ = settings;
    }
  }
  std::mutex& mutex() const { return mutex_; }

 private:
  GstBaseTransform* const base_;
  npu::vision::FrameSize frame_;
  mutable std::mutex mutex_;  // guards the settings, and what derived states keep for any thread
  Settings settings_;
  bool has_new_settings_ = true;
};

/// Names of an element, as gst-inspect-1.0 shows them.
struct ElementNames {
  const char *name, *classes, *description;
};

inline GstPadTemplate* pad_template_of(GstPadDirection direction, const char* caps) {
  const CapsRef owned(gst_caps_from_string(caps));
  return gst_pad_template_new(direction == GST_PAD_SINK ? "sink" : "src", direction, GST_PAD_ALWAYS,
                              owned.get());
}

/// An element around a `State`, which is a MetaState with process(GstBuffer*, const GstSegment&).
template <class State>
class MetaTransform {
 public:
  using Type = ObjectType<GstBaseTransform, GstBaseTransformClass, State>;

  template <auto make_rows>
  static void set_up(GstBaseTransformClass* klass, const ElementNames& names,
                     const char* caps = "video/x-raw(ANY)") {
    Properties<Type, make_rows>::install(klass);
    auto* element_class = GST_ELEMENT_CLASS(klass);
    for (const GstPadDirection direction : {GST_PAD_SINK, GST_PAD_SRC}) {
      gst_element_class_add_pad_template(element_class, pad_template_of(direction, caps));
    }
    gst_element_class_set_static_metadata(element_class, names.name, names.classes,
                                          names.description, "npucore");
    klass->start = start;
    klass->stop = stop;
    klass->set_caps = set_caps;
    klass->propose_allocation = propose_allocation;
    klass->decide_allocation = decide_allocation;
    klass->prepare_output_buffer = prepare_for_metadata;
    klass->transform_ip = transform_ip;
    klass->sink_event = sink_event;
  }

  /// Makes the buffer writable for metadata. Its memory stays shared.
  static GstFlowReturn prepare_for_metadata(GstBaseTransform*, GstBuffer* input,
                                            GstBuffer** output) {
    *output = gst_buffer_is_writable(input) ? input : gst_buffer_copy(input);
    return *output != nullptr ? GST_FLOW_OK : GST_FLOW_ERROR;
  }

  static gboolean sink_event(GstBaseTransform* base, GstEvent* event) {
    State& state = Type::state_of(base);
    if (begins_anew(base, event)) {
      state.reset();
    } else if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
      state.end();
    }
    return Type::parent_class()->sink_event(base, event);
  }

 private:
  /// Calls `work`, which may throw, and posts its error.
  template <typename Work>
  static gboolean attempt(GstBaseTransform* base, const Work& work) {
    try {
      work();
      return TRUE;
    } catch (const std::exception& error) {
      post_error(GST_ELEMENT(base), error, "");
      return FALSE;
    }
  }

  static gboolean start(GstBaseTransform* base) {
    return attempt(base, [&] { Type::state_of(base).start(); });
  }
  static gboolean stop(GstBaseTransform* base) {
    return attempt(base, [&] { Type::state_of(base).stop(); });
  }
  static gboolean set_caps(GstBaseTransform* base, GstCaps* in, GstCaps* out) {
    const auto size = required_frame_size(GST_ELEMENT(base), in);
    return size && attempt(base, [&] { Type::state_of(base).set_frames(*size, in, out); });
  }
  static GstFlowReturn transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
    State& state = Type::state_of(base);
    try {
      state.process(buffer, base->segment);
      return GST_FLOW_OK;
    } catch (const std::exception& error) {
      state.fail(error);
      return GST_FLOW_ERROR;
    }
  }

  /// Lets upstream talk to downstream's allocators directly.
  static gboolean propose_allocation(GstBaseTransform* base, GstQuery*, GstQuery* query) {
    return gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(base), query);
  }
  /// Keeps no pool, because the element makes no frames.
  static gboolean decide_allocation(GstBaseTransform*, GstQuery* query) {
    while (gst_query_get_n_allocation_pools(query) > 0) {
      gst_query_remove_nth_allocation_pool(query, 0);
    }
    return TRUE;
  }
};

}  // namespace gstnpu
