// Which streams infer how much where a device cannot serve all.
#pragma once

#include <cstdint>
#include <vector>

namespace npustream {

/// The wish of a stream for its device, in inferences a second.
struct Demand {
  double wanted = 0;  // its frames a second, by its interval
  double floor = 0;   // min-fps
  std::uint32_t priority = 0;
};

/// Inferences a second for each stream. Each gets its floor first, if all floors fit (else the same
/// share of it); then the highest priority gets what it wants, and so on. Streams of one priority
/// that cannot all have what they want get equal rates, where they want as much.
std::vector<double> shares_of(const std::vector<Demand>& demands, double capacity);

/// The load of one device in the last second.
struct DeviceLoad {
  double inferred = 0,
         missed = 0;  // frames; missed: those that came while the device was busy, or too late
  double wanted = 0;  // inferences a second, of all streams together
  double busy = 0;    // seconds that the inferences took of it
};

/// Follows one device: notices that it cannot serve all that is wanted, and when it can again.
/// Frames that are missed while the device has time are no overload of it: a processor or a network
/// is too slow.
class Overload {
 public:
  /// Once a second.
  void update(const DeviceLoad& load);
  bool is_overloaded() const { return capacity_ > 0; }
  /// Inferences a second that it serves; 0: all that is wanted.
  double capacity() const { return capacity_; }

 private:
  double capacity_ = 0;
  int bad_seconds_ = 0, good_seconds_ = 0;
};

}  // namespace npustream
