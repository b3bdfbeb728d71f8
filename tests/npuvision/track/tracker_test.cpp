#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>

#include <npuvision/tracker.hpp>

#include "../allocations.hpp"
#include "decode/boxes.hpp"

namespace npu::vision::tracker_test {
namespace {

constexpr FrameSize kFrame{640, 360};
constexpr double kRate = 30;  // frames a second

Object object_at(double x, double y, double side = 40, float confidence = 0.9F,
                 std::uint32_t label_id = 0) {
  return {.left = x - side / 2,
          .top = y - side / 2,
          .right = x + side / 2,
          .bottom = y + side / 2,
          .confidence = confidence,
          .label_id = label_id,
          .oriented = {}};
}

/// A tracker and its clock.
class Clip {
 public:
  explicit Clip(const TrackerOptions& options = {}) : tracker_(options) {}
  std::span<const Track> frame(std::vector<Object> objects) {
    tracker_.update(static_cast<double>(count_++) / kRate, objects, kFrame);
    return present();
  }
  std::span<const Track> frame_between() {
    tracker_.predict(static_cast<double>(count_++) / kRate, kFrame);
    return present();
  }
  std::span<const Track> present() const { return tracker_.tracks().first(tracker_.num_present()); }
  std::span<const Track> lost() const { return tracker_.tracks().subspan(tracker_.num_present()); }
  Tracker& tracker() { return tracker_; }

 private:
  Tracker tracker_;
  int count_ = 0;
};

/// The identity of the object with this place; 0: none.
std::uint64_t id_of(std::span<const Track> tracks, std::size_t object) {
  const auto track = std::find_if(tracks.begin(), tracks.end(),
                                  [&](const Track& one) { return one.object == object; });
  return track == tracks.end() ? 0 : track->id;
}

TEST(Tracker, GivesTheFirstFramesObjectsIdentitiesAtOnce) {
  Clip clip;
  const auto tracks = clip.frame({object_at(100, 100), object_at(300, 200)});
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_EQ(tracks[0].id, 1U);
  EXPECT_EQ(tracks[1].id, 2U);
  EXPECT_EQ(tracks[1].object, 1U);
  EXPECT_EQ(tracks[1].left, 280);
}

TEST(Tracker, GivesALaterOneItsIdentityWhenItIsFoundAgain) {
  Clip clip;
  clip.frame({});
  EXPECT_EQ(id_of(clip.frame({object_at(100, 100)}), 0), 0U);
  EXPECT_EQ(id_of(clip.frame({object_at(102, 100)}), 0), 1U);
}

TEST(Tracker, RemembersWhenATrackBegan) {
  Clip clip;
  clip.frame({});
  clip.frame({object_at(100, 100)});
  const auto tracks = clip.frame({object_at(102, 100)});
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].first_found, 1 / kRate);
}

TEST(Tracker, ForgetsWhatWasSeenOnlyOnce) {
  Clip clip;
  clip.frame({});
  clip.frame({object_at(100, 100)});
  clip.frame({});
  EXPECT_TRUE(clip.tracker().tracks().empty());
}

// Two of one label pass each other, one in front of the other, which is not found meanwhile.
TEST(Tracker, KeepsIdentitiesOverACrossing) {
  Clip clip;
  for (int i = 0; i < 90; ++i) {
    const double left = 120 + 4.0 * i, right = 520 - 4.0 * i;
    std::vector<Object> objects = {object_at(left, 180)};
    if (std::abs(right - left) > 30) {
      objects.push_back(object_at(right, 186));
    }
    const auto tracks = clip.frame(objects);
    EXPECT_EQ(id_of(tracks, 0), 1U) << i;
    if (objects.size() > 1) {
      EXPECT_EQ(id_of(tracks, 1), 2U) << i;
    }
  }
}

TEST(Tracker, FindsWhatWasHiddenForHalfASecond) {
  Clip clip;
  for (int i = 0; i < 60; ++i) {
    const bool is_hidden = i >= 20 && i < 35;
    const auto tracks = clip.frame(
        is_hidden ? std::vector<Object>{} : std::vector{object_at(100 + 5.0 * i, 100 + 2.0 * i)});
    if (is_hidden) {
      ASSERT_EQ(clip.lost().size(), 1U);
      EXPECT_NEAR(clip.lost()[0].left + 20, 100 + 5.0 * i, 12);
      EXPECT_NEAR(clip.lost()[0].seconds_since_found, (i - 19) / kRate, 1e-6);
    } else {
      EXPECT_EQ(id_of(tracks, 0), 1U) << i;
    }
  }
}

/// The part of a square with a side of 100 that is seen: from 0 to 1 of it, both ways.
Object part_of(double x, double y, double from, double to) {
  return {.left = x - 50 + 100 * from,
          .top = y - 50 + 100 * from,
          .right = x - 50 + 100 * to,
          .bottom = y - 50 + 100 * to,
          .confidence = 0.9F,
          .oriented = {}};
}

// Something goes past in front of it: first its upper left is seen, then its lower right.
TEST(Tracker, KnowsWhatIsPartlyHidden) {
  Clip clip;
  double x = 60;
  for (int i = 0; i < 20; ++i, x += 8) clip.frame({object_at(x, 180, 100)});
  for (int i = 0; i < 2; ++i, x += 8) EXPECT_EQ(clip.frame({part_of(x, 180, 0, 0.5)})[0].id, 1U);
  for (int i = 0; i < 2; ++i, x += 8) EXPECT_TRUE(clip.frame({}).empty());
  for (int i = 0; i < 2; ++i, x += 8) {
    const auto tracks = clip.frame({part_of(x, 180, 0.5, 1)});
    ASSERT_EQ(tracks.size(), 1U);
    EXPECT_EQ(tracks[0].id, 1U);
    EXPECT_EQ(tracks[0].left, x) << "what is seen, not what is hidden";
  }
  EXPECT_EQ(clip.frame({object_at(x, 180, 100)})[0].id, 1U);
}

TEST(Tracker, TakesWhatStaysSmallForSmall) {
  Clip clip;
  for (int i = 0; i < 20; ++i) clip.frame({object_at(300, 180, 100)});
  for (int i = 0; i < 40; ++i) clip.frame({object_at(300, 180, 50)});
  clip.frame({});
  ASSERT_EQ(clip.lost().size(), 1U);
  EXPECT_NEAR(clip.lost()[0].right - clip.lost()[0].left, 50, 2);
}

TEST(Tracker, GivesUpWhatIsLostForTooLong) {
  Clip clip({.lost_seconds = 0.5});
  clip.frame({object_at(300, 100)});
  for (int i = 0; i < 15; ++i) {
    clip.frame({});
    EXPECT_EQ(clip.lost().size(), 1U);
  }
  clip.frame({});
  EXPECT_TRUE(clip.lost().empty());
}

// However patient it is.
TEST(Tracker, LooksForAThousandLostOnesAtMost) {
  Clip clip({.confirm_after = 1, .lost_seconds = 1e9});
  std::vector<Object> objects(60);
  for (int i = 0; i < 100; ++i) {
    for (std::size_t k = 0; k < objects.size(); ++k) {
      objects[k] = object_at(5 + 10.0 * static_cast<double>(k), 2 + 3.5 * i, 1.5);
    }
    ASSERT_EQ(clip.frame(objects).size(), objects.size()) << i;
  }
  clip.frame({});
  EXPECT_EQ(clip.lost().size(), 1024U);
  const auto found = clip.frame(objects);
  EXPECT_EQ(id_of(found, 0), 99 * 60 + 1U) << "who was lost last is known";
}

TEST(Tracker, LooksAtTheMostConfidentOnes) {
  std::vector<Object> objects;
  for (std::size_t k = 0; k < Tracker::kMostObjects + 10; ++k) {
    objects.push_back(object_at(5 + 10.0 * static_cast<double>(k % 60), 5 + 10.0 * (k / 60), 3));
    objects.back().confidence = k < 10 ? 0.6F : 0.7F;
  }
  Clip clip({.confirm_after = 1});
  clip.frame(objects);
  EXPECT_EQ(clip.tracker().num_present(), Tracker::kMostObjects);
  for (const Track& track : clip.tracker().tracks()) EXPECT_GE(track.object, 10U);
}

// An object that comes in where another went out is a new one.
TEST(Tracker, EndsATrackThatLeavesTheFrame) {
  Clip clip;
  for (int i = 0; i < 20; ++i) {
    const double x = 550 + 6.0 * i;
    Object object = object_at(x, 100);
    object.right = std::min(object.right, 640.0);
    clip.frame(object.left < 636 ? std::vector{object} : std::vector<Object>{});
  }
  EXPECT_TRUE(clip.tracker().tracks().empty());
  clip.frame({object_at(610, 100)});
  EXPECT_EQ(id_of(clip.frame({object_at(605, 100)}), 0), 2U);
}

TEST(Tracker, GoesOnWithUnsureObjectsButBeginsNone) {
  Clip clip;
  clip.frame({object_at(100, 100)});
  const auto tracks = clip.frame({object_at(103, 100, 40, 0.2F), object_at(400, 100, 40, 0.2F)});
  EXPECT_EQ(id_of(tracks, 0), 1U);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_FLOAT_EQ(tracks[0].confidence, 0.2F);
  clip.frame({object_at(106, 100, 40, 0.05F)});
  EXPECT_TRUE(clip.present().empty()) << "below the lowest confidence";
}

// An object found with little confidence where one was lost may be anything.
TEST(Tracker, GoesOnWithWhatWasLostOnlyWhereAnObjectIsSure) {
  Clip clip;
  clip.frame({object_at(100, 100)});
  clip.frame({object_at(100, 100)});
  clip.frame({});
  EXPECT_TRUE(clip.frame({object_at(100, 100, 40, 0.3F)}).empty());
  EXPECT_EQ(clip.lost().size(), 1U);
  EXPECT_EQ(id_of(clip.frame({object_at(100, 100)}), 0), 1U);
}

TEST(Tracker, KeepsLabelsApartUnlessToldOtherwise) {
  for (const bool across : {false, true}) {
    Clip clip({.confirm_after = 1, .across_labels = across});
    clip.frame({object_at(100, 100, 40, 0.9F, 0)});
    const auto tracks = clip.frame({object_at(101, 100, 40, 0.9F, 1)});
    EXPECT_EQ(id_of(tracks, 0), across ? 1U : 2U);
  }
}

TEST(Tracker, FollowsWhatIsSmallAndFast) {
  Clip clip;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(id_of(clip.frame({object_at(30 + 24.0 * i, 100, 20)}), 0), 1U) << i;
  }
}

// Every third frame is looked at; the boxes of those between lie on the truth.
TEST(Tracker, BridgesFramesThatWereNotLookedAt) {
  Clip clip;
  double least = 1;
  for (int i = 0; i < 120; ++i) {
    const Object truth = object_at(320 + 200 * std::sin(i / 40.0), 180 + 90 * std::cos(i / 30.0),
                                   60 + 20 * std::sin(i / 25.0));
    const auto tracks = i % 3 == 0 ? clip.frame({truth}) : clip.frame_between();
    ASSERT_EQ(tracks.size(), 1U);
    EXPECT_EQ(tracks[0].object == Track::kNotFound, i % 3 != 0);
    if (i < 6) continue;  // a velocity takes two frames
    least =
        std::min(least, overlap({tracks[0].left, tracks[0].top, tracks[0].right, tracks[0].bottom},
                                {truth.left, truth.top, truth.right, truth.bottom}));
  }
  EXPECT_GT(least, 0.8);
}

TEST(Tracker, BeginsAnewWhereTimeRunsBack) {
  Tracker tracker;
  const std::vector<Object> objects = {object_at(100, 100)};
  tracker.update(5, objects, kFrame);
  tracker.update(1, objects, kFrame);
  ASSERT_EQ(tracker.tracks().size(), 1U);
  EXPECT_EQ(tracker.tracks()[0].id, 2U) << "no identity is given twice";
}

TEST(Tracker, GoesOnWhereTheTimeIsNone) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const double times[] = {std::nan(""), 0.1, std::nan(""), 0.2, kInfinite, -kInfinite, 0.3};
  Tracker tracker;
  for (const double seconds : times) {
    tracker.update(seconds, std::vector{object_at(100, 100)}, kFrame);
    ASSERT_EQ(tracker.num_present(), 1U) << seconds;
    EXPECT_EQ(tracker.tracks()[0].id, 1U) << seconds;
    EXPECT_EQ(tracker.tracks()[0].first_found, 0) << seconds;
  }
  tracker.predict(kInfinite, kFrame);
  EXPECT_EQ(tracker.num_present(), 1U);
}

TEST(Tracker, OutlivesAnyNumbers) {
  std::mt19937 random(11);
  const double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        -1e300,
                        1e300,
                        0,
                        -5,
                        640};
  const auto number = [&] {
    return random() % 4 == 0 ? odd[random() % std::size(odd)]
                             : std::uniform_real_distribution(0.0, 640.0)(random);
  };
  Tracker tracker;
  std::uint64_t highest = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<Object> objects(random() % 12);
    for (Object& object : objects) {
      object = {.left = number(),
                .top = number(),
                .right = number(),
                .bottom = number(),
                .confidence = static_cast<float>(number() / 640),
                .label_id = static_cast<std::uint32_t>(random() % 2),
                .oriented = {}};
    }
    const double seconds = random() % 50 == 0 ? number() : i / kRate;
    random() % 3 == 0 ? tracker.predict(seconds, kFrame) : tracker.update(seconds, objects, kFrame);
    std::set<std::uint64_t> ids;
    std::set<std::size_t> taken;
    for (const Track& track : tracker.tracks()) {
      EXPECT_TRUE(track.left >= 0 && track.left < track.right && track.right <= kFrame.width);
      EXPECT_TRUE(track.top >= 0 && track.top < track.bottom && track.bottom <= kFrame.height);
      if (track.id != 0) {
        EXPECT_TRUE(ids.insert(track.id).second);
      }
      if (track.object != Track::kNotFound) {
        EXPECT_LT(track.object, objects.size());
        EXPECT_TRUE(taken.insert(track.object).second);
      }
      highest = std::max(highest, track.id);
    }
  }
  EXPECT_GT(highest, 10U);
}

TEST(Tracker, AllocatesNothingOnceWarm) {
  std::vector<Object> objects;
  objects.reserve(60);
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 10; ++column) {
      objects.push_back(object_at(30 + 60 * column, 30 + 50 * row, 55));
    }
  }
  Tracker tracker;
  std::size_t before = 0;
  for (int i = 0; i < 30; ++i) {
    for (Object& object : objects) {
      object.left += 0.5, object.right += 0.5;
    }
    if (i == 20) {
      before = allocations();
    }
    i % 3 == 2 ? tracker.predict(i / kRate, kFrame) : tracker.update(i / kRate, objects, kFrame);
  }
  EXPECT_EQ(allocations() - before, 0U);
  EXPECT_EQ(tracker.num_present(), 60U);
}

}  // namespace
}  // namespace npu::vision::tracker_test
