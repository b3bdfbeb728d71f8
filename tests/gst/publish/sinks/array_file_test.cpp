#include "publish/sinks/array_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <system_error>

#include <npucore/error.hpp>

#include "hand_made_frames.hpp"

namespace gstnpu {
namespace {

using gstnpu_test::FileSizeLimit;
using gstnpu_test::TempFolder;

TEST(ArrayFileTest, IsAnArrayAfterEachLine) {
  const TempFolder folder;
  ArrayFile file(folder.file("out"), false);
  EXPECT_EQ(folder.read("out"), "[\n]\n");
  EXPECT_TRUE(file.write("{\"a\":1}\n"));
  EXPECT_EQ(folder.read("out"), "[\n{\"a\":1}\n]\n");
  EXPECT_TRUE(file.write("{\"b\":2}\n"));
  EXPECT_EQ(folder.read("out"), "[\n{\"a\":1},\n{\"b\":2}\n]\n");
}

TEST(ArrayFileTest, ReplacesWhatWasThere) {
  const TempFolder folder;
  folder.write("out", std::string(100, 'x'));
  ArrayFile file(folder.file("out"), false);
  EXPECT_EQ(folder.read("out"), "[\n]\n");
}

// As logrotate does it with copytruncate.
TEST(ArrayFileTest, BeginsAnewWhereTheFileWasEmptied) {
  const TempFolder folder;
  ArrayFile file(folder.file("out"), false);
  EXPECT_TRUE(file.write("1\n"));
  ASSERT_EQ(::truncate(folder.file("out").c_str(), 0), 0);
  EXPECT_TRUE(file.write("2\n"));
  EXPECT_TRUE(file.write("3\n"));
  EXPECT_EQ(folder.read("out"), "[\n2,\n3\n]\n");
}

TEST(ArrayFileTest, AddsToAnArray) {
  struct Row {
    const char *before, *after;
  };
  for (const auto& [before, after] :
       {Row{"", "[\n7\n]\n"}, Row{"[]", "[\n7\n]\n"}, Row{"[\n]\n \n", "[\n7\n]\n"},
        Row{"[1]", "[1,\n7\n]\n"}, Row{"[[]]\n", "[[],\n7\n]\n"},
        Row{"[1\n]\n\n\n\n\n\n\n", "[1,\n7\n]\n"}}) {
    const TempFolder folder;
    folder.write("out", before);
    {
      ArrayFile file(folder.file("out"), true);
      EXPECT_TRUE(file.write("7\n"));
    }
    EXPECT_EQ(folder.read("out"), after) << before;
  }
}

TEST(ArrayFileTest, AddsToNothingElse) {
  for (const char* before : {"{\"a\":1}\n", "]", "\n"}) {
    const TempFolder folder;
    folder.write("out", before);
    EXPECT_THROW(ArrayFile(folder.file("out"), true), npu::Error) << before;
    EXPECT_EQ(folder.read("out"), before);
  }
}

TEST(ArrayFileTest, IsNoBrokerAndShowsNoPassword) {
  for (const char* location : {"kafka://me:secret@broker/a", "mqtt://me:secret@broker/a"}) {
    try {
      ArrayFile(location, false);
      FAIL() << location << " was taken";
    } catch (const npu::Error& error) {
      EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    }
  }
}

TEST(ArrayFileTest, TakesBackWhatDidNotFit) {
  const TempFolder folder;
  ArrayFile file(folder.file("out"), false);
  EXPECT_TRUE(file.write("1\n"));
  {
    const FileSizeLimit limit(40);
    EXPECT_THROW(file.write(std::string(50, '2') + "\n"), std::system_error);
    EXPECT_EQ(folder.read("out"), "[\n1\n]\n");
  }
  EXPECT_TRUE(file.write("3\n"));
  EXPECT_EQ(folder.read("out"), "[\n1,\n3\n]\n");
}

}  // namespace
}  // namespace gstnpu
