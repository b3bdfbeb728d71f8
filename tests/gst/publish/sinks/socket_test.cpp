#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "publish/sinks/sink.hpp"
#include "support/temp_dir.hpp"

#include "loopback.hpp"
#include "recorded_ledger.hpp"

namespace gstnpu {
namespace {

using gstnpu_test::Listener;
using gstnpu_test::read_from;

// More than the kernel holds for a reader that does not read.
std::string long_line() {
  return std::string(std::size_t{32} << 20, 'x') + "\n";
}

/// The next connection's first bytes, so many; then it goes.
std::string take_from(const Listener& listener, std::size_t size) {
  const int reader = listener.accept();
  std::string text = read_from(reader, size);
  ::close(reader);
  return text;
}

class SocketSinkTest : public testing::Test {
 protected:
  Sink& sink_at(const std::string& location) {
    sink_ = make_socket_sink(parse_location(location), {}, ledger_);
    return *sink_;
  }
  std::future<bool> writing(const std::string& line) {
    return std::async(std::launch::async, [this, line] { return sink_->write(line); });
  }
  std::size_t told() const { return ledger_.warnings().size(); }

  npu::test::TempDir folder_;
  const std::string path_ = (folder_.path() / "socket").string();
  RecordedLedger ledger_;
  std::unique_ptr<Sink> sink_;
};

TEST_F(SocketSinkTest, SendsWholeLines) {
  const Listener tcp, local(path_);
  for (const Listener* listener : {&tcp, &local}) {
    Sink& sink = sink_at(listener->location());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(sink.write("line " + std::to_string(i) + "\n"));
    sink_.reset();
    EXPECT_EQ(take_from(*listener, 100), "line 0\nline 1\nline 2\n");
  }
  EXPECT_EQ(told(), 0U);
}

// The first address may be one of IPv6, at which nobody listens here.
TEST_F(SocketSinkTest, FindsAHostByItsName) {
  const Listener listener;
  const std::string port = listener.location().substr(listener.location().rfind(':'));
  EXPECT_TRUE(sink_at("tcp://localhost" + port).write("a\n"));
  EXPECT_EQ(take_from(listener, 2), "a\n");
  EXPECT_EQ(told(), 0U);
}

TEST_F(SocketSinkTest, WaitsForSomebodyWhoListens) {
  sink_at("unix:" + path_);
  auto written = writing("a\n");
  EXPECT_EQ(written.wait_for(std::chrono::milliseconds(500)), std::future_status::timeout);
  const Listener listener(path_);
  EXPECT_TRUE(written.get());
  EXPECT_EQ(told(), 1U) << "once, however often it tried";
}

TEST_F(SocketSinkTest, SendsALineThatWasCutAgain) {
  const Listener listener;
  sink_at(listener.location());
  const std::string line = long_line();
  auto written = writing(line);
  EXPECT_EQ(take_from(listener, 1000), line.substr(0, 1000));
  EXPECT_EQ(take_from(listener, line.size()), line);
  EXPECT_TRUE(written.get());
}

TEST_F(SocketSinkTest, NoticesThatTheReaderHasGone) {
  const Listener listener;
  Sink& sink = sink_at(listener.location());
  EXPECT_TRUE(sink.write("a\n"));
  EXPECT_EQ(take_from(listener, 2), "a\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(sink.write("b\n"));
  EXPECT_EQ(take_from(listener, 2), "b\n");
  EXPECT_EQ(told(), 1U);
  EXPECT_EQ(ledger_.warnings()[0],
            "the reader at " + listener.location() +
                " has gone, with the lines that it had not read (it has closed the connection): "
                "trying again until somebody takes lines");
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
  EXPECT_EQ(told(), 1U);
  ::close(last);
}

constexpr std::chrono::milliseconds kStay{1200};

// As a proxy whose target is down does.
TEST_F(SocketSinkTest, TellsOnceOfReadersWhoTakeALineAndGo) {
  const Listener listener;
  Sink& sink = sink_at(listener.location());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(sink.write("a\n"));
    const int reader = listener.accept();
    EXPECT_TRUE(sink.write("b\n"));
    ::close(reader);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(told(), 1U);
}

TEST_F(SocketSinkTest, TellsOfEachReaderWhoStayedAndWent) {
  const Listener listener;
  Sink& sink = sink_at(listener.location());
  for (std::size_t round = 1; round < 3; ++round) {
    EXPECT_TRUE(sink.write("a\n"));
    const int reader = listener.accept();
    EXPECT_TRUE(sink.write("b\n"));
    EXPECT_EQ(read_from(reader, 4), "a\nb\n");
    std::this_thread::sleep_for(kStay);
    EXPECT_TRUE(sink.write("b\n"));
    ::close(reader);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(told(), round - 1U);
  }
  EXPECT_TRUE(sink.write("c\n"));
  EXPECT_EQ(told(), 2U);
}

TEST_F(SocketSinkTest, DoesNotMindWhatTheReaderSays) {
  const Listener listener;
  Sink& sink = sink_at(listener.location());
  EXPECT_TRUE(sink.write("a\n"));
  const int reader = listener.accept();
  EXPECT_EQ(::send(reader, "hello\n", 6, MSG_NOSIGNAL), 6);
  EXPECT_TRUE(sink.write("b\n"));
  EXPECT_EQ(read_from(reader, 4), "a\nb\n");
  ::close(reader);
}

TEST_F(SocketSinkTest, IsCancelledWhileNobodyListens) {
  sink_at("unix:" + path_);
  auto written = writing("a\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  g_cancellable_cancel(ledger_.cancel());
  EXPECT_FALSE(written.get());
  EXPECT_EQ(ledger_.out, 0U);
}

TEST_F(SocketSinkTest, IsCancelledWhileNobodyReads) {
  const Listener listener;
  sink_at(listener.location());
  auto written = writing(long_line());
  const int reader = listener.accept();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  g_cancellable_cancel(ledger_.cancel());
  EXPECT_FALSE(written.get());
  ::close(reader);
}

TEST_F(SocketSinkTest, RefusesAPathThatIsTooLong) {
  sink_at("unix:/" + std::string(106, 'x'));
  EXPECT_THROW(sink_at("unix:/" + std::string(107, 'x')), PublishError);
}

}  // namespace
}  // namespace gstnpu
