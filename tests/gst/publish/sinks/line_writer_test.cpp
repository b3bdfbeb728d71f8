#include "publish/sinks/line_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <future>
#include <optional>
#include <system_error>
#include <thread>

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

// As a process that was killed leaves it.
TEST(LineWriterTest, AppendsBehindHalfALineOnANewOne) {
  const TempFolder folder;
  folder.write("out", "{\"fra");
  for (const char* text : {"a\n", "b\n"}) {
    LineWriter writer(folder.file("out"), {.append = true});
    EXPECT_TRUE(writer.write(text));
    EXPECT_TRUE(writer.flush());
  }
  EXPECT_EQ(folder.read("out"), "{\"fra\na\nb\n");
}

// As logrotate does it with copytruncate.
TEST(LineWriterTest, GoesOnAtTheBeginningOfAFileThatWasEmptied) {
  const TempFolder folder;
  LineWriter writer(folder.file("out"), {.append = false, .flush_always = true});
  EXPECT_TRUE(writer.write("a\n"));
  ASSERT_EQ(::truncate(folder.file("out").c_str(), 0), 0);
  EXPECT_TRUE(writer.write("b\n"));
  EXPECT_EQ(folder.read("out"), "b\n");
}

/// Standard output into a pipe, for as long as it lives: failures of tests would go there, too.
class PipedStdout {
 public:
  PipedStdout() : saved_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0);
    ::dup2(ends_[1], STDOUT_FILENO);
  }
  ~PipedStdout() {
    ::dup2(saved_, STDOUT_FILENO);
    for (const int fd : {saved_, ends_[0], ends_[1]}) ::close(fd);
  }
  PipedStdout(const PipedStdout&) = delete;
  PipedStdout& operator=(const PipedStdout&) = delete;

  bool is_full() const {
    pollfd room{.fd = ends_[1], .events = POLLOUT, .revents = 0};
    return ::poll(&room, 1, 0) == 0;
  }
  std::string read() const {
    std::string got(1 << 20, '\0');
    const auto size = ::read(ends_[0], got.data(), got.size());
    got.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return got;
  }

 private:
  int saved_;
  std::array<int, 2> ends_{};
};

// As of services that begin with neither input nor output: the file gets the number of one.
TEST(LineWriterTest, ClosesAFileThatHasTheNumberOfStdout) {
  const TempFolder folder;
  constexpr std::array kStandard = {STDIN_FILENO, STDOUT_FILENO};
  const std::array<int, 2> saved = {::dup(STDIN_FILENO), ::dup(STDOUT_FILENO)};
  for (const int fd : kStandard) ::close(fd);
  struct stat written {};
  {
    const LineWriter writer(folder.file("out"), {});
    ::fstat(STDOUT_FILENO, &written);
  }
  const bool is_open = ::fcntl(STDOUT_FILENO, F_GETFD) != -1;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    ::dup2(saved[i], kStandard[i]);
    ::close(saved[i]);
  }
  EXPECT_TRUE(S_ISREG(written.st_mode));
  EXPECT_FALSE(is_open);
}

// A stop leaves half of a long line where the reader is slow.
TEST(LineWriterTest, BeginsOnANewLineBehindHalfALineOfAnother) {
  std::optional<PipedStdout> piped(std::in_place);
  std::string first, second;
  {
    LineWriter stopped("-", {});
    stopped.interrupt();
    while (stopped.write(line('a', 2 * PIPE_BUF + 999))) {
    }
    first = piped->read();
    LineWriter other("-", {});
    other.write("b\n");
    other.write("c\n");
    second = piped->read();
  }
  piped.reset();
  EXPECT_EQ(first.back(), 'a') << "half a line";
  EXPECT_EQ(second, "\nb\nc\n");
}

TEST(LineWriterTest, BeginsOnANewLineBehindHalfALineOfAFormerOne) {
  std::optional<PipedStdout> piped(std::in_place);
  {
    LineWriter stopped("-", {});
    stopped.interrupt();
    while (stopped.write(line('a', 2 * PIPE_BUF + 999))) {
    }
  }
  const std::string first = piped->read();
  LineWriter next("-", {});
  next.write("b\n");
  const std::string second = piped->read();
  piped.reset();
  EXPECT_EQ(first.back(), 'a') << "half a line";
  EXPECT_EQ(second, "\nb\n");
}

// Another reader finds what the pipe holds of the line that was lost.
TEST(LineWriterTest, BeginsOnANewLineBehindOneThatWasLost) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const auto open_reader = [&] {
    return ::open(folder.file("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  };
  int reader = open_reader();
  LineWriter writer(folder.file("pipe"), {});
  writer.interrupt();
  while (writer.write(line('a', 2 * PIPE_BUF + 999))) {
  }
  ::close(reader);
  EXPECT_THROW(writer.flush(), std::system_error);
  EXPECT_EQ(writer.held(), 0U);
  reader = open_reader();
  std::string got(1 << 20, '\0');
  const auto half = ::read(reader, got.data(), got.size());
  ASSERT_GT(half, 0);
  EXPECT_EQ(got[static_cast<std::size_t>(half) - 1], 'a') << "half a line";
  EXPECT_TRUE(writer.write("b\n"));
  ASSERT_EQ(::read(reader, got.data(), got.size()), 3);
  EXPECT_EQ(got.substr(0, 3), "\nb\n");
  ::close(reader);
}

// The other one has the output, and waits for a reader.
TEST(LineWriterTest, IsInterruptedWhileAnotherWrites) {
  std::optional<PipedStdout> piped(std::in_place);
  LineWriter one("-", {}), other("-", {});
  auto writing = std::async(std::launch::async, [&] {
    while (one.write(line('a', PIPE_BUF - 1))) {
    }
  });
  while (!piped->is_full()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto waiting = std::async(std::launch::async, [&] { return other.write("b\n"); });
  other.interrupt();
  const bool is_over = waiting.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  one.interrupt();
  const bool is_out = waiting.get();
  writing.get();
  piped.reset();
  EXPECT_TRUE(is_over);
  EXPECT_FALSE(is_out);
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
