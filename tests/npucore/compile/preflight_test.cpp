#include "compile/preflight.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "device/requirements.hpp"
#include "ir/elf_outputs.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

DeviceInfo device() {
  DeviceInfo info;
  info.platform = "4000";
  info.tiles = 6;
  info.compiler = {7, 5, 0};
  info.blob_elf = {1, 2, 7};
  info.blob_runtime = {11, 13, 0};
  info.driver_version = 17;
  return info;
}

struct FitRow {
  const char* name;
  ir::BuiltWith blob;
  const char* message;  ///< null: it fits
};

class Preflight : public ::testing::TestWithParam<FitRow> {};

TEST_P(Preflight, TellsWhatFits) {
  const auto check = [] { internal::check_fit("loading x", GetParam().blob, device()); };
  if (!GetParam().message) {
    EXPECT_NO_THROW(check());
    return;
  }
  expect_error(ErrorCode::kIncompatible, GetParam().message, check);
  expect_error(ErrorCode::kIncompatible, "the device: platform=4000 compiler=7.5 elf=1.2.7", check);
  EXPECT_EQ(internal::compatibility(GetParam().blob, device()), "UNSUPPORTED");
}

constexpr const char* kUpdateDriver = "update the NPU driver";
constexpr const char* kCompileAgain = "compile the model again with this driver";

INSTANTIATE_TEST_SUITE_P(
    Rows, Preflight,
    ::testing::Values(
        FitRow{"nothing_known", {}, nullptr},
        FitRow{"the_same", {"4000", {7, 5, 0}, {1, 2, 7}, {11, 13, 0}, 17}, nullptr},
        FitRow{"older_minor", {"4000", {}, {1, 0, 0}, {11, 2, 0}, 0}, nullptr},
        FitRow{"newer_patch", {"4000", {}, {1, 2, 9}, {11, 13, 5}, 0}, nullptr},
        FitRow{"another_compiler", {"4000", {6, 0, 0}, {1, 2, 7}, {11, 13, 0}, 3}, nullptr},
        FitRow{
            "other_platform", {"3720", {}, {}, {}, 0}, "for platform 3720, the device is a 4000"},
        FitRow{"all_tiles", {"4000", {}, {}, {}, 0, 6}, nullptr},
        FitRow{"more_tiles", {"4000", {}, {}, {}, 0, 7}, "for 7 tiles, the device has 6"},
        FitRow{"newer_elf", {"", {}, {2, 0, 0}, {}, 0}, kUpdateDriver},
        FitRow{"newer_elf_minor", {"", {}, {1, 3, 0}, {}, 0}, kUpdateDriver},
        FitRow{"newer_runtime", {"", {}, {}, {12, 0, 0}, 0}, kUpdateDriver},
        FitRow{"older_runtime", {"", {}, {}, {7, 0, 0}, 0}, kCompileAgain}),
    by_name);

template <class Value>
std::string bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// An ELF with one section.
std::string elf_with_section(const std::string& name, std::uint32_t type,
                             const std::string& content) {
  const std::string names = std::string("\0", 1) + name + std::string("\0.names\0", 8);
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = type;
  sections[1].sh_offset = sizeof(header) + sizeof(sections);
  sections[1].sh_size = content.size();
  sections[2].sh_name = static_cast<Elf64_Word>(names.size() - 7);
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sections[1].sh_offset + content.size();
  sections[2].sh_size = names.size();
  return bytes_of(header) + bytes_of(sections) + content + names;
}

/// One note, as Intel's compiler writes its versions: the two kinds have owners and types of their
/// own.
std::string elf_with_note(const std::string& section, std::array<std::uint32_t, 3> version) {
  const bool abi = section.ends_with("LoaderABIVersion");
  const std::uint32_t owner = abi ? 0x00554e47 : 0x0056494d, type = abi ? 1 : 0xa000;
  const std::uint32_t note[] = {4, 16, type, owner, 0, version[0], version[1], version[2]};
  return elf_with_section(section, SHT_NOTE, bytes_of(note));
}

/// The platform, as Intel's compiler writes it.
std::string elf_with_platform(const std::string& section, std::uint64_t platform) {
  constexpr std::uint32_t kType = 0x8aaaaaaf;
  const std::uint64_t content[] = {32, 0, 1, 8, platform};
  return elf_with_section(section, kType, bytes_of(content));
}

ir::BuiltWith versions_of(const std::string& elf) {
  ir::BlobView view;
  view.native = std::as_bytes(std::span(elf.data(), elf.size()));
  return internal::built_with(view, "x");
}

TEST(BuiltWith, ReadsTheNotesOfIntelsCompiler) {
  EXPECT_EQ(ir::describe(versions_of(elf_with_note(".note.LoaderABIVersion", {1, 2, 7}))),
            "elf=1.2.7");
  EXPECT_EQ(ir::describe(versions_of(elf_with_note("note.MappedInferenceVersion", {11, 4, 10}))),
            "runtime=11.4.10");
}

TEST(BuiltWith, ReadsThePlatformOfIntelsCompiler) {
  EXPECT_EQ(versions_of(elf_with_platform(".meta.PlatformInfo", 3)).platform, "3720");
  EXPECT_EQ(versions_of(elf_with_platform("meta.PlatformInfo", 4)).platform, "4000");
  EXPECT_EQ(versions_of(elf_with_platform("meta.PlatformInfo", 5)).platform, "5010");
  EXPECT_EQ(versions_of(elf_with_platform("meta.PlatformInfo", 5020)).platform, "5020");
  EXPECT_EQ(versions_of(elf_with_platform("meta.PlatformInfo", 7010)).platform, "7010");
  EXPECT_EQ(versions_of(elf_with_platform("meta.PlatformInfo", 6)).platform, "");
  EXPECT_EQ(versions_of(elf_with_section("meta.PlatformInfo", 0x8aaaaaaf, "short")).platform, "");
}

TEST(BuiltWith, ReadsTheWordsOfIntelsCompiler) {
  const auto words = [](const std::string& text) {
    return ir::describe(versions_of(elf_with_section("compatibility_string", 0x8aaaaab2, text)));
  };
  EXPECT_EQ(words(std::string("compiler=8.4;npu=4000;t=2;elf=1.2.2;mi=11.4.10\0", 47)),
            "platform=4000 tiles=2 compiler=8.4 elf=1.2.2 runtime=11.4.10");
  EXPECT_EQ(words("npu=5010;later=thing"), "platform=5010");
  EXPECT_EQ(words("no words at all"), "");
}

TEST(Requirements, AreWrittenAndReadInOpenVinosForm) {
  const ir::BuiltWith blob{"4000", {8, 4, 0}, {1, 2, 2}, {11, 4, 10}, 17, 4};
  const std::string words = internal::requirements_text(blob);
  EXPECT_EQ(words, "meta=2.0;ov=2026.4.1;desc=[compiler=8.4;npu=4000;t=4;elf=1.2.2;mi=11.4.10]");
  ir::BuiltWith read = internal::read_requirements(words);
  read.driver_version = blob.driver_version;
  EXPECT_EQ(read, blob);
  EXPECT_EQ(internal::requirements_text({}), "meta=2.0;ov=2026.4.1;desc=[]");
}

TEST(Requirements, ThatCannotBeReadAreNamed) {
  for (const char* words : {"desc=[npu=4000", "elf", "elf=", "elf=1.2.3.4", "mi=1.", "t=x",
                            "npu=-1", "compiler=99999999999"}) {
    expect_error(ErrorCode::kInvalidArgument, "cannot be read at",
                 [&] { internal::read_requirements(words); });
  }
}

/// Description of one output, as Intel's compiler writes it behind three other lists.
std::string description_of(std::vector<std::uint32_t> shape, std::uint64_t count = 1) {
  constexpr std::uint64_t kListBytes = 32, kTensorBytes = 0x180;
  std::string content;
  for (std::uint64_t list = 1; list <= 3; ++list) {
    const std::uint64_t header[] = {0, list * kListBytes, 0, 0};
    content += bytes_of(header);
  }
  const std::uint64_t header[] = {4 * kListBytes, 0, count, kTensorBytes};
  std::string tensor(kTensorBytes, '\0');
  std::copy_n(reinterpret_cast<const char*>(shape.data()), 4 * shape.size(), tensor.begin() + 0x48);
  tensor[0x174] = static_cast<char>(shape.size());
  return content + bytes_of(header) + tensor;
}

std::vector<Shape> outputs_of(const std::string& description) {
  constexpr std::uint32_t kType = 0x8aaaaaaa;
  const std::string elf = elf_with_section("MetadataSection", kType, description);
  return ir::elf_output_shapes(std::as_bytes(std::span(elf)), "x");
}

TEST(OutputShapes, AreReadAsIntelsCompilerTellsThem) {
  EXPECT_EQ(outputs_of(description_of({1, 3, 64, 48})), (std::vector<Shape>{{1, 3, 64, 48}}));
  EXPECT_EQ(outputs_of(description_of({})), std::vector<Shape>{{}});
}

TEST(OutputShapes, AreUnknownWhereTheDescriptionIsDamaged) {
  const std::string whole = description_of({1, 2});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(outputs_of(whole.substr(0, size)).empty()) << size;
  }
  EXPECT_TRUE(outputs_of(description_of({1, 2}, UINT64_MAX)).empty());
  EXPECT_TRUE(outputs_of(description_of({1, 2, 3, 4, 5, 6, 7, 8, 9})).empty());
}

TEST(BuiltWith, IsNotKnownFromOtherNotes) {
  EXPECT_EQ(ir::describe(versions_of(elf_with_note(".note.other", {1, 2, 7}))), "");
  std::string cut = elf_with_note(".note.LoaderABIVersion", {1, 2, 7});
  cut[sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size)] = 20;
  EXPECT_EQ(ir::describe(versions_of(cut)), "");
}

TEST(BuiltWith, IsNotReadOfAnElfWhoseSectionsShareOneLongName) {
  constexpr std::size_t kSections = 60000, kNameBytes = 1 << 16;
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = 1;
  Elf64_Shdr section = {};
  section.sh_offset = sizeof(header) + kSections * sizeof(section);
  section.sh_size = kNameBytes;
  std::string elf(reinterpret_cast<const char*>(&header), sizeof(header));
  for (std::size_t i = 0; i < kSections; ++i) {
    elf.append(reinterpret_cast<const char*>(&section), sizeof(section));
  }
  elf.append(kNameBytes, 'n');
  expect_error(ErrorCode::kInvalidArgument, "more than 16 MiB together", [&] { versions_of(elf); });
}

}  // namespace
}  // namespace npu::test
