#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bridges/bridges.hpp"

#include "map_record.hpp"

namespace gstnpu {

/// The contents of npupublish's line for one frame. docs/json.md describes the text.
struct FrameRecord {
  struct Tensor {
    std::string name;
    std::string type;
    std::vector<std::size_t> shape;
  };

  std::uint64_t frame = 0;
  std::optional<std::string> stream;  ///< what the user calls it
  std::optional<std::string> time;    ///< wall clock
  std::optional<std::uint64_t> pts_ns;
  std::optional<std::uint64_t> stream_time_ns;  ///< position in the stream
  std::optional<npu::vision::FrameSize> size;
  std::optional<std::string> model;
  std::optional<std::uint64_t> inference_ns;
  std::shared_ptr<const FrameAnswer> answer = std::make_shared<FrameAnswer>();
  std::vector<MapRecord> maps;  ///< the answer's, in a few words
  std::optional<std::vector<Tensor>> tensors;
};

/// One line, with the newline.
std::string to_json_line(const FrameRecord& record);

/// All but the number of the frame, its stream and its times, which the buffer does not know, and
/// maps, whose reading takes time.
FrameRecord read_frame(GstBuffer* buffer, std::optional<npu::vision::FrameSize> size,
                       bool with_tensors);

}  // namespace gstnpu
