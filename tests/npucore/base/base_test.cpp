#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>

#include "base/atomic_file.hpp"
#include "base/enum_names.hpp"
#include "base/mapped_file.hpp"
#include "base/page_buffer.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "support/foreign_locale.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void write_atomically(const std::filesystem::path& path, std::string_view first,
                      std::string_view second = {}) {
  const std::array parts = {bytes_of(first), bytes_of(second)};
  base::write_file_atomically(path, parts);
}

std::size_t entries(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(Text, JoinsWhatStreamsPrint) {
  EXPECT_EQ(base::text("a", 1, '-', 2.5), "a1-2.5");
}

TEST(Text, PutsSeparatorsBetweenItemsOnly) {
  EXPECT_EQ(base::join(std::vector{1, 2, 3}, ", "), "1, 2, 3");
  EXPECT_EQ(base::join(std::vector<int>{}, ", "), "");
}

TEST(Text, IsTheSameInEveryLocale) {
  const ForeignNumbers german;
  EXPECT_EQ(base::text(1920, ' ', 1234567.5, ' ', true), "1920 1.23457e+06 1");
  EXPECT_EQ(base::text(0.5F), "0.5");
  EXPECT_EQ(base::join(Shape{1, 1, 1080, 1920}, ","), "1,1,1080,1920");
  EXPECT_EQ(to_string(Shape{1, 1080, 1920}), "[1,1080,1920]");
}

TEST(Text, ChangesTheCaseOfEnglishInEveryLocale) {
  const ForeignLanguage turkish("tr_TR");
  if (!turkish.is_usable()) {
    GTEST_SKIP() << "localedef cannot make tr_TR here";
  }
  EXPECT_EQ(base::upper("mixed i 1 \xc4\xb1"), "MIXED I 1 \xc4\xb1");
  EXPECT_EQ(base::lower("MIXED I 1 \xc4\xb0"), "mixed i 1 \xc4\xb0");
  EXPECT_EQ(base::element_type_from_string("I64"), ElementType::kI64);
  EXPECT_EQ(base::element_type_from_string("F8E4M3"), ElementType::kF8E4M3);
}

TEST(Text, NamesErrno) {
  EXPECT_EQ(base::errno_text(ENOENT), "No such file or directory (errno 2)");
}

TEST(UniqueFd, ClosesOnce) {
  const std::size_t before = count_open_fds();
  {
    base::UniqueFd first(make_memfd(1));
    base::UniqueFd second = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_TRUE(second);
    second = base::UniqueFd(make_memfd(1));
    EXPECT_EQ(count_open_fds(), before + 1);
  }
  EXPECT_EQ(count_open_fds(), before);
}

TEST(MappedFile, ShowsTheBytesAndZerosToTheEndOfThePage) {
  const TempDir folder;
  write_file(folder.path() / "f", "hello");
  const auto file = base::MappedFile::open(folder.path() / "f");
  ASSERT_EQ(file.bytes().size(), 5u);
  EXPECT_EQ(std::memcmp(file.bytes().data(), "hello", 5), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.bytes().data()) % base::page_size_bytes(), 0u);
  EXPECT_EQ(file.bytes().data()[base::page_size_bytes() - 1], std::byte{0});
}

TEST(MappedFile, TakesAnEmptyFile) {
  const TempDir folder;
  write_file(folder.path() / "f", "");
  EXPECT_TRUE(base::MappedFile::open(folder.path() / "f").bytes().empty());
}

TEST(MappedFile, NamesAMissingFile) {
  expect_error(ErrorCode::kNotFound, "/no/such/file: open: No such file or directory",
               [] { base::MappedFile::open("/no/such/file"); });
}

TEST(MappedFile, RefusesAFolder) {
  expect_error(ErrorCode::kIo, "not a regular file", [] { base::MappedFile::open("/tmp"); });
}

TEST(PageBuffer, CopiesToPages) {
  const auto buffer = base::PageBuffer::copy_of(bytes_of("hello"));
  EXPECT_EQ(std::memcmp(buffer.bytes().data(), "hello", 5), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % base::page_size_bytes(), 0u);
  EXPECT_EQ(buffer.bytes().data()[base::page_size_bytes() - 1], std::byte{0});
}

TEST(RoundUpToPage, KeepsWholePages) {
  const std::size_t page = base::page_size_bytes();
  EXPECT_EQ(base::round_up_to_page(0), 0u);
  EXPECT_EQ(base::round_up_to_page(1), page);
  EXPECT_EQ(base::round_up_to_page(page), page);
  EXPECT_EQ(base::round_up_to_page(page + 1), 2 * page);
}

TEST(AtomicFile, WritesThePartsInOrder) {
  const TempDir folder;
  write_atomically(folder.path() / "f", "one ", "two");
  EXPECT_EQ(read_file(folder.path() / "f"), "one two");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(AtomicFile, ReplacesAFileWhoseReadersKeepTheOldOne) {
  const TempDir folder;
  write_file(folder.path() / "f", "old");
  const auto old = base::MappedFile::open(folder.path() / "f");
  write_atomically(folder.path() / "f", "new!");
  EXPECT_EQ(std::memcmp(old.bytes().data(), "old", 3), 0);
  EXPECT_EQ(read_file(folder.path() / "f"), "new!");
}

TEST(AtomicFile, HonoursTheUmask) {
  const TempDir folder;
  const mode_t before = ::umask(027);
  write_atomically(folder.path() / "f", "x");
  ::umask(before);
  struct stat status = {};
  ASSERT_EQ(::stat((folder.path() / "f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(AtomicFile, LeavesNothingBehindWhenItFails) {
  const TempDir folder;
  std::filesystem::create_directory(folder.path() / "f");
  write_file(folder.path() / "f" / "occupied", "");
  expect_error(ErrorCode::kIo, "it is a folder",
               [&] { write_atomically(folder.path() / "f", "x"); });
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(AtomicFile, NamesAMissingFolder) {
  expect_error(ErrorCode::kNotFound, "/no/such/folder/f",
               [] { write_atomically("/no/such/folder/f", "x"); });
}

}  // namespace
}  // namespace npu::test
