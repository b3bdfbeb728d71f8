#include "publish/sinks/socket_sink.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>

#include <npucore/error.hpp>

#include "support/temp_dir.hpp"

#include "listener.hpp"

namespace gstnpu {
namespace {

using gstnpu_test::Listener;
using gstnpu_test::read_from;

// More than the kernel holds for a reader that does not read.
std::string long_line() {
  return std::string(std::size_t{32} << 20, 'x') + "\n";
}

class SocketSinkTest : public testing::Test {
 protected:
  SocketSink& sink_at(const std::string& location) {
    return sink_.emplace(location, [this](const std::string& text) {
      ++told_;
      text_ = text;
    });
  }
  std::future<bool> writing(const std::string& line) {
    return std::async(std::launch::async, [this, line] { return sink_->write(line); });
  }

  npu::test::TempDir folder_;
  const std::string path_ = (folder_.path() / "socket").string();
  std::atomic<int> told_ = 0;
  std::string text_;  // of the last time
  std::optional<SocketSink> sink_;
};

TEST_F(SocketSinkTest, SendsWholeLines) {
  const Listener tcp, local(path_);
  for (const Listener* listener : {&tcp, &local}) {
    SocketSink& sink = sink_at(listener->location());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(sink.write("line " + std::to_string(i) + "\n"));
    EXPECT_TRUE(sink.flush());
    EXPECT_EQ(sink.held(), 0U);
    const int reader = listener->accept();
    sink_.reset();
    EXPECT_EQ(read_from(reader, 100), "line 0\nline 1\nline 2\n");
    ::close(reader);
  }
  EXPECT_EQ(told_, 0);
}

// The first address may be one of IPv6, at which nobody listens here.
TEST_F(SocketSinkTest, FindsAHostByItsName) {
  const Listener listener;
  const std::string port = listener.location().substr(listener.location().rfind(':'));
  EXPECT_TRUE(sink_at("tcp://localhost" + port).write("a\n"));
  const int reader = listener.accept();
  EXPECT_EQ(read_from(reader, 2), "a\n");
  EXPECT_EQ(told_, 0);
  ::close(reader);
}

TEST_F(SocketSinkTest, WaitsForSomebodyWhoListens) {
  sink_at("unix:" + path_);
  auto written = writing("a\n");
  EXPECT_EQ(written.wait_for(std::chrono::milliseconds(500)), std::future_status::timeout);
  const Listener listener(path_);
  EXPECT_TRUE(written.get());
  EXPECT_EQ(told_, 1) << "once, however often it tried";
}

TEST_F(SocketSinkTest, SendsALineThatWasCutAgain) {
  const Listener listener;
  sink_at(listener.location());
  const std::string line = long_line();
  auto written = writing(line);
  const int first = listener.accept();
  EXPECT_EQ(read_from(first, 1000), line.substr(0, 1000));
  ::close(first);
  const int second = listener.accept();
  EXPECT_EQ(read_from(second, line.size()), line);
  EXPECT_TRUE(written.get());
  ::close(second);
}

TEST_F(SocketSinkTest, NoticesThatTheReaderHasGone) {
  const Listener listener;
  SocketSink& sink = sink_at(listener.location());
  EXPECT_TRUE(sink.write("a\n"));
  const int first = listener.accept();
  EXPECT_EQ(read_from(first, 2), "a\n");
  ::close(first);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(sink.write("b\n"));
  const int second = listener.accept();
  EXPECT_EQ(read_from(second, 2), "b\n");
  ::close(second);
  EXPECT_EQ(told_, 1);
  EXPECT_EQ(text_, "the reader at " + listener.location() +
                       " has gone, with the lines that it had not read (Connection reset by "
                       "peer): trying again until somebody takes lines");
}

// As a service that has no room does. It was connected to as fast as the machine can.
TEST_F(SocketSinkTest, WaitsLongerForAReaderWhoGoesEachTime) {
  const Listener listener;
  sink_at(listener.location());
  const std::string line = long_line();
  const auto begin = std::chrono::steady_clock::now();
  auto written = writing(line);
  for (int i = 0; i < 3; ++i) ::close(listener.accept());
  const int last = listener.accept();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200 + 400 + 800));
  EXPECT_EQ(read_from(last, line.size()).size(), line.size());
  EXPECT_TRUE(written.get());
  EXPECT_EQ(told_, 1);
  ::close(last);
}

TEST_F(SocketSinkTest, TellsOfEachReaderWhoStayedAndWent) {
  const Listener listener;
  SocketSink& sink = sink_at(listener.location());
  for (int round = 1; round < 3; ++round) {
    EXPECT_TRUE(sink.write("a\n"));
    const int reader = listener.accept();
    EXPECT_TRUE(sink.write("b\n"));
    EXPECT_EQ(read_from(reader, 4), "a\nb\n");
    ::close(reader);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(told_, round - 1);
  }
  EXPECT_TRUE(sink.write("c\n"));
  EXPECT_EQ(told_, 2);
}

TEST_F(SocketSinkTest, DoesNotMindWhatTheReaderSays) {
  const Listener listener;
  SocketSink& sink = sink_at(listener.location());
  EXPECT_TRUE(sink.write("a\n"));
  const int reader = listener.accept();
  EXPECT_EQ(::send(reader, "hello\n", 6, MSG_NOSIGNAL), 6);
  EXPECT_TRUE(sink.write("b\n"));
  EXPECT_EQ(read_from(reader, 4), "a\nb\n");
  ::close(reader);
}

TEST_F(SocketSinkTest, IsInterruptedWhileNobodyListens) {
  sink_at("unix:" + path_);
  auto written = writing("a\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  sink_->interrupt();
  EXPECT_FALSE(written.get());
  EXPECT_EQ(sink_->held(), 1U);
}

TEST_F(SocketSinkTest, IsInterruptedWhileNobodyReads) {
  const Listener listener;
  sink_at(listener.location());
  auto written = writing(long_line());
  const int reader = listener.accept();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  sink_->interrupt();
  EXPECT_FALSE(written.get());
  ::close(reader);
}

struct LocationRow {
  const char* name;
  std::string location, said;
};

class BadLocation : public testing::TestWithParam<LocationRow> {};

TEST_P(BadLocation, IsRefused) {
  try {
    const SocketSink sink(GetParam().location, [](const std::string&) {});
    FAIL() << "taken";
  } catch (const npu::Error& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().said), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLocation,
    testing::Values(LocationRow{"nothing", "tcp://", "has no port"},
                    LocationRow{"no_port", "tcp://localhost", "has no port"},
                    LocationRow{"no_host", "tcp://:80", "has no host"},
                    LocationRow{"port_0", "tcp://127.0.0.1:0", "has no port from 1 to 65535"},
                    LocationRow{"large_port", "tcp://127.0.0.1:65536", "has no port from 1"},
                    LocationRow{"word", "tcp://127.0.0.1:http", "has no port from 1"},
                    LocationRow{"a_path", "tcp://127.0.0.1:80/x", "has no port from 1"},
                    LocationRow{"no_path", "unix:", "has no path"},
                    LocationRow{"path_without_room_for_its_end", "unix:/" + std::string(107, 'x'),
                                "has a path of more than 107 bytes"},
                    LocationRow{"long_path", "unix:/" + std::string(200, 'x'),
                                "has a path of more than 107 bytes"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace gstnpu
