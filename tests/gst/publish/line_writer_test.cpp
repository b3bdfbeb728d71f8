#include "publish/line_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "hand_made_frames.hpp"

namespace gstnpu {
namespace {

using gstnpu_test::FileSizeLimit;
using gstnpu_test::TempFolder;

std::string line(char letter, std::size_t size) {
  return std::string(size, letter) + "\n";
}

// The file ends within the second line.
TEST(LineWriterTest, TakesBackWhatDidNotFit) {
  const TempFolder folder;
  LineWriter writer(folder.file("out"), {.append = false, .flush_always = true});
  EXPECT_TRUE(writer.write(line('a', 50)));
  {
    const FileSizeLimit limit(80);
    EXPECT_THROW(writer.write(line('b', 50)), std::system_error);
    EXPECT_EQ(folder.read("out"), line('a', 50));
  }
  EXPECT_TRUE(writer.write(line('c', 50)));
  EXPECT_EQ(folder.read("out"), line('a', 50) + line('c', 50));
}

TEST(LineWriterTest, LosesOneLineForEachFailure) {
  const TempFolder folder;
  LineWriter writer(folder.file("out"), {});
  for (const char letter : {'a', 'b', 'c', 'd'}) EXPECT_TRUE(writer.write(line(letter, 50)));
  EXPECT_EQ(writer.held(), 4U);
  {
    const FileSizeLimit limit(120);
    EXPECT_THROW(writer.flush(), std::system_error);
    EXPECT_EQ(writer.held(), 1U);
  }
  EXPECT_TRUE(writer.flush());
  EXPECT_EQ(folder.read("out"), line('a', 50) + line('b', 50) + line('d', 50));
}

TEST(LineWriterTest, AppendsWithoutTouchingWhatWasThere) {
  const TempFolder folder;
  folder.write("out", "old\n");
  LineWriter writer(folder.file("out"), {.append = true, .flush_always = true});
  {
    const FileSizeLimit limit(30);
    EXPECT_THROW(writer.write(line('a', 50)), std::system_error);
  }
  EXPECT_TRUE(writer.write("b\n"));
  EXPECT_EQ(folder.read("out"), "old\nb\n");
}

TEST(LineWriterTest, IsInterruptedAndGoesOnWhereItWas) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const int reader = ::open(folder.file("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  LineWriter writer(folder.file("pipe"), {});
  writer.interrupt();
  while (writer.write(line('a', 999))) {
  }
  writer.resume();
  std::string got(1 << 20, '\0');
  const auto first = ::read(reader, got.data(), got.size());
  ASSERT_GT(first, 0);
  EXPECT_EQ(first % 1000, 0) << "whole lines";
  EXPECT_TRUE(writer.flush());
  EXPECT_EQ(::read(reader, got.data(), got.size()), 1000);
  ::close(reader);
}

}  // namespace
}  // namespace gstnpu
