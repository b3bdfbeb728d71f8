#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <npucore/frame.hpp>
#include <npuvision/answer.hpp>
#include <npuvision/tensor_view.hpp>

namespace npu::vision {

enum class YoloLayout {
  kAuto,  ///< by the number of labels, else the longer of the two dimensions holds the boxes
  kChannelsFirst,  ///< [1, 4 + classes, boxes]
  kBoxesFirst,     ///< [1, boxes, 4 + classes]
  kEndToEnd,       ///< [1, boxes, 6], which YOLOv10, YOLO26 and exports with nms=True have
};

/// A tensor that is known to be a YOLO output: each box has centre x, centre y, width, height in
/// model pixels, then one score for each class. Where it is end to end: left, top, right, bottom,
/// then the score and the class; the model has suppressed what overlaps.
struct YoloTensor {
  static constexpr std::size_t kBoxChannels = 4;
  static constexpr std::size_t kEndToEndChannels = kBoxChannels + 2;

  bool is_end_to_end = false;
  npu::ElementType type = npu::ElementType::kF32;  ///< kF32 or kF16
  std::size_t boxes = 0;
  std::size_t classes = 0;               ///< 0: not known, where it is end to end
  std::size_t box_stride_bytes = 0;      ///< from one box to the next
  std::size_t channel_stride_bytes = 0;  ///< from one channel of a box to the next
  const std::byte* data = nullptr;
};

/// The sentence of error messages that says which tensors can be decoded.
NPU_API extern const char* const kYoloExpectation;

/// Checks type, shape and that every element lies inside the tensor's memory. `label_count` is 0
/// when the labels are not known. Throws Error(kInvalidArgument) that names tensor and shape.
NPU_API YoloTensor as_yolo_tensor(const TensorView& tensor, YoloLayout layout,
                                  std::size_t label_count);

/// An object in the frame; edges in frame pixels, inside the frame, never empty.
struct Detection {
  double left = 0, top = 0, right = 0, bottom = 0;
  float confidence = 0;
  std::uint32_t label_id = 0;
};

struct YoloOptions {
  float threshold = 0.5F;  ///< lowest score that counts
  float iou_threshold =
      0.5F;  ///< of two boxes of one class that overlap more, the better one stays
  std::size_t max_detections = 300;  ///< the best ones of a frame
};

/// Turns YOLO outputs into detections. Keeps its scratch memory from frame to frame; one thread.
class NPU_API YoloDecoder {
 public:
  /// Best first; valid until the next call. Boxes that are not finite, empty or outside the frame
  /// are no detections. Throws Error(kInvalidArgument) for a score that is no probability and a
  /// class that is none: the tensor is something else then.
  std::span<const Detection> decode(const YoloTensor& tensor, const npu::FrameGeometry& geometry,
                                    FrameSize frame, const YoloOptions& options);

 private:
  struct Candidate {
    Detection detection;
    double left, top, right, bottom;  // model pixels, not clipped: overlap is judged on these
    std::uint32_t index;              // of the box, makes the order of equal scores definite
  };

  template <typename Scalar>
  void collect(const YoloTensor& tensor, const npu::FrameGeometry& geometry, FrameSize frame,
               float threshold);
  template <typename Scalar>
  void collect_block(const YoloTensor& tensor, std::size_t first, std::size_t count,
                     const npu::FrameGeometry& geometry, FrameSize frame, float threshold);
  template <typename Scalar>
  void collect_end_to_end(const YoloTensor& tensor, const npu::FrameGeometry& geometry,
                          FrameSize frame, float threshold);
  /// Of edges in model pixels.
  void add(std::array<double, YoloTensor::kBoxChannels> edges, float confidence,
           std::uint32_t label_id, std::size_t index, const npu::FrameGeometry& geometry,
           FrameSize frame);
  void sort();
  void suppress(const YoloOptions& options);
  void keep_best(const YoloOptions& options);
  static double overlap(const Candidate& a, const Candidate& b);

  std::vector<Candidate> candidates_;
  std::vector<const Candidate*> kept_;
  std::vector<Detection> detections_;
};

}  // namespace npu::vision
