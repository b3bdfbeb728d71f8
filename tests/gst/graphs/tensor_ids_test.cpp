// Ids by which GStreamer's decoders know the outputs.
#include "graphs/tensor_ids.hpp"

#include <gtest/gtest.h>

#include "support/temp_dir.hpp"

namespace gstnpu {
namespace {

constexpr const char* kModelInfo = R"([modelinfo]
version=1.0
group-id=yolo-26-end2end-out

[output0]
dir=output
id=yolo-26-end2end-out
type=float32
dims=1,300,6
)";

class TensorIds : public testing::Test {
 protected:
  std::string id_of(const npu::vision::ModelCard& card, const npu::Shape& shape) const {
    npu::Port port;
    port.name = "output0";
    port.type = npu::ElementType::kF32;
    port.shape = shape;
    return ids_of((dir_.path() / "model.xml").string(), card, {port}, {640, 640}).id;
  }

  const npu::test::TempDir dir_;
};

TEST_F(TensorIds, AreThoseOfTheModelinfo) {
  dir_.write("model.modelinfo", kModelInfo);
  EXPECT_EQ(id_of({}, {1, 300, 6}), "yolo-26-end2end-out");
}

TEST_F(TensorIds, AreNotThoseOfAModelWhoseEndWasCutOff) {
  dir_.write("model.modelinfo", kModelInfo);
  npu::vision::ModelCard card;
  card.host_postprocess = "topk";
  card.host_classes = 2;
  card.host_detections = 300;
  EXPECT_EQ(id_of(card, {1, 6, 8400}), "");
}

}  // namespace
}  // namespace gstnpu
