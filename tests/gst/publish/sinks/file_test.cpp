#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <future>
#include <memory>
#include <thread>

#include "publish/sinks/sink.hpp"

#include "hand_made_frames.hpp"
#include "recorded_ledger.hpp"

namespace gstnpu {
namespace {

using gstnpu_test::FileSizeLimit;
using gstnpu_test::TempFolder;

std::string line(char letter, std::size_t size) {
  return std::string(size, letter) + "\n";
}

/// A sink, and what it has said.
class Written {
 public:
  explicit Written(const std::string& path, bool append = false)
      : sink_(make_file_sink(parse_location(path), {.append = append}, ledger_)) {}

  bool write(const std::string& text) {
    try {
      return sink_->write(text);
    } catch (const PublishError&) {
      ++failed_;
      return true;
    }
  }
  void cancel() { g_cancellable_cancel(ledger_.cancel()); }
  std::size_t out() const { return ledger_.out; }
  std::size_t failed() const { return failed_; }

 private:
  RecordedLedger ledger_;
  std::unique_ptr<Sink> sink_;
  std::size_t failed_ = 0;
};

// The file ends within the second line.
TEST(FileSink, TakesBackWhatDidNotFit) {
  const TempFolder folder;
  Written file(folder.file("out"));
  EXPECT_TRUE(file.write(line('a', 50)));
  {
    const FileSizeLimit limit(80);
    EXPECT_TRUE(file.write(line('b', 50)));
    EXPECT_EQ(file.failed(), 1U);
    EXPECT_EQ(folder.read("out"), line('a', 50));
  }
  EXPECT_TRUE(file.write(line('c', 50)));
  EXPECT_EQ(file.out(), 2U);
  EXPECT_EQ(folder.read("out"), line('a', 50) + line('c', 50));
}

TEST(FileSink, AppendsWithoutTouchingWhatWasThere) {
  const TempFolder folder;
  folder.write("out", "old\n");
  Written file(folder.file("out"), true);
  {
    const FileSizeLimit limit(30);
    EXPECT_TRUE(file.write(line('a', 50)));
  }
  EXPECT_TRUE(file.write("b\n"));
  EXPECT_EQ(folder.read("out"), "old\nb\n");
}

// As logrotate does it with copytruncate.
TEST(FileSink, GoesOnAtTheBeginningOfAFileThatWasEmptied) {
  const TempFolder folder;
  Written file(folder.file("out"));
  EXPECT_TRUE(file.write("a\n"));
  ASSERT_EQ(::truncate(folder.file("out").c_str(), 0), 0);
  EXPECT_TRUE(file.write("b\n"));
  EXPECT_EQ(folder.read("out"), "b\n");
}

/// The standard descriptors 0 and 1 closed, as of services, for as long as it lives.
class ClosedStandard {
 public:
  ClosedStandard() {
    std::fflush(stdout);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) ::close(fd);
  }
  ~ClosedStandard() {
    ::dup2(saved_[0], STDIN_FILENO);
    ::dup2(saved_[1], STDOUT_FILENO);
    for (const int fd : saved_) ::close(fd);
  }
  ClosedStandard(const ClosedStandard&) = delete;
  ClosedStandard& operator=(const ClosedStandard&) = delete;

 private:
  const std::array<int, 2> saved_ = {::dup(STDIN_FILENO), ::dup(STDOUT_FILENO)};
};

std::string refusal_of(const std::string& location) {
  return thrown_by([&] { Written{location}; });
}

// As a shell has it with 3>&1.
TEST(FileSink, WritesToADescriptorThatIsOpenAndStaysSo) {
  const TempFolder folder;
  const int fd = ::open(folder.file("out").c_str(), O_WRONLY | O_CREAT, 0600);
  const std::string number = std::to_string(fd);
  EXPECT_TRUE(Written("fd:" + number).write("a\n"));
  EXPECT_EQ(folder.read("out"), "a\n");
  EXPECT_EQ(::close(fd), 0);
  EXPECT_TRUE(has(refusal_of("fd:" + number),
                  "descriptor " + number + " is not open for writing: begin the process with"));
}

// The number goes to whatever is opened next, which would get the lines.
TEST(FileSink, RefusesAStdoutThatIsClosedOrAnotherFile) {
  const TempFolder folder;
  std::string closed, of_a_library, for_reading;
  {
    const ClosedStandard none;
    closed = refusal_of("");
    ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // 0
    const int other = ::open(folder.file("other").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    of_a_library = refusal_of("");
    ::close(other);
    const int input = ::open("/dev/zero", O_RDONLY);
    for_reading = refusal_of("");
    ::close(input);
  }
  for (const std::string& said : {closed, of_a_library, for_reading}) {
    EXPECT_TRUE(has(said, "the standard output is closed"));
  }
}

void wait_until_full(int pipe) {
  pollfd room{.fd = pipe, .events = POLLOUT, .revents = 0};
  while (::poll(&room, 1, 0) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Another reader finds what the pipe holds of the line that was lost.
TEST(FileSink, BeginsOnANewLineBehindOneThatWasLost) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const auto open_pipe = [&](int flags) {
    return ::open(folder.file("pipe").c_str(), flags | O_NONBLOCK | O_CLOEXEC);
  };
  int reader = open_pipe(O_RDONLY);
  const auto handler = ::signal(SIGPIPE, SIG_IGN);  // the publisher's thread blocks it
  Written file(folder.file("pipe"));
  const int other = open_pipe(O_WRONLY);
  auto writing =
      std::async(std::launch::async, [&] { return file.write(line('a', std::size_t{1} << 20)); });
  wait_until_full(other);
  ::close(reader);
  EXPECT_TRUE(writing.get());
  ::signal(SIGPIPE, handler);
  EXPECT_EQ(file.failed(), 1U);
  reader = open_pipe(O_RDONLY);
  std::string got(1 << 20, '\0');
  const auto half = ::read(reader, got.data(), got.size());
  ASSERT_GT(half, 0);
  EXPECT_EQ(got[static_cast<std::size_t>(half) - 1], 'a') << "half a line";
  EXPECT_TRUE(file.write("b\n"));
  ASSERT_EQ(::read(reader, got.data(), got.size()), 3);
  EXPECT_EQ(got.substr(0, 3), "\nb\n");
  for (const int fd : {reader, other}) ::close(fd);
}

// The other one has the output, and waits for a reader.
TEST(FileSink, IsCancelledWhileAnotherWrites) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string location = "fd:" + std::to_string(ends[1]);
  Written one(location), other(location);
  auto writing = std::async(std::launch::async, [&] {
    while (one.write(line('a', PIPE_BUF - 1))) {
    }
  });
  wait_until_full(ends[1]);
  auto waiting = std::async(std::launch::async, [&] { return other.write("b\n"); });
  other.cancel();
  EXPECT_EQ(waiting.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  one.cancel();
  EXPECT_FALSE(waiting.get());
  writing.get();
  for (const int fd : ends) ::close(fd);
}

}  // namespace
}  // namespace gstnpu
