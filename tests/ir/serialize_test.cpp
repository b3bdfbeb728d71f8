#include "ir/serialize.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "ir_files.hpp"

namespace npu::ir {
namespace {

const std::string kTwo("\x00\x00\x00\x40", 4);

struct Parts {
  std::vector<unsigned char> head;  // version and number of elements
  std::string xml;
  std::string weights;
};

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + static_cast<std::size_t>(i)]);
  }
  return value;
}

Parts take_apart(std::span<const std::byte> bytes) {
  Parts parts;
  for (std::size_t i = 0; i < 8; ++i) {
    parts.head.push_back(std::to_integer<unsigned char>(bytes[i]));
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const auto xml_size = number_at(bytes, 8);
  parts.xml.assign(text + 16, xml_size);
  const auto weights_size = number_at(bytes, 16 + xml_size);
  EXPECT_EQ(bytes.size(), 24 + xml_size + weights_size);
  parts.weights.assign(text + 24 + xml_size, weights_size);
  return parts;
}

Parts serialized(CompilerVersion version) {
  const test::TempDir dir;
  dir.write("model.bin", kTwo);
  const auto model = Model::read(dir.write("model.xml", test::multiply_ir()));
  const auto buffer = serialize(model, version);
  return take_apart(buffer.bytes());
}

TEST(SerializeTest, StartsWithVersionAndTwoElements) {
  EXPECT_EQ(serialized({7, 0x1234}).head,
            (std::vector<unsigned char>{7, 0, 0x34, 0x12, 2, 0, 0, 0}));
}

TEST(SerializeTest, CarriesTheWholeXml) {
  const auto xml = serialized({7, 0}).xml;
  EXPECT_EQ(xml.find("<?xml version=\"1.0\"?><net name=\"tested\" version=\"11\">"), 0U);
  EXPECT_EQ(xml.substr(xml.size() - 7), "</net>\n");
  EXPECT_TRUE(has(xml, "<data element_type=\"f32\" shape=\"\" offset=\"0\" size=\"4\"/>"));
}

TEST(SerializeTest, CarriesTheWeights) {
  EXPECT_EQ(serialized({7, 0}).weights, kTwo);
}

TEST(SerializeTest, SaysThatArgumentsAreKnownByIndex) {
  EXPECT_TRUE(has(serialized({5, 9}).xml,
                  "<rt_info><is_new_api value=\"YES\"/>"
                  "<use_indices_for_io_metadata value=\"YES\"/></rt_info>"));
}

TEST(SerializeTest, OlderCompilersKnowArgumentsByName) {
  const auto xml = serialized({5, 8}).xml;
  EXPECT_TRUE(has(xml, "is_new_api"));
  EXPECT_FALSE(has(xml, "use_indices"));
}

TEST(SerializeTest, AppendsNewConstantsBehindTheFile) {
  auto model = test::read_ir(test::identity_ir("f32", {1, 3, 4, 4}));
  model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8)));
  const auto buffer = serialize(model, {7, 0});
  const auto parts = take_apart(buffer.bytes());
  // The first constant is the shape of the frame's rows, two for each result.
  std::vector<std::int64_t> shape(4);
  ASSERT_GE(parts.weights.size(), 32U);
  std::memcpy(shape.data(), parts.weights.data(), 32);
  EXPECT_EQ(shape, (std::vector<std::int64_t>{1, 4, 2, 24}));
}

TEST(SerializeTest, AlignsNewConstantsBehindAFileOfFourBytes) {
  test::IrWriter ir;
  const auto picture = ir.parameter("picture", "f32", {1, 3, 4, 4});
  ir.result(ir.binary("Multiply", picture, ir.constant("two", std::vector{2.0F}, {})));
  auto model = test::read_ir(ir.xml(), ir.weights());
  model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8)));
  const auto buffer = serialize(model, {7, 0});
  const auto parts = take_apart(buffer.bytes());
  EXPECT_EQ(parts.weights.substr(0, 4), kTwo);
  const std::string before = " offset=\"";
  int constants = 0;
  for (auto at = parts.xml.find(before); at != parts.xml.npos; at = parts.xml.find(before, at)) {
    at += before.size();
    EXPECT_EQ(std::stoul(parts.xml.substr(at)) % 64, 0U) << parts.xml.substr(at, 8);
    ++constants;
  }
  EXPECT_GT(constants, 2);
}

TEST(SerializeTest, FlagPortsFollowTheArguments) {
  const test::TempDir dir;
  dir.write("model.bin", kTwo);
  const auto ports = flag_ports(Model::read(dir.write("model.xml", test::multiply_ir())));
  ASSERT_EQ(ports.inputs.size(), 1U);
  EXPECT_EQ(ports.inputs[0].name, "numbers");
  EXPECT_EQ(ports.inputs[0].rank, 2U);
  ASSERT_EQ(ports.outputs.size(), 1U);
  EXPECT_EQ(ports.outputs[0].name, "double");
  EXPECT_EQ(ports.outputs[0].type, ElementType::kF32);
}

}  // namespace
}  // namespace npu::ir
