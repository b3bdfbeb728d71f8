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

/// A place in the frame: 0..1 of its width and height.
struct FramePoint {
  double x = 0, y = 0;
};

/// A polygon; the last corner is joined to the first.
struct Zone {
  std::string name;
  std::vector<FramePoint> corners;
};

/// Who crosses it from its left to its right goes forward, as seen by one who walks from its first
/// point to its second.
struct CountLine {
  std::string name;
  FramePoint from, to;
};

/// Where an object is: usually the middle of its lower edge, where it stands.
struct Sighting {
  std::uint64_t id = 0;
  FramePoint place;
};

struct ZoneCount {
  struct Inside {
    std::uint64_t id = 0;
    double seconds = 0;  ///< since it entered, or until it went out
  };
  std::vector<Inside> inside;  ///< by their ids
  std::uint64_t entered = 0;   ///< also who was first seen inside
  std::uint64_t left = 0;      ///< also who was not seen any more
  double seconds_of_left = 0;  ///< that those who left were inside, together
};

struct LineCount {
  std::uint64_t forward = 0, backward = 0;
};

/// Something that happened in a frame.
struct CountEvent {
  enum class Kind { kEntered, kLeft, kForward, kBackward };
  Kind kind = Kind::kEntered;
  std::size_t place = 0;  ///< of the zones, or of the lines
  std::uint64_t id = 0;
  double seconds = 0;  ///< of kLeft: that it was inside
};

/// Counts who is in zones and who crosses lines. One thread.
class NPU_API Counter {
 public:
  /// Who is not seen for longer than `lost_seconds` has left, when it was seen last; of more than
  /// 16384 objects, also who was seen before the others. Throws
  /// npu::Error for zones without an area, for lines without a length, for points outside of the
  /// frame, and for a time or a margin that is below 0 or no number.
  /// `margin`: of boxes that tremble, 0..1 of the frame: who has entered a zone leaves it where it
  /// gets farther than that from it, as of when it went out; who has crossed a line may cross it
  /// again when it has been farther than that from it.
  Counter(std::vector<Zone> zones, std::vector<CountLine> lines, double lost_seconds,
          double margin = 0);

  /// A frame. `seconds`: of the stream; where time goes back, whoever was seen is forgotten; where
  /// it is not finite, no time has passed. Sightings that are not finite are none; of several with
  /// one id the first one counts.
  void update(double seconds, std::span<const Sighting> sightings);
  /// Another place of the stream: whoever was seen is forgotten, and has neither left nor crossed.
  /// Totals stay.
  void forget_objects();

  const std::vector<Zone>& zones() const { return zones_; }
  const std::vector<CountLine>& lines() const { return lines_; }
  /// One for each zone, and for each line.
  std::span<const ZoneCount> zone_counts() const { return zone_counts_; }
  std::span<const LineCount> line_counts() const { return line_counts_; }
  /// Of the last frame.
  std::span<const CountEvent> events() const { return events_; }

 private:
  /// Seconds of the stream.
  struct InZone {
    std::optional<double> entered;
    std::optional<double> outside;  ///< since when, not yet farther than the margin
  };
  struct AtLine {
    std::optional<FramePoint> beside;  ///< where it last was on a side
    bool is_right = false;             ///< as was counted
    bool is_between = false;           ///< its ends was where it last came to the other side
    bool is_clear = true;              ///< it was farther than the margin since it was counted
  };
  struct Object {
    double seen = 0;          ///< seconds of the stream
    std::uint64_t frame = 0;  ///< in which it was seen
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

  std::vector<Zone> zones_;
  std::vector<CountLine> lines_;
  double lost_seconds_, margin_;
  std::optional<double> seconds_;  // of the last frame
  std::uint64_t frame_ = 0;
  std::vector<ZoneCount> zone_counts_;
  std::vector<LineCount> line_counts_;
  std::vector<CountEvent> events_;
  std::map<std::uint64_t, Object> objects_;
};

}  // namespace npu::vision
