// docs/formats.md shows whole files as bytes. Here they are written anew and compared.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "compile/cache/cache_entry.hpp"
#include "ir/blob_container.hpp"

#include "support.hpp"

namespace npu::test::formats_test {
namespace {

constexpr std::size_t kRow = 16;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// As `hexdump -C` prints it: rows that repeat the one before are "*".
std::string hexdump(const std::string& bytes) {
  std::string dump;
  bool repeats = false;
  std::array<char, 32> digits{};
  for (std::size_t at = 0; at < bytes.size(); at += kRow) {
    const auto row = bytes.substr(at, kRow);
    if (at > 0 && row == bytes.substr(at - kRow, kRow)) {
      if (!std::exchange(repeats, true)) {
        dump += "*\n";
      }
      continue;
    }
    repeats = false;
    std::snprintf(digits.data(), digits.size(), "%08zx", at);
    dump += digits.data();
    std::string shown;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto byte = static_cast<unsigned char>(row[i]);
      std::snprintf(digits.data(), digits.size(), i == kRow / 2 ? "  %02x" : " %02x", byte);
      dump += (i == 0 ? " " : "") + std::string(digits.data());
      shown += byte >= ' ' && byte <= '~' ? row[i] : '.';
    }
    dump += "  |" + shown + "|\n";
  }
  return dump;
}

/// The indented block behind the line "<!-- name -->".
std::string block_of_page(const std::string& name) {
  const auto page = read_file(std::getenv("FORMATS_MD"));
  const auto marker = "<!-- " + name + " -->\n\n";
  auto at = page.find(marker);
  if (at == std::string::npos) return "no such block: " + name;
  at += marker.size();
  std::string block;
  while (page.compare(at, 4, "    ") == 0) {
    const auto end = page.find('\n', at);
    block += page.substr(at + 4, end + 1 - at - 4);
    at = end + 1;
  }
  return block;
}

const std::string kElf =
    "\x7f"
    "ELF (20 bytes here)";

std::string blob_file() {
  ir::BlobDescription description;
  description.model_name = "square";
  description.inputs = {{"x", {"image"}, ElementType::kU8, {1, 8}}};
  description.outputs = {{"y", {}, ElementType::kF32, {1, 8}}};
  description.states = {{"sum", {std::byte{0}, std::byte{0xa5}}}};
  description.model_info = {{"labels", "cat dog"}};
  description.built_with = {"4000", {7, 26, 0}, {1, 0, 0}, {2, 3, 0}, 17};
  return kElf + text_of(ir::blob_trailer(kElf.size(), description, 7U << 16 | 26U));
}

std::string cache_file() {
  const std::string blob = kElf;
  const std::array parts = {std::as_bytes(std::span(blob))};
  return blob + text_of(internal::cache_entry_tail(parts, "npucore cache 2\nmodel 1234\n"));
}

TEST(FormatsPage, ShowsABlobFileAsItIsWritten) {
  const auto dump = hexdump(blob_file());
  EXPECT_EQ(block_of_page("blob"), dump) << "put this on the page:\n" << dump;
}

TEST(FormatsPage, ShowsACacheEntryAsItIsWritten) {
  const auto dump = hexdump(cache_file());
  EXPECT_EQ(block_of_page("cache entry"), dump) << "put this on the page:\n" << dump;
}

TEST(FormatsPage, ShowsABlobFileThatIsRead) {
  const auto file = blob_file();
  const auto view = ir::open_blob(std::as_bytes(std::span(file)), "square.blob");
  ASSERT_TRUE(view.description);
  EXPECT_EQ(view.native.size(), 4096U);
  EXPECT_EQ(view.description->states.at(0).initial.size(), 2U);
  EXPECT_EQ(view.description->built_with.driver_version, 17U);
}

}  // namespace
}  // namespace npu::test::formats_test
