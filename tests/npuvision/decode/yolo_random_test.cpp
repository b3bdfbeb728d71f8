// Tensors that lie in memory as nobody would lay them: an answer, or a refusal.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include <npucore/error.hpp>

#include "reference.hpp"
#include "yolo_heads.hpp"

namespace npu::vision {
namespace {

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}

  std::size_t up_to(std::size_t most) { return random_() % (most + 1); }
  bool one_in(std::size_t many) { return up_to(many - 1) == 0; }

 private:
  std::minstd_rand random_;
};

// A tensor is decoded exactly if it lies inside its memory, which a sanitizer watches.
TEST(YoloRandom, NeverReadsBeyondTheTensorsMemory) {
  Dice dice(11);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    // A probability, as two halves too.
    const std::vector<std::uint32_t> memory(1 + dice.up_to(60), 0x38003800U);
    TensorView view;
    view.type = dice.one_in(2) ? ElementType::kF32 : ElementType::kF16;
    const std::size_t element_bytes = view.type == ElementType::kF32 ? 4 : 2;
    view.rank = 3;
    view.dims = {1, 5 + dice.up_to(4), 1 + dice.up_to(9)};
    view.strides_bytes = {dice.up_to(64), dice.up_to(16) * element_bytes,
                          dice.up_to(16) * element_bytes};
    ModelCard card = card_of(Task::kDetect, 0);
    card.channels_first = true;
    const auto decoder = make_decoder(card, std::vector{view}, {});
    view.data = reinterpret_cast<const std::byte*>(memory.data());
    view.size_bytes = memory.size() * 4;
    const std::size_t end = (view.dims[1] - 1) * view.strides_bytes[1] +
                            (view.dims[2] - 1) * view.strides_bytes[2] + element_bytes;
    const bool fits = std::max(end, view.dims[1] * view.dims[2] * element_bytes) <= view.size_bytes;
    Answer answer;
    const std::string why = refusal_of([&] {
      decoder->decode(std::vector{view}, {}, {64, 64}, {.confidence_threshold = 0}, &answer);
    });
    EXPECT_EQ(why.empty(), fits) << why;
    (fits ? accepted : refused) += 1;
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace npu::vision
