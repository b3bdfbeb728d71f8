#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <npuvision/skeleton.hpp>

namespace npu::vision {
namespace {

/// How many groups of points that are joined there are; a point alone is one.
std::size_t groups(const Skeleton& skeleton, std::size_t points) {
  std::vector<std::size_t> group(points);
  std::iota(group.begin(), group.end(), 0);
  for (const auto& [first, second] : skeleton) {
    const std::size_t one = group.at(first), other = group.at(second);
    std::replace(group.begin(), group.end(), one, other);
  }
  return std::set(group.begin(), group.end()).size();
}

TEST(SkeletonTest, TheCardsOwnCounts) {
  ModelCard card;
  card.skeleton = {{0, 1}, {1, 16}};
  EXPECT_EQ(skeleton_of(card, 17), card.skeleton);
  EXPECT_EQ(skeleton_of(card, 3), (Skeleton{{0, 1}})) << "of an object with fewer points";
}

TEST(SkeletonTest, SeventeenPointsAreAPersons) {
  const Skeleton person = skeleton_of({}, 17);
  EXPECT_EQ(person.size(), 19U);
  EXPECT_EQ(groups(person, 17), 1U);
  ModelCard named;
  named.key_point_names = {"Nose"};
  EXPECT_EQ(skeleton_of(named, 17), person);
  named.key_point_names = {"left_eye"};  // AP-10K's animals
  EXPECT_TRUE(skeleton_of(named, 17).empty());
}

TEST(SkeletonTest, AHandHasFiveFingers) {
  ModelCard card;
  EXPECT_TRUE(skeleton_of(card, 21).empty()) << "21 points of anything";
  card.labels = {"Left hand"};
  const Skeleton hand = skeleton_of(card, 21);
  EXPECT_EQ(groups(hand, 21), 1U);
  EXPECT_EQ(std::count_if(hand.begin(), hand.end(), [](const auto& one) { return one.first == 0; }),
            5);
  ModelCard named;
  named.key_point_names = {"wrist"};
  EXPECT_EQ(skeleton_of(named, 21), hand);
}

// Jaw, two brows, nose in two, two eyes, two lips.
TEST(SkeletonTest, AFaceHasItsParts) {
  ModelCard card;
  EXPECT_TRUE(skeleton_of(card, 68).empty());
  card.labels = {"face"};
  const Skeleton face = skeleton_of(card, 68);
  EXPECT_EQ(groups(face, 68), 9U);
  EXPECT_NE(std::find(face.begin(), face.end(), std::pair(41U, 36U)), face.end())
      << "an eye is closed";
}

TEST(SkeletonTest, OfOtherPointsNothingIsKnown) {
  for (const std::size_t points : {0, 1, 4, 5, 6, 16, 18, 133}) {
    EXPECT_TRUE(skeleton_of({}, points).empty()) << points;
  }
}

}  // namespace
}  // namespace npu::vision
