#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <npuvision/answer.hpp>

namespace npu::vision {

struct TrackerOptions {
  /// Objects of at least this confidence begin tracks; 0..1.
  float high_confidence = 0.5F;
  /// Objects of at least this one go on with a track that has no better: something that is partly
  /// hidden is found with less confidence. 0..1.
  float low_confidence = 0.1F;
  /// How often an object has to be found before it gets an identity; not in the first frame.
  std::uint32_t confirm_after = 2;
  double lost_seconds = 1;  ///< how long something that is not found is looked for, of 1024 at most
  /// Whether an object may go on with a track of another label.
  bool across_labels = false;
};

/// Something that is seen frame after frame.
struct Track {
  /// From 1 on, never given twice; 0: not found often enough yet.
  std::uint64_t id = 0;
  /// Where it is: of an object that was found, its own edges; else those that its movement leads
  /// to. Frame pixels, inside the frame, never empty.
  double left = 0, top = 0, right = 0, bottom = 0;
  float confidence = 0;        ///< of the object that was found last
  std::uint32_t label_id = 0;  ///< of the object that was found last
  /// In this frame: its place among the objects; kNotFound: it was not found, or not looked for.
  std::size_t object = kNotFound;
  double seconds_since_found = 0;
  double first_found = 0;  ///< seconds of the stream

  static constexpr std::size_t kNotFound = SIZE_MAX;
};

/// Gives objects identities that last from frame to frame. Each track has a Kalman filter of
/// constant velocity; objects go to tracks by the overlap with where those are expected, the
/// confident ones first (ByteTrack: Zhang et al., 2022, arXiv 2110.06864). Keeps its memory from
/// frame to frame. One thread.
class NPU_API Tracker {
 public:
  explicit Tracker(const TrackerOptions& options = {});
  ~Tracker();
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;

  /// A frame in which objects were looked for. `seconds`: of the stream, not before the frame
  /// before; where they are, all tracks end; where they are not finite, no time has passed. Objects
  /// that are not finite, or empty, are none.
  void update(double seconds, std::span<const Object> objects, FrameSize frame);
  /// A frame in which nothing was looked for: tracks go on as they moved.
  void predict(double seconds, FrameSize frame);

  /// After the frame: first those that were found, or, after predict(), that were found in the last
  /// frame in which objects were looked for; then those that are lost. Valid until the next call.
  std::span<const Track> tracks() const;
  /// How many of them are not lost.
  std::size_t num_present() const;

  /// Ends all tracks. Identities go on.
  void reset();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::vision
