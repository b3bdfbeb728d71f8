// Code shared by decoders of raw and end-to-end heads.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "../boxes.hpp"
#include "../masks.hpp"

#include "head.hpp"
#include "rows.hpp"

namespace npu::vision {

class HeadDecoder : public Decoder {
 public:
  HeadDecoder(const YoloHead& head, const Found& found);

  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 protected:
  /// Adds each box above the threshold.
  virtual void collect(const BoxRows& rows, float threshold) = 0;
  virtual void choose(Boxes& boxes, const DecodeOptions& options) const = 0;
  /// Whether the first values of a row are pixels.
  virtual bool has_pixels() const { return true; }

  const YoloHead& head() const { return head_; }
  /// Add a box whose first four values are its centre and size, or its edges, with an angle where
  /// the task has one. Drop it if a value of its key points or mask is not finite.
  void add_centered(const BoxRows& rows, std::size_t box, float score, std::uint32_t label);
  void add_edges(const BoxRows& rows, std::size_t box, float score, std::uint32_t label);
  /// Adds a box at this centre x, centre y, width and height in model pixels.
  void add_at(const std::array<double, YoloHead::kBoxValues>& place, const BoxRows& rows,
              std::size_t box, float score, std::uint32_t label);

 private:
  npu::FrameGeometry with_size(npu::FrameGeometry geometry) const;
  float visibility(const BoxRows& rows, std::size_t box, std::size_t key_point) const;
  bool is_whole(const BoxRows& rows, std::size_t box) const;
  bool has_finite_extras(const BoxRows& rows, std::size_t box) const;
  void give_key_points(const BoxRows& rows, const npu::FrameGeometry& geometry, FrameSize frame,
                       Answer* answer) const;
  void give_masks(const BoxRows& rows, const TensorView& protos, const npu::FrameGeometry& geometry,
                  FrameSize frame, Answer* answer);
  void compute_logits(const BoxRows& rows, std::size_t box, const TensorView& protos,
                      const PlanePart& part);

  YoloHead head_;
  InputSize input_;
  TensorView made_for_, protos_made_for_;
  Boxes boxes_;
  MaskPainter painter_;
  std::vector<float> logits_;
};

/// Makes the decoder of a head whose last step is left to the host.
std::unique_ptr<Decoder> make_host_decoder(const YoloHead& head, const Found& found);

}  // namespace npu::vision
