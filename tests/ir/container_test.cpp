#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <npucore/error.hpp>

#include "ir/blob_container.hpp"
#include "ir/blob_description.hpp"
#include "support/expect_error.hpp"

namespace npu::ir {
namespace {

using Bytes = std::vector<std::byte>;

Bytes to_bytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string to_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
std::string number(T value) {
  std::string text(sizeof(T), '\0');
  std::memcpy(text.data(), &value, sizeof(T));
  return text;
}

const std::string kElf =
    "\x7f"
    "ELF and what a driver put into it";

BlobDescription description() {
  BlobDescription description;
  description.model_name = "shapes <&> \"more\"";
  description.model_info = {{"labels", "cat dog"}, {"odd", "line\nend\ttab"}};
  description.inputs = {{"x/y", {"images/y"}, ElementType::kU8, {1, 1088, 2048, 1}},
                        {"scalar", {}, ElementType::kF16, {}}};
  description.outputs = {{"out", {"a,b", "c"}, ElementType::kF32, {1, 84, 8400}}};
  FrameInput input;
  input.preprocess.frame = FrameLayout::tight(PixelFormat::kNV12, 1919, 1079);
  input.preprocess.frame.planes = {{2048, 1088}, {2048, 544}};
  input.preprocess.frame.matrix = ColorMatrix::kBT2020;
  input.preprocess.frame.range = ColorRange::kFull;
  input.preprocess.input = "images";
  input.preprocess.resize = ResizeMode::kLetterbox;
  input.preprocess.pad_value = 0.1F;
  input.preprocess.channels = ChannelOrder::kBGR;
  input.preprocess.mean = {123.675F, 116.28F, 103.53F};
  input.preprocess.scale = {58.395F};
  input.geometry = {640, 480, 0.5, 140, 1919.0 / 640, 3};
  input.plane_inputs = {"images/y", "images/uv"};
  description.frame_input = input;
  description.states = {{"sum", {std::byte{0x00}, std::byte{0xa5}, std::byte{0xff}}},
                        {"zeros", {}}};
  return description;
}

Bytes npucore_blob() {
  auto blob = to_bytes(kElf);
  const auto trailer = blob_trailer(blob.size(), description(), 0x70008);
  blob.insert(blob.end(), trailer.begin(), trailer.end());
  return blob;
}

std::string padded_elf() {
  auto elf = kElf;
  elf.resize(4096);
  return elf;
}

/// As OpenVINO exports it: `fields` follow the version of the metadata.
std::string openvino_blob(std::uint16_t minor, const std::string& fields,
                          const std::string& gap = {}) {
  return padded_elf() + number(minor) + number(std::uint16_t{2}) + fields + gap +
         number(std::uint64_t{4096}) + "OVNPU";
}

std::string fields_up_to(int minor, std::uint8_t encrypted = 0, std::uint8_t type = 0,
                         std::uint64_t inits = 0) {
  std::string fields;
  for (const std::uint16_t part : {2026, 4, 1}) fields += number(part);
  if (minor >= 1) {
    fields += number(inits);
  }
  for (std::uint64_t i = 0; minor >= 1 && i < inits; ++i) fields += number(std::uint64_t{4096});
  if (minor >= 2) {
    fields += number(std::uint64_t{0});
  }
  if (minor >= 3) {
    fields += number(std::uint64_t{1}) + number(std::uint64_t{1});
    fields += number(std::uint16_t{9}) + "[N,C,H,W]" + number(std::uint16_t{0});
  }
  if (minor >= 4) {
    fields += number(std::uint32_t{0x70008});
  }
  if (minor >= 5) {
    fields += number(encrypted);
  }
  if (minor >= 6) {
    fields += number(std::uint64_t{4}) + "desc";
  }
  if (minor >= 7) {
    fields += number(type);
  }
  return fields;
}

TEST(ContainerTest, TrailerHasTheWrittenBytes) {
  BlobDescription small;
  small.model_name = "m";
  const std::string xml = "<npucore version=\"1\" model=\"m\" compiler=\"7.8\"/>";
  const auto trailer = to_text(blob_trailer(3, small, 0x70008));
  EXPECT_EQ(trailer.find_first_not_of('\0'), 4093U + 2);
  EXPECT_EQ(trailer.substr(4093), std::string("\x00\x00\x02\x00\xea\x07\x04\x00\x01\x00", 10) +
                                      xml + number(std::uint64_t{0x17acd34e0a4b550e}) +
                                      number(std::uint64_t{xml.size()}) + "NPUCORE1" +
                                      number(std::uint64_t{4096}) + "OVNPU");
}

TEST(ContainerTest, KeepsWhatTheBlobWasBuiltWith) {
  BlobDescription description;
  description.built_with = {"4000", {7, 5, 0}, {1, 2, 7}, {11, 13, 2}, 17};
  const std::string elf = padded_elf();
  const std::string file = elf + to_text(blob_trailer(elf.size(), description, 0x70005));
  const auto view = open_blob(std::as_bytes(std::span(file.data(), file.size())), "a.blob");
  ASSERT_TRUE(view.description);
  EXPECT_EQ(view.description->built_with, description.built_with);
}

TEST(ContainerTest, AWholePageNeedsNoPadding) {
  const auto trailer = to_text(blob_trailer(8192, {}, 0));
  EXPECT_EQ(trailer.substr(0, 4), std::string("\x00\x00\x02\x00", 4));
  EXPECT_EQ(trailer.substr(trailer.size() - 13), number(std::uint64_t{8192}) + "OVNPU");
}

TEST(ContainerTest, GivesTheBlobBackWithItsPadding) {
  const auto blob = npucore_blob();
  const auto view = open_blob(blob, "a.blob");
  EXPECT_EQ(to_text(view.native), padded_elf());
  EXPECT_EQ(view.native.data(), blob.data());
  EXPECT_EQ(view.writer, "npucore");
}

void expect_same(const Port& left, const Port& right) {
  EXPECT_EQ(left.name, right.name);
  EXPECT_EQ(left.tensor_names, right.tensor_names);
  EXPECT_EQ(left.type, right.type);
  EXPECT_EQ(left.shape, right.shape);
}

TEST(ContainerTest, GivesTheDescriptionBack) {
  const auto blob = npucore_blob();
  const auto found = open_blob(blob, "a.blob").description;
  const auto written = description();
  ASSERT_EQ(found->states.size(), written.states.size());
  for (std::size_t i = 0; i < written.states.size(); ++i) {
    EXPECT_EQ(found->states[i].id, written.states[i].id);
    EXPECT_EQ(found->states[i].initial, written.states[i].initial);
  }
  ASSERT_TRUE(found);
  EXPECT_EQ(found->model_name, written.model_name);
  EXPECT_EQ(found->model_info, written.model_info);
  ASSERT_EQ(found->inputs.size(), 2U);
  expect_same(found->inputs[0], written.inputs[0]);
  expect_same(found->inputs[1], written.inputs[1]);
  ASSERT_EQ(found->outputs.size(), 1U);
  expect_same(found->outputs[0], written.outputs[0]);
}

TEST(ContainerTest, GivesTheFrameInputBack) {
  const auto blob = npucore_blob();
  const auto found = open_blob(blob, "a.blob").description->frame_input;
  const auto written = *description().frame_input;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->preprocess.frame, written.preprocess.frame);
  EXPECT_EQ(found->preprocess.input, written.preprocess.input);
  EXPECT_EQ(found->preprocess.resize, written.preprocess.resize);
  EXPECT_EQ(found->preprocess.pad_value, written.preprocess.pad_value);
  EXPECT_EQ(found->preprocess.channels, written.preprocess.channels);
  EXPECT_EQ(found->preprocess.mean, written.preprocess.mean);
  EXPECT_EQ(found->preprocess.scale, written.preprocess.scale);
  EXPECT_EQ(found->plane_inputs, written.plane_inputs);
  EXPECT_EQ(found->geometry.model_width, written.geometry.model_width);
  EXPECT_EQ(found->geometry.model_height, written.geometry.model_height);
  EXPECT_EQ(found->geometry.offset_x, written.geometry.offset_x);
  EXPECT_EQ(found->geometry.offset_y, written.geometry.offset_y);
  EXPECT_EQ(found->geometry.scale_x, written.geometry.scale_x);
  EXPECT_EQ(found->geometry.scale_y, written.geometry.scale_y);
}

TEST(ContainerTest, GivesFramesOfEveryFormatBack) {
  for (const auto format : pixel_formats()) {
    BlobDescription written = description();
    written.frame_input->preprocess.frame = FrameLayout::tight(format, 33, 17);
    written.frame_input->plane_inputs.resize(written.frame_input->preprocess.frame.planes.size());
    const auto text = write_description(written, 0);
    EXPECT_EQ(read_description(text).frame_input->preprocess.frame,
              written.frame_input->preprocess.frame)
        << to_string(format);
  }
}

/// `expected` is said of a description that was made to hurt.
void expect_unreadable(const BlobDescription& written, const std::string& expected) {
  try {
    read_description(write_description(written, 0));
    ADD_FAILURE() << "not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), expected);
  }
}

TEST(ContainerTest, RefusesATensorOfMillionsOfDimensions) {
  BlobDescription written = description();
  written.outputs.front().shape.assign(3'000'000, 1);
  expect_unreadable(written, "a tensor of it has more than 64 dimensions");
}

TEST(ContainerTest, RefusesFramesOfThousandsOfPlanes) {
  BlobDescription written = description();
  written.frame_input->preprocess.frame.planes.resize(10'000, {64, 64});
  expect_unreadable(written, "its frames have more than 4 planes");
}

TEST(ContainerTest, TakesABareElf) {
  const auto blob = to_bytes(kElf);
  const auto view = open_blob(blob, "a.blob");
  EXPECT_EQ(to_text(view.native), kElf);
  EXPECT_FALSE(view.description);
  EXPECT_EQ(view.writer, "");
}

class OpenVinoMetadataTest : public testing::TestWithParam<int> {};

TEST_P(OpenVinoMetadataTest, IsRead) {
  const auto blob =
      to_bytes(openvino_blob(static_cast<std::uint16_t>(GetParam()), fields_up_to(GetParam())));
  const auto view = open_blob(blob, "a.blob");
  EXPECT_EQ(to_text(view.native), padded_elf());
  EXPECT_FALSE(view.description);
  EXPECT_EQ(view.writer, "OpenVINO 2026.4.1");
}

TEST_P(OpenVinoMetadataTest, MayHaveAGapBehindIt) {
  const auto blob = to_bytes(openvino_blob(static_cast<std::uint16_t>(GetParam()),
                                           fields_up_to(GetParam()), std::string(100, '\0')));
  EXPECT_EQ(to_text(open_blob(blob, "a.blob").native), padded_elf());
}

TEST_P(OpenVinoMetadataTest, IsRefusedWhereverItEnds) {
  const auto fields = fields_up_to(GetParam());
  for (std::size_t size = 0; size < fields.size(); ++size) {
    const auto blob =
        to_bytes(openvino_blob(static_cast<std::uint16_t>(GetParam()), fields.substr(0, size)));
    EXPECT_THROW(open_blob(blob, "a.blob"), Error) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Minor, OpenVinoMetadataTest, testing::Range(0, 8));

struct Refused : Named {
  std::string file;
  ErrorCode code;
  const char* expected;
};

class RefusedContainerTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedContainerTest, SaysWhy) {
  const auto blob = to_bytes(GetParam().file);
  const std::string said =
      expect_error(GetParam().code, GetParam().expected, [&] { open_blob(blob, "some.blob"); });
  EXPECT_TRUE(has(said, "'some.blob'"));
}

std::string blob_with_payload_size(std::uint64_t size) {
  return padded_elf() + std::string("\0\0\2\0\0\0\0\0\0\0", 10) + number(size) + "OVNPU";
}

std::string replaced_version(std::uint16_t major, std::uint16_t minor) {
  return padded_elf() + number(minor) + number(major) + fields_up_to(0) +
         number(std::uint64_t{4096}) + "OVNPU";
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a, 64 bits
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

std::string with_description(const std::string& xml) {
  return openvino_blob(0, fields_up_to(0),
                       xml + number(hash_of(xml)) + number(std::uint64_t{xml.size()}) + "NPUCORE1");
}

std::string changed(std::string text, std::size_t from_end) {
  text[text.size() - from_end] = static_cast<char>(text[text.size() - from_end] ^ 1);
  return text;
}

const std::string kOurs = to_text(npucore_blob());
constexpr std::uint64_t kHuge = UINT64_MAX;

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedContainerTest,
    testing::Values(
        Refused{"empty", "", ErrorCode::kInvalidArgument, "it is empty"},
        Refused{"text", "hello", ErrorCode::kInvalidArgument, "does not start with an ELF header"},
        Refused{"an_ir", "<?xml version=\"1.0\"?><net>", ErrorCode::kInvalidArgument,
                "load it as a model"},
        Refused{"core_cache",
                "<?xml version=\"1.0\"?>\n<compiled_blob ie_version=\"2026\" />\n" + kOurs,
                ErrorCode::kUnsupported, "OpenVINO's model cache"},
        Refused{"container_3", "OVNPU\0\0\3", ErrorCode::kUnsupported, "container version 3"},
        Refused{"not_elf", "garbage" + kOurs.substr(7), ErrorCode::kUnsupported, "is not an ELF"},
        Refused{"metadata_3", replaced_version(3, 0), ErrorCode::kUnsupported,
                "its metadata has version 3.0"},
        Refused{"metadata_2_8", replaced_version(2, 8), ErrorCode::kUnsupported,
                "its metadata has version 2.8"},
        Refused{"init_schedules", openvino_blob(1, fields_up_to(1, 0, 0, 2)),
                ErrorCode::kUnsupported, "2 init schedules"},
        Refused{"endless_init_schedules", openvino_blob(1, fields_up_to(0) + number(kHuge)),
                ErrorCode::kUnsupported, "init schedules"},
        Refused{"encrypted_payload", "#~!?" + openvino_blob(5, fields_up_to(5, 1)).substr(4),
                ErrorCode::kUnsupported, "it is encrypted; export it without"},
        Refused{"encrypted", openvino_blob(5, fields_up_to(5, 1)), ErrorCode::kUnsupported,
                "it is encrypted"},
        Refused{"llvm", openvino_blob(7, fields_up_to(7, 0, 1)), ErrorCode::kUnsupported,
                "LLVM code"},
        Refused{"bytecode", openvino_blob(7, fields_up_to(7, 0, 2)), ErrorCode::kUnsupported,
                "bytecode"},
        Refused{"endless_layouts",
                openvino_blob(3, fields_up_to(2) + number(kHuge) + number(kHuge)),
                ErrorCode::kInvalidArgument, "in the middle of a field"},
        Refused{"endless_text", openvino_blob(6, fields_up_to(5) + number(kHuge)),
                ErrorCode::kInvalidArgument, "in the middle of a field"},
        Refused{"payload_0", blob_with_payload_size(0), ErrorCode::kInvalidArgument,
                "should have 0 bytes"},
        Refused{"payload_huge", blob_with_payload_size(kHuge), ErrorCode::kInvalidArgument,
                "should have 18446744073709551615 bytes"},
        Refused{"payload_up_to_the_footer", blob_with_payload_size(4096 + 7),
                ErrorCode::kInvalidArgument, "should have 4103 bytes"},
        Refused{"only_magic",
                "\x7f"
                "ELFOVNPU",
                ErrorCode::kInvalidArgument, "only 9 bytes"},
        Refused{"description_flipped", changed(kOurs, 60), ErrorCode::kInvalidArgument,
                "does not match its checksum"},
        Refused{"description_size", changed(kOurs, 14 + 8), ErrorCode::kInvalidArgument,
                "its description should have"},
        Refused{"description_small",
                padded_elf() + std::string("\0\0\2\0\0\0\0\0\0\0", 10) + "NPUCORE1" +
                    number(std::uint64_t{4096}) + "OVNPU",
                ErrorCode::kInvalidArgument, "its description is truncated"},
        Refused{"description_is_no_xml", with_description("no xml"), ErrorCode::kInvalidArgument,
                "its description cannot be read"},
        Refused{"description_with_more_inputs_than_planes",
                with_description(
                    "<npucore version=\"1\" model=\"\"><frame_input><preprocess input=\"\" "
                    "resize=\"stretch\" pad_value=\"0\" channels=\"RGB\"><frame "
                    "format=\"GRAY8\" width=\"8\" height=\"8\" crop_left=\"0\" crop_top=\"0\" "
                    "matrix=\"bt601\" range=\"full\"><plane stride_bytes=\"8\" rows=\"8\"/>"
                    "</frame></preprocess><geometry model_width=\"8\" model_height=\"8\" "
                    "offset_x=\"0\" offset_y=\"0\" scale_x=\"1\" scale_y=\"1\"/>"
                    "<plane_input name=\"y\"/><plane_input name=\"uv\"/></frame_input></npucore>"),
                ErrorCode::kInvalidArgument, "its frames have 1 planes for 2 inputs"},
        Refused{"description_of_the_future", with_description("<npucore version=\"2\"/>"),
                ErrorCode::kInvalidArgument, "<npucore> has no usable version: '2'"},
        Refused{"description_with_half_a_byte",
                with_description("<npucore version=\"1\" model=\"\"><state id=\"a\" "
                                 "initial=\"abc\"/></npucore>"),
                ErrorCode::kInvalidArgument, "<state> has no usable initial"},
        Refused{"description_with_no_hexadecimal_digit",
                with_description("<npucore version=\"1\" model=\"\"><state id=\"a\" "
                                 "initial=\"0g\"/></npucore>"),
                ErrorCode::kInvalidArgument, "<state> has no usable initial"},
        Refused{"description_with_bad_frame",
                with_description("<npucore version=\"1\" model=\"\"><frame_input><preprocess "
                                 "input=\"\" resize=\"zoom\"/></frame_input></npucore>"),
                ErrorCode::kInvalidArgument, "'zoom' is not a resize mode"}),
    by_name);

TEST(CutOffTest, EveryLengthOfTheTrailerIsRefusedOrABareElf) {
  const auto blob = npucore_blob();
  const std::span<const std::byte> bytes = blob;
  for (std::size_t size = 4; size < blob.size(); ++size) {
    // If the cut is in the padding (or in the two zeros after it) the whole ELF is still there.
    if (size <= 4096 + 2) {
      const auto view = open_blob(bytes.first(size), "cut.blob");
      EXPECT_EQ(view.native.size(), size);
      EXPECT_FALSE(view.description);
    } else {
      EXPECT_THROW(open_blob(bytes.first(size), "cut.blob"), Error) << size;
    }
  }
}

TEST(CutOffTest, EveryFlippedByteOfTheTrailerIsRefusedOrHarmless) {
  const auto original = npucore_blob();
  const std::span<const std::byte> trailer(original.data() + kElf.size(),
                                           original.size() - kElf.size());
  const std::size_t versions = 4096 + 2 * sizeof(std::uint16_t);
  const std::size_t xml =
      versions + 3 * sizeof(std::uint16_t);            // the OpenVINO that it was built with
  const std::size_t magic = original.size() - 13 - 8;  // behind hash and size
  for (std::size_t at = 4096; at < original.size(); ++at) {
    for (const auto flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      auto blob = original;
      blob[at] ^= flip;
      const bool in_versions = at >= versions && at < xml;
      const bool in_magic = at >= magic && at < magic + 8;
      try {
        const auto view = open_blob(blob, "flipped.blob");
        ASSERT_TRUE(in_versions || in_magic || at < versions) << "byte " << at << " was not missed";
        ASSERT_EQ(to_text(view.native), padded_elf()) << "byte " << at;
        ASSERT_EQ(view.description.has_value(), !in_magic) << "byte " << at;
        if (in_magic) continue;
        const auto read_back = blob_trailer(kElf.size(), *view.description, 0x70008);
        ASSERT_TRUE(std::ranges::equal(read_back, trailer)) << "byte " << at;
      } catch (const Error& error) {
        ASSERT_FALSE(in_versions || in_magic) << "byte " << at << ": " << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace npu::ir
