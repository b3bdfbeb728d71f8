#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <npuvision/answer.hpp>

namespace npu::vision {

struct TrackerOptions {
  /// Objects with at least this confidence start tracks; 0..1.
  float high_confidence = 0.5F;
  /// Objects with at least this confidence continue a track that has no better match: a partly
  /// hidden object is found with less confidence. 0..1.
  float low_confidence = 0.1F;
  /// Number of detections before a track gets an identity; in the first frame one is enough.
  std::uint32_t confirm_after = 2;
  double lost_seconds = 1;  ///< how long a lost track is looked for; at most 1024 tracks are
  /// Whether objects may continue tracks with another label.
  bool across_labels = false;

  bool operator==(const TrackerOptions&) const = default;
};

/// An object followed from frame to frame.
struct Track {
  /// Starts at 1 and is never reused; 0: not confirmed yet.
  std::uint64_t id = 0;
  /// Edges of the object found in this frame, else those predicted by the track's movement. Frame
  /// pixels, inside the frame, never empty.
  double left = 0, top = 0, right = 0, bottom = 0;
  float confidence = 0;        ///< of the last object found
  std::uint32_t label_id = 0;  ///< of the last object found
  /// Index of the object in this frame; kNotFound: none was found, or none was looked for.
  std::size_t object = kNotFound;
  double seconds_since_found = 0;
  double first_found = 0;  ///< stream time

  static constexpr std::size_t kNotFound = SIZE_MAX;
};

/// Gives objects identities that last from frame to frame. Each track has a Kalman filter of
/// constant velocity; objects are matched to the predicted boxes by overlap, confident ones first
/// (ByteTrack: Zhang et al., 2022, arXiv 2110.06864). Keeps its memory from frame to frame.
/// Single-threaded.
class NPU_API Tracker {
 public:
  /// As many objects of a frame are looked at, the most confident ones.
  static constexpr std::size_t kMostObjects = 1024;

  explicit Tracker(const TrackerOptions& options = {});
  ~Tracker();
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;

  /// Takes a frame in which objects were looked for. `seconds` is stream time: if it goes back, all
  /// tracks end; if it is not finite, no time has passed. Objects that are empty or not finite are
  /// ignored.
  void update(double seconds, std::span<const Object> objects, FrameSize frame);
  /// Takes a frame in which nothing was looked for: tracks move as predicted.
  void predict(double seconds, FrameSize frame);

  /// Tracks after the last frame: first the present ones, which were found in the last frame that
  /// update() took, then the lost ones. Valid until the next call.
  std::span<const Track> tracks() const;
  /// Number of tracks that are not lost.
  std::size_t num_present() const;

  /// Ends all tracks. Identities are still never reused.
  void reset();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::vision
