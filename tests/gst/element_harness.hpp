// One element between two pads of the test, with its messages.
#pragma once

#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/refs.hpp"
#include "gst/frames.hpp"
#include "support/expect.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_ir.hpp"

namespace gstnpu::test {

using npu::test::grey_ir;
using npu::test::pixels_ir;
using npu::test::TempDir;

using Configure = std::function<void(GstElement*)>;

/// Sets these properties, too.
Configure with(Configure configure,
               const std::vector<std::pair<std::string, std::string>>& properties);

/// Makes an element, lets `configure` set its properties before it starts, and sends it `caps`.
class ElementHarness {
 public:
  explicit ElementHarness(const char* factory, const Configure& configure = {},
                          const std::string& caps = {});
  ~ElementHarness();
  ElementHarness(const ElementHarness&) = delete;
  ElementHarness& operator=(const ElementHarness&) = delete;

  GstHarness* get() const { return harness_; }
  GstElement* element() const { return element_; }

  void set_caps(const std::string& caps);
  GstFlowReturn push(BufferRef buffer) { return gst_harness_push(harness_, buffer.release()); }
  /// Waits; null when nothing came.
  BufferRef pull();
  /// Waits until all that was pushed has gone out, and what is told of it: counters stand still
  /// then. An event that is pushed waits for nothing.
  void drain();
  /// How many buffers came out that nobody has pulled yet.
  guint waiting() const { return gst_harness_buffers_in_queue(harness_); }

  guint64 stat(const char* field) const;
  std::string stat_text(const char* field) const;
  /// The texts of all messages of the type, oldest first; each is told once.
  std::vector<std::string> messages(GstMessageType type) const;
  /// There must be exactly one.
  std::string only_message(GstMessageType type) const;
  /// How many compilations the element has told to be complete since the last call. In between it
  /// tells of each second that one takes.
  std::size_t compilations() const;

 private:
  GstElement* element_;
  GstBus* bus_;
  GstHarness* harness_;
};

/// Whether it becomes so: who waits for it gives up after half a minute only, for a busy machine
/// may be slow.
bool soon(const std::function<bool()>& is_so);

/// A counter of the property "stats".
guint64 stat_of(GstElement* element, const char* field);

/// The texts of all messages of the type on `bus`, oldest first.
std::vector<std::string> take_messages(GstBus* bus, GstMessageType type);

/// The errors of an element that cannot go to READY; empty when it can.
std::vector<std::string> errors_before_ready(const char* factory, const Configure& configure);

/// "video/x-raw,format=RGB,width=8,height=8,framerate=30/1"
std::string caps_of(const char* format, int width, int height);

/// A frame in ordinary memory, every byte of value `fill`, with timestamp `index`/30 s.
BufferRef frame_of(const char* format, int width, int height, guint8 fill, guint index = 0);

/// Whether the software NPU of this test offers argument strides: by default it does.
bool driver_takes_strides();

/// Everything that the process has open, for comparing before and after.
std::size_t open_descriptors();
std::size_t running_threads();

}  // namespace gstnpu::test
