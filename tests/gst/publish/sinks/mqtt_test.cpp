// npupublish at a real broker, which dies, hangs, refuses and is cut off.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iterator>
#include <optional>
#include <thread>

#include "gst/leak_check.hpp"

#include "certificates.hpp"
#include "cut_connections.hpp"
#include "listener.hpp"
#include "loopback.hpp"
#include "mosquitto.hpp"
#include "publishing.hpp"

namespace {

using namespace gstnpu_test;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

/// Each of the first frames, and nothing else.
void expect_frames(const std::map<guint64, int>& frames, guint64 count) {
  EXPECT_EQ(frames.size(), count);
  for (guint64 i = 0; i < count; ++i) {
    EXPECT_TRUE(frames.contains(i)) << "frame " << i;
  }
}

int repeated(const std::map<guint64, int>& frames) {
  int times = 0;
  for (const auto& [frame, count] : frames) times += count - 1;
  return times;
}

class Mqtt : public testing::Test {
 protected:
  void SetUp() override {
    if (!Mosquitto::is_installed()) {
      GTEST_SKIP() << "mosquitto, mosquitto-clients or openssl are not installed";
    }
  }
};

struct ProtocolRow {
  const char* version;
  int qos;
};

class MqttProtocol : public Mqtt, public testing::WithParamInterface<ProtocolRow> {
 protected:
  std::string properties() const {
    return "mqtt-version=" + std::string(GetParam().version) +
           " mqtt-qos=" + std::to_string(GetParam().qos);
  }
};

TEST_P(MqttProtocol, DeliversEachLineOnce) {
  Mosquitto broker;
  broker.start();
  const Subscriber subscriber(broker, "cameras/gate");
  Publishing publishing(broker.location("cameras/gate"), properties());
  publishing.push(300);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 300U);
  EXPECT_TRUE(becomes([&] { return subscriber.lines().size() >= 300; }));
  expect_frames(subscriber.frames(), 300);
  EXPECT_EQ(subscriber.lines()[299].back(), '}') << "without the newline";
  const char* sign = GetParam().version == std::string("5.0") ? "(p5," : "(p2,";
  EXPECT_NE(broker.log().find(sign), std::string::npos) << broker.log();
}

TEST_P(MqttProtocol, WaitsForABrokerThatIsAway) {
  Mosquitto broker;
  Publishing publishing(broker.location("t"), properties());
  publishing.push(100);
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("no broker takes lines at mqtt://"); }));
  EXPECT_EQ(publishing.counts().queued, 100U);
  broker.start();
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 100U);
  EXPECT_EQ(publishing.warning(), "") << "once";
}

INSTANTIATE_TEST_SUITE_P(All, MqttProtocol,
                         testing::Values(ProtocolRow{"3.1.1", 0}, ProtocolRow{"3.1.1", 1},
                                         ProtocolRow{"3.1.1", 2}, ProtocolRow{"5.0", 0},
                                         ProtocolRow{"5.0", 1}, ProtocolRow{"5.0", 2}),
                         [](const auto& row) {
                           return std::string("v") + row.param.version[0] + "_qos" +
                                  std::to_string(row.param.qos);
                         });

class MqttVersions : public Mqtt, public testing::WithParamInterface<const char*> {
 protected:
  std::string version() const { return std::string("mqtt-version=") + GetParam(); }
};

/// Kills the broker, and with it no line that it has confirmed: its subscriber has those.
void kill_without_loss(Mosquitto& broker, const Subscriber& subscriber, Publishing& publishing) {
  const auto is_delivered = [&] {
    return broker.log().find("as subscriber") != std::string::npos && is_read(broker.port()) &&
           subscriber.frames().size() >= publishing.counts().published;
  };
  EXPECT_TRUE(becomes([&] {
    broker.pause();
    for (int i = 0; i < 100; ++i) {
      if (is_delivered()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    broker.go_on();
    return false;
  })) << broker.log();
  broker.end();
}

// The broker is killed while lines are on their way, and knows the subscriber when it is back.
TEST_P(MqttVersions, DeliverEveryLineThoughTheBrokerIsKilled) {
  Mosquitto broker;
  broker.start();
  const Subscriber subscriber(broker, "t", 1);
  broker.save();
  Publishing publishing(broker.location("t"), version() + " mqtt-qos=1");
  for (guint64 round = 0; round < 4; ++round) {
    publishing.push(150);
    EXPECT_TRUE(becomes([&] { return publishing.counts().published > 200 * round; }));
    kill_without_loss(broker, subscriber, publishing);
    publishing.push(50);
    broker.start();
  }
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 800U);
  EXPECT_EQ(publishing.counts().failed + publishing.counts().dropped, 0U);
  EXPECT_TRUE(becomes([&] { return subscriber.frames().size() >= 800; }));
  expect_frames(subscriber.frames(), 800);
}

// The connection is cut while lines are on their way, again and again; the broker keeps the
// session.
TEST_P(MqttVersions, DeliverEachLineOnceThoughConnectionsAreCut) {
  Mosquitto broker;
  broker.start();
  const Subscriber subscriber(broker, "t", 0);
  CutConnections between(broker.port());
  Publishing publishing("mqtt://127.0.0.1:" + std::to_string(between.port()) + "/t",
                        version() + " mqtt-qos=2 mqtt-client-id=camera");
  for (guint64 round = 0; round < 10; ++round) {
    publishing.push(100);
    EXPECT_TRUE(becomes([&] { return publishing.counts().published > 100 * round; }));
    EXPECT_EQ(between.cut(), 1U);
  }
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 1000U);
  EXPECT_TRUE(becomes([&] { return subscriber.frames().size() >= 1000; }));
  expect_frames(subscriber.frames(), 1000);
  EXPECT_EQ(repeated(subscriber.frames()), 0);
}

// Lines waited for ever, and nobody was told.
TEST_P(MqttVersions, TellOfABrokerThatEndsEachConnection) {
  Mosquitto broker({"allow_anonymous true", "max_packet_size 200"});
  broker.start();
  Publishing publishing(broker.location("t"), version() + " stream-id=" + std::string(300, 'x'));
  publishing.push(1);
  EXPECT_TRUE(becomes([&] {
    return publishing.has_warning("has ended 3 connections that it had taken (");
  })) << broker.log();
  EXPECT_EQ(publishing.counts().queued, 1U);
}

// Each one's connection ends the other's.
TEST_P(MqttVersions, TellOfAnotherClientWithTheSameName) {
  Mosquitto broker;
  broker.start();
  const std::string more = version() + " mqtt-client-id=camera";
  Publishing one(broker.location("one"), more), other(broker.location("other"), more);
  EXPECT_TRUE(becomes([&] {
    one.push(1);
    other.push(1);
    return one.has_warning("another client may have the same mqtt-client-id");
  })) << broker.log();
}

TEST_P(MqttVersions, AreRefusedWithAWrongPassword) {
  const TempFolder folder;
  const std::string users = folder.file("users"),
                    password = folder.write("password", "right\r\nold\n");
  ChildProcess({find_program("mosquitto_passwd"), "-b", "-c", users, "me", "right"},
               folder.file("said"))
      .wait();
  Mosquitto broker({"allow_anonymous false", "password_file " + users});
  broker.start();
  for (const char* login : {"mqtt-user=me mqtt-password=wrong", "mqtt-user=me", ""}) {
    Publishing publishing(broker.location("t"), version() + " " + login);
    const std::string said = publishing.error();
    EXPECT_NE(said.find("the broker at mqtt://"), std::string::npos) << said;
    EXPECT_TRUE(said.find("ot authorized") != std::string::npos ||
                said.find("ad user name or password") != std::string::npos)
        << said;
    EXPECT_EQ(said.find("wrong"), std::string::npos) << "no password in a message";
  }
  for (const std::string& login :
       {std::string("mqtt-password=right"), "mqtt-password-file=" + password}) {
    Publishing publishing(broker.location("t"), version() + " mqtt-user=me " + login);
    publishing.push(1);
    publishing.end_stream();
    EXPECT_EQ(publishing.counts().published, 1U) << login;
  }
  ::setenv("NPU_MQTT_PASSWORD", "right", 1);
  Publishing publishing(broker.location("t"), version() + " mqtt-user=me ");
  ::unsetenv("NPU_MQTT_PASSWORD");
  publishing.push(1);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 1U) << "of the environment";
}

// Where lines may be lost a refusal costs lines, and the pipeline goes on.
TEST_P(MqttVersions, TellOfEachTimeThatABrokerIsAway) {
  Mosquitto broker;
  broker.start();
  Publishing publishing(broker.location("t"), version());
  for (guint64 round = 1; round < 3; ++round) {
    publishing.push(1);
    EXPECT_TRUE(becomes([&] { return publishing.counts().published == 2 * round - 1; }));
    broker.end();
    publishing.push(1);
    EXPECT_TRUE(becomes([&] { return publishing.has_warning("no broker takes lines at"); }));
    broker.start();
    EXPECT_TRUE(becomes([&] { return publishing.counts().published == 2 * round; }));
  }
}

// It may still be reading its list of users.
TEST_P(MqttVersions, OutliveARefusalBehindASuccess) {
  Mosquitto broker;
  broker.start();
  Publishing publishing(broker.location("t"), version());
  publishing.push(1);
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 1; }));
  broker.end();
  const std::string config = broker.folder().read("config");
  std::string other = config;
  other.replace(other.find("allow_anonymous true"), 20, "allow_anonymous false");
  broker.folder().write("config", other);
  broker.start();
  publishing.push(1);
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("ot authorized): trying again"); }));
  broker.end();
  broker.folder().write("config", config);
  broker.start();
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 2U);
  EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
}

TEST_P(MqttVersions, OutliveARefusalWherePolicyDrops) {
  Mosquitto broker({"allow_anonymous false"});
  broker.start();
  Publishing publishing(broker.location("t"),
                        version() + " policy=drop-new queue-size=2 drain-time=0");
  publishing.push(100);
  EXPECT_TRUE(becomes([&] { return publishing.counts().failed > 0; }));
  publishing.push(100);
  const Counts counts = publishing.counts();
  EXPECT_EQ(counts.published, 0U);
  EXPECT_EQ(counts.failed + counts.dropped + counts.queued, 200U);
  EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
}

INSTANTIATE_TEST_SUITE_P(All, MqttVersions, testing::Values("3.1.1", "5.0"),
                         [](const auto& row) { return std::string("v") + row.param[0]; });

// ---- TLS

class MqttTls : public Mqtt {
 protected:
  void SetUp() override {
    Mqtt::SetUp();
    if (IsSkipped()) return;
    broker_.emplace(std::vector<std::string>{
        "allow_anonymous true", "cafile " + file("ca.pem"), "certfile " + file("broker.pem"),
        "keyfile " + file("broker.key"), "require_certificate true"});
    broker_->start();
  }

  std::string file(const std::string& name) const { return certificates_.file(name); }
  std::string location(const std::string& host) const {
    return "mqtts://" + host + ":" + std::to_string(broker_->port()) + "/t";
  }
  std::string with(const std::string& authority, const std::string& client) const {
    return certificates_.properties("mqtt", authority, client);
  }

  const Certificates certificates_;
  std::optional<Mosquitto> broker_;
};

TEST_F(MqttTls, PublishesWithCertificatesOfBothSides) {
  for (const char* version : {"3.1.1", "5.0"}) {
    Publishing publishing(location("localhost"), with("ca", "client") + " mqtt-version=" + version);
    publishing.push(50);
    publishing.end_stream();
    EXPECT_EQ(publishing.counts().published, 50U) << version;
  }
}

TEST_F(MqttTls, RefusesABrokerOfAnotherAuthority) {
  Publishing publishing(location("localhost"), with("other", "client"));
  const std::string said = publishing.error();
  EXPECT_NE(said.find("certificate verify failed"), std::string::npos) << said;
}

/// As a warning or an error: the library does not always tell why there is no connection.
void expect_told_of_certificates(Publishing& publishing) {
  publishing.push(1);
  std::string said;
  EXPECT_TRUE(becomes([&] {
    said = publishing.warning();  // first: each drops what the other looks for
    if (said.empty()) {
      said = publishing.harness().message(GST_MESSAGE_ERROR);
    }
    return !said.empty();
  }));
  EXPECT_NE(said.find("certificate"), std::string::npos) << said;
  EXPECT_EQ(publishing.counts().published, 0U);
}

TEST_F(MqttTls, TakesNoCertificateOfAnotherHost) {
  Publishing publishing(location("127.0.0.1"), with("ca", "client"));
  expect_told_of_certificates(publishing);
}

TEST_F(MqttTls, IsRefusedWithoutACertificate) {
  Publishing publishing(location("localhost"), with("ca", ""));
  expect_told_of_certificates(publishing);
}

// ---- The last will

TEST_F(Mqtt, HasItsLastWillWhenItIsKilled) {
  for (const char* version : {"3.1.1", "5.0"}) {
    Mosquitto broker;
    broker.start();
    const std::vector<std::string> with_quality = {"-F", "%q %p"};
    std::optional<Subscriber> subscriber(std::in_place, broker, "#", 2, with_quality);
    // One frame, and no end of the stream.
    PipelineProcess child(
        "funnel name=all ! npupublish location=" + broker.location("t") +
            " mqtt-will-topic=state mqtt-will-payload=gone mqtt-qos=2 mqtt-retain=true "
            "mqtt-version=" +
            version +
            " fakesrc num-buffers=1 ! all. videotestsrc is-live=true ! valve drop=true ! all.",
        broker.folder().file("child"));
    ASSERT_TRUE(becomes([&] { return subscriber->lines().size() == 1; }))
        << broker.folder().read("child");
    child.end(SIGKILL);
    EXPECT_TRUE(becomes([&] { return subscriber->lines().size() == 2; }));
    EXPECT_EQ(subscriber->lines().back(), "2 gone") << "with the quality of lines";
    subscriber.reset();
    subscriber.emplace(broker, "state", 2, with_quality);
    EXPECT_TRUE(becomes([&] { return !subscriber->lines().empty(); })) << "retained as lines are";
  }
}

TEST_F(Mqtt, HasNoLastWillWhenItStops) {
  Mosquitto broker;
  broker.start();
  const Subscriber subscriber(broker, "state");
  for (int i = 0; i < 2; ++i) {
    Publishing publishing(broker.location("state"), "mqtt-will-topic=state mqtt-will-payload=gone");
    publishing.push(1);
    publishing.end_stream();
  }
  EXPECT_TRUE(becomes([&] { return subscriber.lines().size() >= 2; }));
  EXPECT_EQ(subscriber.frames()[0], 2);
  EXPECT_EQ(subscriber.lines().size(), 2U) << subscriber.lines().back();
}

TEST_F(Mqtt, AsksForSignsOfLifeAsOftenAsItIsTold) {
  Mosquitto broker;
  broker.start();
  Publishing publishing(broker.location("t"), "mqtt-keep-alive=7");
  publishing.push(1);
  publishing.end_stream();
  EXPECT_NE(broker.log().find(", k7)"), std::string::npos) << broker.log();
}

TEST_F(Mqtt, RetainsTheLastLine) {
  Mosquitto broker;
  broker.start();
  {
    Publishing publishing(broker.location("t"), "mqtt-retain=true");
    publishing.push(10);
    publishing.end_stream();
  }
  const Subscriber subscriber(broker, "t");
  EXPECT_TRUE(becomes([&] { return subscriber.lines().size() == 1; }));
  EXPECT_TRUE(subscriber.frames().contains(9));
}

// ---- A broker that takes connections and never answers

class SilentBroker : public testing::TestWithParam<const char*> {
 protected:
  const Listener server_;  // nobody takes what comes
  const std::string location_ =
      std::string(GetParam()) + "://127.0.0.1:" + std::to_string(server_.port()) + "/t";
};

TEST_P(SilentBroker, NeitherStallsNorEndsAPipelineThatMayDrop) {
  expect_that_policies_drop(location_, 11U);
}

TEST_P(SilentBroker, IsToldAndTriedAgain) {
  Publishing publishing(location_, "drain-time=0");
  publishing.push(1);
  EXPECT_TRUE(becomes(
      [&] { return publishing.warning().find("no broker takes lines at") != std::string::npos; }));
  EXPECT_EQ(publishing.counts().queued, 1U);
}

TEST_P(SilentBroker, IsNotWaitedForByAStop) {
  Publishing publishing(location_, "queue-size=10 drain-time=50");
  publishing.push(10);
  auto waiting = std::async(std::launch::async, [&] {
    GstFlowReturn flow = GST_FLOW_OK;
    while (flow == GST_FLOW_OK) flow = publishing.harness().push(frame_with({}));
    return flow;
  });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  publishing.stop();
  EXPECT_EQ(waiting.get(), GST_FLOW_FLUSHING);
  EXPECT_TRUE(publishing.has_warning("11 lines for \"" + location_ +
                                     "\" were not out when the element stopped"));
}

/// Whether the other side has not ended the connection; what it has sent is lost.
bool is_open(int connection) {
  std::array<char, 4096> said{};
  ssize_t got = 0;
  do {
    got = ::recv(connection, said.data(), said.size(), MSG_DONTWAIT);
  } while (got > 0);
  return got < 0 && errno == EAGAIN;
}

// The client gives up after 5 s. A stop that has waited for that leaves no connection behind; on a
// busy machine one that has not may, now and then.
TEST_P(SilentBroker, IsNotWaitedForByAStopWhileItConnects) {
  bool was_prompt = false;
  for (int i = 0; i < 10 && !was_prompt; ++i) {
    Publishing publishing(location_, "drain-time=0");
    publishing.push(1);
    const int connection = server_.accept();
    publishing.stop();
    was_prompt = is_open(connection);
    ::close(connection);
    EXPECT_TRUE(publishing.has_warning("1 lines for"));
  }
  EXPECT_TRUE(was_prompt);
}

INSTANTIATE_TEST_SUITE_P(All, SilentBroker, testing::Values("mqtt", "mqtts"),
                         [](const auto& row) { return std::string(row.param); });

/// In the client's packet, which begins a connection. All have names of five letters.
bool is_asked_by(const Listener& server, const std::string& client) {
  const int connection = server.accept();
  const std::string packet = read_from(connection, 19);
  ::close(connection);
  return packet.ends_with(client);
}

/// Ends while it waits for its turn to connect: it has a thread for lines and one to connect then.
void stop_before_its_turn(const std::string& location) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  Publishing publishing(location, "drain-time=0 mqtt-client-id=ended");
  publishing.push(1);
  becomes([&] { return threads() >= before + 2; });
  publishing.stop();
}

// The library connects one client after the other. On a busy machine the first one may have given
// up, after 5 s, before the others have ended: then it is tried again.
TEST(SilentMqttBroker, IsNotAskedByThoseThatHaveEnded) {
  bool was_connecting = false;
  for (int i = 0; i < 10 && !was_connecting; ++i) {
    const Listener server;
    const std::string location = "mqtt://127.0.0.1:" + std::to_string(server.port()) + "/t";
    Publishing first(location, "drain-time=0 mqtt-client-id=first");
    first.push(1);
    const int connection = server.accept();
    for (int j = 0; j < 8; ++j) stop_before_its_turn(location);
    first.stop();
    Publishing last(location, "drain-time=0 mqtt-client-id=final");
    last.push(1);
    was_connecting = is_open(connection);
    ::close(connection);
    EXPECT_TRUE(!was_connecting || is_asked_by(server, "final"));
  }
  EXPECT_TRUE(was_connecting);
}

// ---- Settings

struct SettingsRow {
  const char* name;
  const char* properties;
  const char* said;
};

class BadMqttSettings : public testing::TestWithParam<SettingsRow> {};

TEST_P(BadMqttSettings, AreRefused) {
  const Failure failure = failure_of_start("mqtts://localhost/t", GetParam().properties);
  EXPECT_NE(failure.text.find(GetParam().said), std::string::npos) << failure.text;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadMqttSettings,
    testing::Values(SettingsRow{"no_password", "mqtt-user=me mqtt-password-file=/nowhere/p",
                                "mqtt-password-file: cannot read"},
                    SettingsRow{"empty_password", "mqtt-user=me mqtt-password-file=/dev/null",
                                "the first line of \"/dev/null\" is empty"},
                    SettingsRow{"no_user", "mqtt-password=secret",
                                "a password for MQTT has no user: set mqtt-user"},
                    SettingsRow{"endless_password", "mqtt-user=me mqtt-password-file=/dev/zero",
                                "the password for MQTT has"},
                    SettingsRow{"many_wills", "mqtt-will-topic=a/#",
                                "mqtt-will-topic \"a/#\" has + or #"},
                    SettingsRow{"no_will_topic", "mqtt-will-payload=gone",
                                "mqtt-will-payload has no mqtt-will-topic"}),
    [](const auto& row) { return std::string(row.param.name); });

// More than the protocol's fields hold: what followed was nonsense, which no broker answers.
TEST(LongMqttTexts, AreRefused) {
  const std::string text(65536, 'x');
  for (const char* property :
       {"mqtt-client-id", "mqtt-user", "mqtt-will-topic", "mqtt-will-topic=w mqtt-will-payload"}) {
    const Failure failure =
        failure_of_start("mqtt://localhost/t", std::string(property) + "=" + text);
    EXPECT_NE(failure.text.find("has 65536 bytes, and MQTT takes 65535 at most"), std::string::npos)
        << property << ": " << failure.text;
  }
  EXPECT_NE(failure_of_start("mqtt://localhost/" + text).text.find("the topic of location has"),
            std::string::npos);
}

TEST(MqttCertificates, AreRefusedWithoutTls) {
  const Failure failure = failure_of_start("mqtt://localhost/t", "mqtt-ca-file=/etc/passwd");
  EXPECT_NE(failure.text.find("which location=mqtt:// is without: write mqtts://"),
            std::string::npos)
      << failure.text;
}

// As of <(pass show broker), and of one whose writer never came.
TEST(MqttPassword, MayComeFromAPipe) {
  const TempFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string more = "mqtt-user=me mqtt-password-file=" + pipe;
  EXPECT_NE(failure_of_start("mqtt://localhost/t", more).text.find("is empty: write the password"),
            std::string::npos);
  const int fd = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::write(fd, "secret\n", 7), 7);
  {
    Publishing publishing("mqtt://localhost/t", more);
    EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
  }
  ::close(fd);
}

}  // namespace
