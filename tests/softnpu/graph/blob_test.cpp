// The native binary: its bytes, and what happens to damaged ones.
#include "graph/blob.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "graph/image.hpp"
#include "support/expect.hpp"

namespace softnpu {
namespace {

constexpr BlobTarget kTarget{4000, {7, 2, 1}};
constexpr std::string_view kFlags = "--config PERF_COUNT=\"YES\"";
constexpr std::string_view kIr = "<net name=\"tiny\"/>";

using Bytes = std::vector<std::byte>;

Bytes sample() {
  const Bytes weights(100, std::byte{0x5a});
  size_t size = 0;
  const Mapping file = write_blob({kFlags, kIr, Weights(weights)}, kTarget, &size);
  return {file.base(), file.base() + size};
}

ze_result_t result_of_reading(const Bytes& file, const BlobTarget& device = kTarget) {
  try {
    read_blob(file, device);
    return ZE_RESULT_SUCCESS;
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()), "");
    return failure.result();
  }
}

template <class T>
void patch(Bytes& file, size_t offset, T value) {
  std::memcpy(file.data() + offset, &value, sizeof value);
}

constexpr size_t kNote = sizeof(Elf64_Ehdr) + 6 * sizeof(Elf64_Shdr);
constexpr size_t kNoteContent = kNote + sizeof(Elf64_Nhdr) + 8;

TEST(Blob, ComesBackAsItWasWritten) {
  const Bytes file = sample();
  const Blob blob = read_blob(file, kTarget);
  EXPECT_EQ(blob.parts.flags, kFlags);
  EXPECT_EQ(blob.parts.ir, kIr);
  ASSERT_EQ(blob.parts.weights.size(), 100u);
  EXPECT_EQ(blob.parts.weights[99], std::byte{0x5a});
  EXPECT_EQ(blob.size_bytes, file.size());
}

TEST(Blob, HasAligned64ByteWeights) {
  const Bytes file = sample();
  const Blob blob = read_blob(file, kTarget);
  EXPECT_EQ((blob.parts.weights.data() - file.data()) % 64, 0);
}

TEST(Blob, MayHaveNoWeights) {
  size_t size = 0;
  const Mapping file = write_blob({kFlags, kIr, Weights()}, kTarget, &size);
  EXPECT_TRUE(read_blob({file.base(), size}, kTarget).parts.weights.empty());
}

// The format's bytes: a change here breaks every blob that exists, and needs another format
// version.
TEST(Blob, BeginsWithTheseBytes) {
  constexpr unsigned char kHeader[] = {
      0x7f, 'E', 'L', 'F', 2,  1, 1, 0, 0,  0, 0,  0, 0, 0, 0, 0,  // 64 bits, little-endian
      0,    0,   0,   0,   1,  0, 0, 0, 0,  0, 0,  0, 0, 0, 0, 0,  // no type, no machine, no entry
      0,    0,   0,   0,   0,  0, 0, 0, 64, 0, 0,  0, 0, 0, 0, 0,  // section headers at 64
      0,    0,   0,   0,   64, 0, 0, 0, 0,  0, 64, 0, 6, 0, 3, 0};
  constexpr unsigned char kNoteBytes[] = {
      8, 0, 0, 0, 28,   0,    0, 0, 1, 0, 0, 0, 'S', 'o', 'f', 't', 'N', 'P', 'U', 0,  // the note
      2, 0, 0, 0, 0xa0, 0x0f, 0, 0, 0, 0, 1, 0};  // format 2, platform 4000, driver 1.0
  constexpr unsigned char kRuntime[] = {7, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0};
  const Bytes file = sample();
  EXPECT_EQ(std::memcmp(file.data(), kHeader, sizeof kHeader), 0);
  EXPECT_EQ(std::memcmp(file.data() + kNote, kNoteBytes, sizeof kNoteBytes), 0);
  EXPECT_EQ(std::memcmp(file.data() + kNoteContent + 16, kRuntime, sizeof kRuntime), 0);
}

TEST(Blob, IgnoresAContainersFooterBehindIt) {
  Bytes file = sample();
  const size_t own = file.size();
  file.resize(own + 500, std::byte{0xee});
  EXPECT_EQ(read_blob(file, kTarget).size_bytes, own);
}

TEST(Blob, IsRefusedInAnotherFormat) {
  for (const uint32_t version : {kBlobFormatVersion + 1, kBlobFormatVersion - 1}) {
    Bytes file = sample();
    patch<uint32_t>(file, kNoteContent, version);
    EXPECT_EQ(result_of_reading(file), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY) << version;
  }
}

TEST(Blob, NeedsARuntimeOfItsMajorVersionAndNoOlderMinor) {
  EXPECT_EQ(result_of_reading(sample(), {4000, {7, 2, 0}}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(result_of_reading(sample(), {4000, {7, 3, 0}}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(result_of_reading(sample(), {4000, {7, 1, 9}}), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
  EXPECT_EQ(result_of_reading(sample(), {4000, {6, 9, 9}}), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
  EXPECT_EQ(result_of_reading(sample(), {4000, {8, 9, 9}}), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
}

TEST(Blob, IsRefusedFromADriverOfANewerMajorVersion) {
  Bytes file = sample();
  patch<uint32_t>(file, kNoteContent + offsetof(BlobNote, driver_version), 2u << 16);
  EXPECT_EQ(result_of_reading(file), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
}

TEST(Blob, IsRefusedWhenItIsAnotherDevicesElfFile) {
  std::ifstream stream("/proc/self/exe", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  EXPECT_EQ(result_of_reading({bytes, bytes + text.size()}), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
}

TEST(Blob, IsRefusedWithADamagedIr) {
  Bytes file = sample();
  const Blob blob = read_blob(file, kTarget);
  file[static_cast<size_t>(blob.parts.ir.data() - reinterpret_cast<const char*>(file.data()))] ^=
      std::byte{1};
  EXPECT_EQ(result_of_reading(file), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

// Whatever a flipped bit makes of a length or an offset, the reader stays inside the file (run
// under ASan), and what it accepts is the content that was written.
TEST(Blob, SurvivesEveryFlippedBit) {
  const Bytes whole = sample();
  size_t refused = 0;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    // Exact allocation: one byte too far is an error that ASan sees.
    Bytes file(whole.begin(), whole.end());
    file[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    try {
      const Blob blob = read_blob(file, kTarget);
      EXPECT_EQ(blob.parts.ir, kIr) << "bit " << bit;
    } catch (const Failure&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, whole.size());
}

struct Lie {
  const char* name;
  size_t offset;
  uint64_t value;
};

class LyingHeaders : public testing::TestWithParam<Lie> {};

TEST_P(LyingHeaders, AreRefused) {
  Bytes file = sample();
  patch(file, GetParam().offset, GetParam().value);
  EXPECT_EQ(result_of_reading(file), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

constexpr size_t kIrHeader = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Shdr);
constexpr size_t kWeightsHeader = sizeof(Elf64_Ehdr) + 5 * sizeof(Elf64_Shdr);

INSTANTIATE_TEST_SUITE_P(
    Blob, LyingHeaders,
    testing::Values(
        Lie{"section_table_at_the_end_of_memory", offsetof(Elf64_Ehdr, e_shoff), UINT64_MAX - 63},
        Lie{"section_table_behind_the_file", offsetof(Elf64_Ehdr, e_shoff), 1u << 20},
        Lie{"ir_size_that_wraps_around", kIrHeader + offsetof(Elf64_Shdr, sh_size), UINT64_MAX - 8},
        Lie{"ir_offset_behind_the_file", kIrHeader + offsetof(Elf64_Shdr, sh_offset), UINT64_MAX},
        Lie{"weights_one_byte_too_long", kWeightsHeader + offsetof(Elf64_Shdr, sh_size), 101},
        Lie{"weights_of_many_gigabytes", kWeightsHeader + offsetof(Elf64_Shdr, sh_size),
            uint64_t{1} << 40}),
    by_name);

TEST(Runtime, IsOpenVinosUnlessAnotherIsAskedFor) {
  EXPECT_GE(runtime_version().major, 2026u);
}

}  // namespace
}  // namespace softnpu
