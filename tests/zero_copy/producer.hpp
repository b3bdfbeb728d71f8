// Elements that frames come from, and a run of each in front of npuinfer.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/refs.hpp"
#include "support/test_dmabuf.hpp"

#include "copy_counter.hpp"

namespace npu::test {

struct Producer {
  std::string name;  ///< the row of docs/producers.md
  /// Launch line up to npuinfer. {vivid-1} and {vivid-2} stand for a camera with one and with two
  /// file descriptors a frame, {pixels} for an appsrc that the run feeds.
  std::string line;
  std::string beside;  ///< a pipeline that runs at the same time and sends to `line`
  std::optional<BufferKind> pool = std::nullopt;  ///< of {pixels}; none: ordinary memory
  bool needs_device = false;                      ///< V4L2's, or a kernel's buffers
  guint frames = 20;
  bool one_per_plane = false;  ///< of the pool: a buffer for each plane of a frame
};

const std::vector<Producer>& producers();
/// Throws for a name that is no producer's.
const Producer& producer_named(const std::string& name);

/// Results of a producer's run.
struct ProducerRun {
  /// Empty: it ran to its end. Else why not.
  std::string not_run;
  bool lacks_element = false;  ///< `not_run` because GStreamer here has no such element
  bool lacks_device = false;   ///< `not_run` because this machine has no such device
  guint64 frames = 0, imported = 0, offered = 0, copied = 0, copied_bytes = 0, imports = 0;
  std::string copy_reasons;
  std::vector<CopyCount> our_copies;  ///< of 4 KiB or more; empty where nothing counts
  std::string memory, caps;           ///< of the frames

  std::set<std::uint64_t> inodes;
  std::vector<std::vector<float>> tensors;
  std::vector<gstnpu::BufferRef> pixels;  ///< the same frames, in ordinary memory
  std::string plain_caps;
};

struct RunOptions {
  std::string model;         ///< an IR
  bool keep_pixels = false;  ///< fills `tensors`, `pixels` and `plain_caps`
};

ProducerRun run(const Producer& producer, const RunOptions& options);

}  // namespace npu::test
