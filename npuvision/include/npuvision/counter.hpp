#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npucore/types.hpp>

namespace npu::vision {

/// A point in the frame, as shares 0..1 of its width and height.
struct FramePoint {
  double x = 0, y = 0;
};

/// A polygon; its last corner is joined to the first.
struct Zone {
  std::string name;
  std::vector<FramePoint> corners;
};

/// Crossing it from left to right counts as forward, seen by somebody who walks from its first
/// point to its second.
struct CountLine {
  std::string name;
  FramePoint from, to;
};

/// Position of an object, usually the middle of its lower edge, where it stands.
struct Sighting {
  std::uint64_t id = 0;
  FramePoint place;
};

struct ZoneCount : Zone {
  struct Inside {
    std::uint64_t id = 0;
    double seconds = 0;  ///< since it entered, or until it went out
  };
  std::vector<Inside> inside;  ///< by their ids
  std::uint64_t entered = 0;   ///< includes objects first seen inside
  std::uint64_t left = 0;      ///< includes objects that disappeared inside
  double seconds_of_left = 0;  ///< total time inside of the objects that left

  /// How long those who left were inside; nullopt where none left.
  std::optional<double> mean_seconds() const {
    if (left == 0) return std::nullopt;
    return seconds_of_left / static_cast<double>(left);
  }
};

struct LineCount : CountLine {
  std::uint64_t forward = 0, backward = 0;
};

/// An event in a frame.
struct CountEvent {
  enum class Kind { kEntered, kLeft, kForward, kBackward };
  Kind kind = Kind::kEntered;
  std::string place = {};  ///< name of the zone or line
  std::uint64_t id = 0;
  std::optional<double> seconds = {};  ///< kLeft only: time inside
};

/// "entered", "left", "forward", "backward".
inline const char* to_string(CountEvent::Kind kind) {
  constexpr const char* kNames[] = {"entered", "left", "forward", "backward"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// Counts objects in zones and across lines. Single-threaded.
class NPU_API Counter {
 public:
  /// An object that is not seen for longer than `lost_seconds` has left at the time it was last
  /// seen. Beyond 16384 objects, those seen longest ago leave early. Throws npu::Error for zones
  /// without an area, lines without a length, points outside of the frame, and a time or margin
  /// that is negative or NaN.
  /// `margin`, 0..1 of the frame, absorbs trembling boxes. An object leaves a zone only when it
  /// gets farther away than that; it then counts as having left when it went out. An object that
  /// crossed a line may cross it again only after it was farther away than that.
  Counter(std::vector<Zone> zones, std::vector<CountLine> lines, double lost_seconds,
          double margin = 0);

  /// Totals to go on from, set before the first frame.
  void set_zone_totals(std::size_t zone, std::uint64_t entered, std::uint64_t left,
                       double seconds_of_left);
  void set_line_totals(std::size_t line, std::uint64_t forward, std::uint64_t backward);

  /// Takes a frame. `seconds` is stream time: if it goes back, all objects are forgotten; if it is
  /// not finite, no time has passed. Sightings that are not finite are ignored; of several with one
  /// id the first counts.
  void update(double seconds, std::span<const Sighting> sightings);
  /// Forgets all objects after a seek: they have neither left nor crossed. Totals stay.
  void forget_objects();

  std::span<const ZoneCount> zone_counts() const { return zone_counts_; }
  std::span<const LineCount> line_counts() const { return line_counts_; }
  /// Events of the last frame.
  std::span<const CountEvent> events() const { return events_; }

 private:
  /// Stream times in seconds.
  struct InZone {
    std::optional<double> entered;
    std::optional<double> outside;  ///< when it went out, while still within the margin
  };
  struct AtLine {
    std::optional<FramePoint> beside;  ///< last position off the line
    bool is_right = false;             ///< the side that was counted
    bool is_between = false;           ///< its last change of side was between the line's ends
    bool is_clear = true;              ///< it was beyond the margin since it was counted
  };
  struct Object {
    double seen = 0;          ///< stream time
    std::uint64_t frame = 0;  ///< frame in which it was last seen
    std::vector<InZone> zones;
    std::vector<AtLine> lines;
  };

  void see(double seconds, const Sighting& sighting);
  void see_in_zone(std::size_t zone, double seconds, const Sighting& sighting, Object* object);
  void see_at_line(std::size_t line, const Sighting& sighting, Object* object);
  void cross(std::size_t line, std::uint64_t id, bool is_forward);
  void leave(std::size_t zone, std::uint64_t id, double seconds, Object* object);
  void forget_lost(double seconds);
  double seen_since() const;

  double lost_seconds_, margin_;
  std::optional<double> seconds_;  // time of the last frame
  std::uint64_t frame_ = 0;
  std::vector<ZoneCount> zone_counts_;
  std::vector<LineCount> line_counts_;
  std::vector<CountEvent> events_;
  std::map<std::uint64_t, Object> objects_;
};

}  // namespace npu::vision
