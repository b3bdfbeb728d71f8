#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <pugixml.hpp>

#include <npucore/error.hpp>

#include "ir/serialize.hpp"

#include "ir_files.hpp"

namespace npu::ir::weightless_test {
namespace {

using test::TempDir;

struct Stream {
  std::vector<std::uint64_t> header;
  std::string version, constants, xml;
};

Stream take_apart(std::span<const std::byte> bytes) {
  Stream stream;
  stream.header.resize(6);
  std::memcpy(stream.header.data(), bytes.data(), 48);
  const auto part = [&](std::size_t field) {
    const auto view = bytes.subspan(stream.header[field], stream.header[field + 1]);
    return std::string(reinterpret_cast<const char*>(view.data()), view.size());
  };
  stream.version = part(0);
  stream.constants = part(2);
  stream.xml = part(4);
  EXPECT_EQ(stream.header[4] + stream.header[5], bytes.size());
  return stream;
}

/// A constant whose bytes lie there in the weights.
struct Part {
  const char* type;
  std::size_t offset, size;
  std::string rt_info = {};
};

std::string ir_with(const std::vector<Part>& constants, const std::string& version = "11") {
  test::IrWriter ir("tested", version);
  ir.result(ir.parameter("x", "f32", {1}));
  for (const auto& part : constants) {
    ir.constant_at("", part.type, {}, part.offset, part.size, part.rt_info);
  }
  return ir.xml();
}

pugi::xml_node attribute_of(const pugi::xml_document& xml, const char* layer) {
  return xml.child("net")
      .child("layers")
      .find_child_by_attribute("layer", "name", layer)
      .child("rt_info")
      .find_child_by_attribute("attribute", "name", "WeightsPointerAttribute");
}

std::string pointed_to(pugi::xml_node attribute) {
  const auto* start = reinterpret_cast<const char*>(attribute.attribute("mp").as_ullong());
  return {start, attribute.attribute("ms").as_ullong()};
}

TEST(WeightlessTest, StartsWithOffsetsAndSizes) {
  const auto model = test::read_ir(test::multiply_ir(), "abcd");
  const auto buffer = serialize_weightless(model, {7, 0x1234}, 5);
  const auto header = take_apart(buffer.bytes()).header;
  const std::vector<std::uint64_t> expected{48, 4, 52, 4, 56, buffer.bytes().size() - 56};
  EXPECT_EQ(header, expected);
}

TEST(WeightlessTest, NamesTheCompilersVersion) {
  const auto model = test::read_ir(test::multiply_ir(), "abcd");
  const auto buffer = serialize_weightless(model, {7, 0x1234});
  EXPECT_EQ(take_apart(buffer.bytes()).version, std::string("\x07\0\x34\x12", 4));
}

TEST(WeightlessTest, GivesTheAddressInsteadOfTheBytes) {
  const auto model = test::read_ir(test::multiply_ir(), "abcd");
  const auto buffer = serialize_weightless(model, {7, 0});
  const auto stream = take_apart(buffer.bytes());
  EXPECT_EQ(stream.constants, "");
  pugi::xml_document xml;
  ASSERT_TRUE(xml.load_string(stream.xml.c_str()));
  const auto attribute = attribute_of(xml, "two");
  EXPECT_EQ(pointed_to(attribute), "abcd");
  const auto layer =
      "<data element_type=\"f32\" shape=\"\" offset=\"0\" size=\"0\"/><rt_info>"
      "<attribute name=\"WeightsPointerAttribute\" version=\"0\" mp=\"" +
      std::string(attribute.attribute("mp").value()) + "\" ms=\"4\"/></rt_info><output>";
  EXPECT_TRUE(has(stream.xml, layer));
}

TEST(WeightlessTest, TheTextEndsWithALineFeed) {
  const auto buffer = serialize_weightless(test::read_ir(test::multiply_ir(), "abcd"), {7, 0});
  EXPECT_TRUE(take_apart(buffer.bytes()).xml.ends_with("</net>\n"));
}

// As OpenVINO writes it and its plugin passes it on: a constant without elements has one byte.
TEST(WeightlessTest, TakesAConstantWithoutElements) {
  test::IrWriter ir;
  ir.constant_at("none", "i64", {0}, 4, 1);
  ir.result(ir.parameter("x", "f32", {1}));
  const auto model = test::read_ir(ir.xml(), std::string("abcd\0", 5));
  const auto stream = take_apart(serialize_weightless(model, {7, 0}).bytes());
  pugi::xml_document xml;
  ASSERT_TRUE(xml.load_string(stream.xml.c_str()));
  EXPECT_EQ(pointed_to(attribute_of(xml, "none")).size(), 1u);
  EXPECT_TRUE(has(stream.xml, "shape=\"0\" offset=\"0\" size=\"0\""));
}

struct Threshold : Named {
  std::size_t bytes;
  std::string copied;
};

class ThresholdTest : public testing::TestWithParam<Threshold> {};

TEST_P(ThresholdTest, CopiesWhatIsSmaller) {
  const auto model = test::read_ir(ir_with({{"f32", 0, 4}, {"f64", 4, 8}}), "abcdefghijkl");
  const auto buffer = serialize_weightless(model, {7, 0}, GetParam().bytes);
  EXPECT_EQ(take_apart(buffer.bytes()).constants, GetParam().copied);
}

INSTANTIATE_TEST_SUITE_P(Table, ThresholdTest,
                         testing::Values(Threshold{"zero_copies_none", 0, ""},
                                         Threshold{"as_large_as_the_threshold_is_left", 4, ""},
                                         Threshold{"one_byte_smaller_is_copied", 5, "abcd"},
                                         Threshold{"both_smaller", 9, "abcdefghijkl"}),
                         by_name);

TEST(WeightlessTest, CopiedConstantsAreFoundWhereTheTextSays) {
  const auto model = test::read_ir(ir_with({{"f64", 0, 8}, {"f32", 8, 4}}), "abcdefghijkl");
  const auto stream = take_apart(serialize_weightless(model, {7, 0}, 5).bytes());
  EXPECT_EQ(stream.constants, "ijkl");
  EXPECT_TRUE(has(stream.xml, "<data element_type=\"f32\" shape=\"\" offset=\"0\" size=\"4\"/>"));
}

TEST(WeightlessTest, ConstantsThatShareBytesAreCopiedOnce) {
  const auto model = test::read_ir(ir_with({{"f32", 0, 4}, {"f32", 0, 4}}), "abcd");
  const auto buffer = serialize_weightless(model, {7, 0}, 100);
  EXPECT_EQ(take_apart(buffer.bytes()).constants, "abcd");
}

TEST(WeightlessTest, StringsAreCopied) {
  const auto model = test::read_ir(ir_with({{"string", 0, 8}, {"f32", 8, 4}}), "stringsXabcd");
  const auto buffer = serialize_weightless(model, {7, 0});
  EXPECT_EQ(take_apart(buffer.bytes()).constants, "stringsX");
}

TEST(WeightlessTest, ConstantsOfBodiesHaveAddressesToo) {
  test::IrWriter ir, inner;
  inner.constant_at("c", "f32", {}, 0, 4);
  ir.layer("TensorIterator", {},
           {.name = "loop", .inside = "<body>" + inner.body() + "</body>", .outputs = 0});
  ir.result(ir.parameter("x", "f32", {1}));
  const auto model = test::read_ir(ir.xml(), "abcd");
  const auto buffer = serialize_weightless(model, {7, 0});
  pugi::xml_document xml;
  ASSERT_TRUE(xml.load_string(take_apart(buffer.bytes()).xml.c_str()));
  const auto layers = xml.child("net").child("layers");
  const auto constant = layers.find_child_by_attribute("layer", "name", "loop")
                            .child("body")
                            .child("layers")
                            .child("layer");
  EXPECT_EQ(pointed_to(constant.child("rt_info").child("attribute")), "abcd");
}

TEST(WeightlessTest, AddressesOfTheFileAreNotBelieved) {
  const auto hostile =
      "<rt_info><attribute name=\"WeightsPointerAttribute\" version=\"0\" mp=\"64\" ms=\"4\" />"
      "<attribute name=\"other\" version=\"0\" /></rt_info>"
      "<rt_info><attribute name=\"WeightsPointerAttribute\" version=\"0\" mp=\"64\" ms=\"4\" />"
      "</rt_info>";
  const auto model = test::read_ir(ir_with({{"f32", 0, 4, hostile}}), "abcd");
  for (const std::size_t threshold : {0, 100}) {
    const auto buffer = serialize_weightless(model, {7, 0}, threshold);
    const auto xml = take_apart(buffer.bytes()).xml;
    EXPECT_FALSE(has(xml, "mp=\"64\""));
    EXPECT_TRUE(has(xml, "name=\"other\""));
  }
  const auto copied = serialize(model, {7, 0});
  const std::string_view all(reinterpret_cast<const char*>(copied.bytes().data()),
                             copied.bytes().size());
  EXPECT_FALSE(has(all, "mp=\"64\""));
}

TEST(WeightlessTest, AddedConstantsLiveAsLongAsTheResult) {
  auto buffer = [] {
    auto model = test::read_ir(test::identity_ir("f32", {1, 3, 4, 4}), "");
    model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8)));
    return serialize_weightless(model, {7, 0});
  }();
  pugi::xml_document xml;
  ASSERT_TRUE(xml.load_string(take_apart(buffer.bytes()).xml.c_str()));
  const auto constant =
      xml.child("net").child("layers").find_child_by_attribute("layer", "type", "Const");
  const auto attribute = constant.child("rt_info").child("attribute");
  // The first constant is the shape of the frame's rows, two for each result.
  ASSERT_EQ(attribute.attribute("ms").as_uint(), 32U);
  std::vector<std::int64_t> shape(4);
  std::memcpy(shape.data(), pointed_to(attribute).data(), 32);
  EXPECT_EQ(shape, (std::vector<std::int64_t>{1, 4, 2, 24}));
}

TEST(WeightlessTest, TheMappingOutlivesTheModel) {
  const auto buffer = serialize_weightless(test::read_ir(test::multiply_ir(), "abcd"), {7, 0});
  pugi::xml_document xml;
  ASSERT_TRUE(xml.load_string(take_apart(buffer.bytes()).xml.c_str()));
  EXPECT_EQ(pointed_to(attribute_of(xml, "two")), "abcd");
}

TEST(WeightlessTest, HoldsNoWeights) {
  constexpr int kSize = 64 << 20;
  auto xml = ir_with({{"u8", 0, kSize}});
  const TempDir dir;
  std::ofstream(dir.path() / "model.bin").close();
  std::filesystem::resize_file(dir.path() / "model.bin", kSize);
  const auto model = Model::read(dir.write("model.xml", xml));
  EXPECT_LT(serialize_weightless(model, {7, 0}).bytes().size(), 4096U);
}

TEST(WeightlessTest, OldIrsAreRefused) {
  const auto model = test::read_ir(ir_with({{"f32", 0, 4}}, "10"), "abcd");
  EXPECT_FALSE(can_be_weightless(model));
  expect_error(ErrorCode::kUnsupported, "IR of version 10", [&] {
    serialize_weightless(model, {7, 0});
  });
}

TEST(ContentHashTest, IsTheSameForTheSameContent) {
  EXPECT_EQ(content_hash(test::read_ir(test::multiply_ir(), "abcd")),
            content_hash(test::read_ir(test::multiply_ir(), "abcd")));
}

TEST(ContentHashTest, DependsOnTheText) {
  EXPECT_NE(content_hash(test::read_ir(test::identity_ir("f32", {1, 3, 4, 4}), "")),
            content_hash(test::read_ir(test::identity_ir("f32", {1, 3, 4, 5}), "")));
}

TEST(ContentHashTest, DependsOnTheWeights) {
  EXPECT_NE(content_hash(test::read_ir(test::multiply_ir(), "abcd")),
            content_hash(test::read_ir(test::multiply_ir(), "abce")));
}

TEST(ContentHashTest, DependsOnEdits) {
  auto model = test::read_ir(test::identity_ir("f32", {1, 3, 4, 4}), "");
  const auto before = content_hash(model);
  const auto copy = model;
  auto preprocess = model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8));
  preprocess.mean = {1};
  model.add_preprocess(preprocess);
  EXPECT_NE(content_hash(model), before);
  EXPECT_EQ(content_hash(copy), before);
}

TEST(ContentHashTest, DependsOnAddedConstants) {
  const auto with_mean = [](float mean) {
    auto model = test::read_ir(test::identity_ir("f32", {1, 3, 4, 4}), "");
    auto preprocess = model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8));
    preprocess.mean = {mean};
    model.add_preprocess(preprocess);
    return content_hash(model);
  };
  EXPECT_NE(with_mean(1), with_mean(2));
}

/// A megabyte that a thousand constants share would be copied a thousand times.
TEST(WeightlessTest, ConstantsThatOverlapAreNotCopiedAgainAndAgain) {
  const auto two = ir_with({{"f32", 0, 4}, {"f32", 2, 4}});
  const auto model = test::read_ir(two, "abcdef");
  EXPECT_TRUE(has(thrown_by([&] { serialize_weightless(model, {7, 0}, 100); }), "overlap"));
  EXPECT_NO_THROW(serialize_weightless(model, {7, 0}, 0));
}

/// Another process fills in the addresses that are left open.
TEST(WeightlessTest, AddressesThatAreLeftOpenAreListed) {
  const auto model = test::read_ir(ir_with({{"f32", 4, 4}}), "abcdefgh");
  const auto portable = serialize_portable(prepare_text(model, {7, 0}), {7, 0}, 0);
  ASSERT_EQ(portable.addresses.size(), 1U);
  EXPECT_EQ(portable.addresses[0].offset, 4U);
  const std::string_view all(reinterpret_cast<const char*>(portable.model.bytes().data()),
                             portable.model.bytes().size());
  EXPECT_EQ(all.substr(portable.addresses[0].place - 4, 25), "mp=\"00000000000000000004\"");
  EXPECT_TRUE(serialize_portable(prepare_text(model, {7, 0}), {7, 0}, 100).addresses.empty());
}

}  // namespace
}  // namespace npu::ir::weightless_test
