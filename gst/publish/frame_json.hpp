#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bridges/bridges.hpp"

namespace gstnpu {

/// The contents of npupublish's line for one frame. docs/json.md describes its texts.
struct FrameRecord {
  struct Tensor {
    std::string name;
    std::string type;
    std::vector<std::size_t> shape;
  };

  std::uint64_t frame = 0;
  std::string stream;  ///< what the user calls it; empty: not at all
  std::string time;    ///< wall clock; empty: not asked for
  std::optional<std::uint64_t> pts_ns;
  std::optional<std::uint64_t> stream_time_ns;  ///< position in the stream
  std::optional<npu::vision::FrameSize> size;
  std::optional<std::string> model;
  std::optional<std::uint64_t> inference_ns;
  std::shared_ptr<const FrameAnswer> answer = std::make_shared<FrameAnswer>();
  std::optional<std::vector<Tensor>> tensors;
};

/// One line, with the newline.
std::string to_json_line(const FrameRecord& record);
/// The same, as Intel DL Streamer's gvametaconvert writes it.
std::string to_dlstreamer_line(const FrameRecord& record);

/// All but the number of the frame, its stream and its times, which the buffer does not know.
FrameRecord read_frame(GstBuffer* buffer, std::optional<npu::vision::FrameSize> size,
                       bool with_tensors);

}  // namespace gstnpu
