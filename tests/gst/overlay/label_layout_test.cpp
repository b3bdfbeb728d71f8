#include "overlay/label_layout.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gstnpu {
namespace {

constexpr int kWidth = 320, kHeight = 240;
constexpr int kLine = 2;

/// A label of 60x12 that may lie above its owner, below it, or in it.
Label label_of(const Box& owner, const std::string& name = "car") {
  Label label{.name = name, .owner = owner, .width = 60, .height = 12};
  for (const int y : {owner.top - 12, owner.bottom, owner.top}) {
    label.corners.push_back({owner.left, y});
  }
  return label;
}

Box above(const Box& owner) {
  return {owner.left, owner.top - 12, owner.left + 60, owner.top};
}
Box below(const Box& owner) {
  return {owner.left, owner.bottom, owner.left + 60, owner.bottom + 12};
}

/// Lays out a frame's labels, whose owners have outlines.
class LabelLayoutTest : public testing::Test {
 protected:
  std::vector<Box> placed(const std::vector<Label>& labels) {
    layout_.begin(kWidth, kHeight);
    for (const Label& label : labels) {
      layout_.avoid_outline(label.owner, kLine);
      layout_.add(label);
    }
    return layout_.place();
  }
  Box placed(const Label& label) { return placed(std::vector{label})[0]; }

  LabelLayout layout_;
};

constexpr Box kOwner{100, 100, 160, 150};

TEST_F(LabelLayoutTest, ALabelTakesItsFirstCorner) {
  EXPECT_EQ(placed(label_of(kOwner)), above(kOwner));
}

TEST_F(LabelLayoutTest, ALabelStaysInTheFrame) {
  constexpr Box kAtTheTop{100, 5, 160, 50};
  EXPECT_EQ(placed(label_of(kAtTheTop)), below(kAtTheTop));
  constexpr Box kHigh{100, 5, 160, 236};
  EXPECT_EQ(placed(label_of(kHigh)), (Box{100, 5, 160, 17})) << "inside";
  constexpr Box kOutside{310, -30, 330, -20};
  EXPECT_EQ(placed(label_of(kOutside)), (Box{260, 0, 320, 12}));
}

TEST_F(LabelLayoutTest, ALabelAvoidsOneThatWasAddedBefore) {
  constexpr Box kNext{110, 102, 170, 152};
  const auto places = placed({label_of(kOwner), label_of(kNext, "bus")});
  EXPECT_EQ(places[0], above(kOwner));
  EXPECT_EQ(places[1], below(kNext));
}

TEST_F(LabelLayoutTest, ALabelAvoidsTheOutlineOfANeighbour) {
  constexpr Box kAcross{120, 40, 300, 95};  // its lower edge is behind the label above
  const auto places = placed({label_of(kOwner), label_of(kAcross, "bus")});
  EXPECT_EQ(places[0], below(kOwner));
}

TEST_F(LabelLayoutTest, CountsDoNotHeedOutlines) {
  constexpr Box kAcross{120, 40, 300, 95};
  Label label = label_of(kOwner);
  label.heeds_outlines = false;
  EXPECT_EQ(placed({label, label_of(kAcross, "bus")})[0], above(kOwner));
}

TEST_F(LabelLayoutTest, ALabelAvoidsLinesOfText) {
  layout_.begin(kWidth, kHeight);
  layout_.avoid({0, 0, 150, 95});
  layout_.add(label_of(kOwner));
  EXPECT_EQ(layout_.place()[0], below(kOwner));
}

TEST_F(LabelLayoutTest, ALabelCoversAsLittleAsPossible) {
  layout_.begin(kWidth, kHeight);
  layout_.avoid({0, 0, 150, 240});      // 50 of its 60 columns
  layout_.avoid({150, 150, 320, 170});  // and all of the place below
  layout_.add(label_of(kOwner));
  EXPECT_EQ(layout_.place()[0], above(kOwner));
}

// One object goes over to the other one's first place, and comes back.
TEST_F(LabelLayoutTest, LabelsStayWhereBoxesBarelyMove) {
  constexpr Box kNext{158, 102, 218, 152};
  const auto next_at = [](int x) { return Box{x, 102, x + 60, 152}; };
  EXPECT_EQ(placed({label_of(kOwner), label_of(kNext, "bus")})[1], below(kNext));
  for (const int x : {159, 161, 158, 163, 157}) {
    const auto places = placed({label_of(kOwner), label_of(next_at(x), "bus")});
    EXPECT_EQ(places[0], above(kOwner)) << x;
    EXPECT_EQ(places[1], below(next_at(x))) << x;
  }
}

// Scores change from frame to frame, and with them the order of objects.
TEST_F(LabelLayoutTest, LabelsStayWhereTheOrderChanges) {
  constexpr Box kNext{110, 102, 170, 152};
  placed({label_of(kOwner), label_of(kNext)});
  const auto places = placed({label_of(kNext), label_of(kOwner)});
  EXPECT_EQ(places[0], below(kNext));
  EXPECT_EQ(places[1], above(kOwner));
}

TEST_F(LabelLayoutTest, ALabelGoesWhereItIsCovered) {
  placed({label_of(kOwner)});
  layout_.begin(kWidth, kHeight);
  layout_.avoid({0, 80, 320, 100});
  layout_.add(label_of(kOwner));
  EXPECT_EQ(layout_.place()[0], below(kOwner));
}

TEST_F(LabelLayoutTest, ACutForgetsWhereLabelsWere) {
  constexpr Box kNext{110, 102, 170, 152};
  placed({label_of(kOwner), label_of(kNext)});
  layout_.forget();
  EXPECT_EQ(placed(label_of(kNext)), above(kNext));
}

TEST_F(LabelLayoutTest, ThousandsOfLabelsAreInTheFrame) {
  std::vector<Label> labels(3000, label_of(kOwner));
  for (int i = 0; i < 3; ++i) {
    for (const Box& place : placed(labels)) {
      ASSERT_EQ(common(place, {0, 0, kWidth, kHeight}), place);
    }
  }
}

}  // namespace
}  // namespace gstnpu
