// npupublish at a real broker, which dies, hangs and refuses.
#include <chrono>
#include <optional>
#include <thread>
#include <tuple>

#include "gst/leak_check.hpp"

#include "loopback.hpp"
#include "mosquitto.hpp"
#include "publishing.hpp"

namespace mqtt_test {
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

std::string config(const std::string& entries) {
  return "broker-config=" + entries + " ";
}

class Mqtt : public testing::Test {
 protected:
  void SetUp() override {
    if (!Mosquitto::is_installed()) {
      GTEST_SKIP() << "mosquitto, mosquitto-clients or openssl are not installed";
    }
  }
};

using VersionAndQos = std::tuple<const char*, const char*>;

class MqttProtocol : public Mqtt, public testing::WithParamInterface<VersionAndQos> {
 protected:
  const std::string version_ = std::get<0>(GetParam()), qos_ = std::get<1>(GetParam());
  const std::string properties_ = config("protocol-version=" + version_ + ",qos=" + qos_);
};

TEST_P(MqttProtocol, DeliversEachLineOnce) {
  Mosquitto broker;
  broker.start();
  const Subscriber subscriber(broker, "cameras/gate");
  Publishing publishing(broker.location("cameras/gate"), properties_);
  publishing.push(300);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 300U);
  EXPECT_TRUE(becomes([&] { return subscriber.lines().size() >= 300; }));
  expect_frames(subscriber.frames(), 300);
  EXPECT_EQ(subscriber.lines().size(), 300U);
  EXPECT_EQ(subscriber.lines()[299].back(), '}') << "without the newline";
  EXPECT_EQ(broker.log().find("(p5,") != std::string::npos, version_ == "mqttv5") << broker.log();
}

TEST_P(MqttProtocol, WaitsForABrokerThatIsAway) {
  Mosquitto broker;
  Publishing publishing(broker.location("t"), properties_);
  publishing.push(100);
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("no broker takes lines at mqtt://"); }));
  EXPECT_EQ(publishing.counts().queued, 100U);
  broker.start();
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 100U);
  EXPECT_EQ(publishing.warning(), "") << "once";
}

INSTANTIATE_TEST_SUITE_P(All, MqttProtocol,
                         testing::Combine(testing::Values("mqttv311", "mqttv5"),
                                          testing::Values("0", "1", "2")),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param)) + "_qos" +
                                  std::get<1>(row.param);
                         });

class MqttVersions : public Mqtt, public testing::WithParamInterface<const char*> {
 protected:
  std::string version(const std::string& more = {}) const {
    return config(std::string("protocol-version=") + GetParam() + (more.empty() ? "" : ",") + more);
  }
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
  constexpr guint64 kRounds = 4, kOnTheirWay = 20;
  Mosquitto broker;
  broker.start();
  const Subscriber subscriber(broker, "t", 1);
  broker.save();
  Publishing publishing(broker.location("t"), version("qos=1"));
  for (guint64 round = 0; round < kRounds; ++round) {
    publishing.push(150);
    EXPECT_TRUE(becomes([&] { return publishing.counts().published > 200 * round; }));
    kill_without_loss(broker, subscriber, publishing);
    publishing.push(50);
    broker.start();
  }
  publishing.end_stream();
  const Counts counts = publishing.counts();
  EXPECT_EQ(counts.published, 200 * kRounds);
  EXPECT_EQ(counts.failed + counts.dropped, 0U);
  EXPECT_TRUE(becomes([&] { return subscriber.frames().size() >= 200 * kRounds; }));
  expect_frames(subscriber.frames(), 200 * kRounds);
  EXPECT_LE(subscriber.lines().size(), kRounds * (200 + kOnTheirWay))
      << "more than were on their way";
}

TEST_P(MqttVersions, AreRefusedWithAWrongPassword) {
  const TempFolder folder;
  const std::string users = folder.file("users");
  ChildProcess({find_program("mosquitto_passwd"), "-b", "-c", users, "me", "right"},
               folder.file("said"))
      .wait();
  Mosquitto broker({"allow_anonymous false", "password_file " + users});
  broker.start();
  const auto login = [&](const std::string& lines) {
    return version() + "broker-config-file=" + folder.write("login", lines);
  };
  for (const char* lines : {"username=me\npw=wrong\n", "username=me\n", ""}) {
    Publishing publishing(broker.location("t"), login(lines));
    const std::string said = publishing.error();
    EXPECT_TRUE(has(said, "the broker at mqtt://"));
    EXPECT_TRUE(has(said, "refuses ("));
    EXPECT_EQ(said.find("wrong"), std::string::npos) << "no password in a message";
  }
  Publishing publishing(broker.location("t"), login("username = me\npw = right\n"));
  publishing.push(1);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 1U);
}

// Where lines may be lost a refusal costs lines, and the pipeline goes on.
TEST_P(MqttVersions, OutliveARefusalWherePolicyDrops) {
  Mosquitto broker({"allow_anonymous false"});
  broker.start();
  Publishing publishing(broker.location("t"),
                        version() + "policy=drop-new queue-size=2 drain-time=0");
  publishing.push(100);
  EXPECT_TRUE(becomes([&] { return publishing.counts().failed > 0; }));
  publishing.push(100);
  const Counts counts = publishing.counts();
  EXPECT_EQ(counts.published, 0U);
  EXPECT_EQ(counts.failed + counts.dropped + counts.queued, 200U);
  EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
}

// It may still be reading its list of users.
TEST_P(MqttVersions, OutliveARefusalBehindASuccess) {
  Mosquitto broker;
  broker.start();
  Publishing publishing(broker.location("t"), version());
  publishing.push(1);
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 1; }));
  broker.end();
  const std::string open = broker.folder().read("config");
  std::string closed = open;
  closed.replace(closed.find("allow_anonymous true"), 20, "allow_anonymous false");
  broker.folder().write("config", closed);
  broker.start();
  publishing.push(1);
  EXPECT_TRUE(becomes([&] { return publishing.has_warning(": trying again"); }));
  broker.end();
  broker.folder().write("config", open);
  broker.start();
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 2U);
  EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
}

INSTANTIATE_TEST_SUITE_P(All, MqttVersions, testing::Values("mqttv311", "mqttv5"),
                         [](const auto& row) { return std::string(row.param); });

// ---- Brokers that hang

// With block frames wait, and come out when it goes on.
TEST_F(Mqtt, WaitsForABrokerThatIsSlow) {
  Mosquitto broker;
  broker.start();
  Publishing publishing(broker.location("t"), "queue-size=1000");
  publishing.push(10);
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 10; }));
  broker.pause();
  publishing.push(500);
  EXPECT_EQ(publishing.counts().published, 10U);
  EXPECT_EQ(publishing.counts().queued, 500U);
  broker.go_on();
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 510U);
}

// The second one takes connections, and says and reads nothing.
TEST_F(Mqtt, NeitherStallsNorEndsAtABrokerThatIsAwayOrNeverAnswers) {
  const ReservedPort away;
  const Listener silent;
  for (const int port : {away.number(), silent.port()}) {
    expect_that_policies_drop("mqtt://127.0.0.1:" + std::to_string(port) + "/t", 10 + 20 + 1);
  }
}

// The system would try for two minutes: nobody takes its connections out of a short queue.
TEST_F(Mqtt, IsNotWaitedForByAStopWhereNobodyTakesTheConnection) {
  const Listener listener;
  std::vector<int> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_in address = loopback(listener.port());
    ::connect(others.back(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  Publishing publishing("mqtt://127.0.0.1:" + std::to_string(listener.port()) + "/t",
                        "drain-time=0");
  publishing.push(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto begin = std::chrono::steady_clock::now();
  publishing.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  for (const int fd : others) ::close(fd);
}

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
  std::string with(const std::string& authority, const std::string& more = {}) const {
    return config("cafile=" + file(authority + ".pem") + ",cert=" + file("client.pem") +
                  ",key=" + file("client.key") + more);
  }
  void expect_refused(const std::string& host, const std::string& properties) const {
    Publishing publishing(location(host), properties);
    const std::string said = publishing.error();
    EXPECT_TRUE(has(said, "refuses ("));
    EXPECT_EQ(publishing.counts().published, 0U);
  }

  const Certificates certificates_;
  std::optional<Mosquitto> broker_;
};

TEST_F(MqttTls, RefusesABrokerOfAnotherAuthorityOrHost) {
  expect_refused("localhost", with("other"));
  expect_refused("127.0.0.1", with("ca"));
}

void expect_to_go_on_behind_a_kill(Mosquitto& broker, const std::string& location,
                                   const std::string& properties) {
  Publishing publishing(location, properties);
  publishing.push(10);
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 10; }));
  broker.end();
  publishing.push(10);
  broker.start();
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 20U);
}

TEST_F(MqttTls, PublishesWithCertificatesOfBothSides) {
  for (const char* version : {",protocol-version=mqttv311", ",protocol-version=mqttv5"}) {
    expect_to_go_on_behind_a_kill(*broker_, location("localhost"), with("ca", version));
  }
}

/// With the authorities of the system, which OpenSSL reads from the file that the variable names.
TEST_F(MqttTls, GoesOnWithTheSystemsAuthoritiesToo) {
  Mosquitto broker(std::vector<std::string>{
      "allow_anonymous true", "certfile " + file("broker.pem"), "keyfile " + file("broker.key")});
  broker.start();
  ::setenv("SSL_CERT_FILE", file("ca.pem").c_str(), 1);
  expect_to_go_on_behind_a_kill(broker, "mqtts://localhost:" + std::to_string(broker.port()) + "/t",
                                "");
  ::unsetenv("SSL_CERT_FILE");
}

TEST_F(MqttTls, TakesAnotherHostsNameWhereThatIsAskedFor) {
  Publishing publishing(location("127.0.0.1"), with("ca", ",insecure=true"));
  publishing.push(1);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 1U);
}

TEST_F(Mqtt, TellsOnceOfABrokerThatEndsEachConnectionSoon) {
  Mosquitto broker;
  broker.start();
  Publishing one(broker.location("t"), config("id=camera"));
  Publishing two(broker.location("t"), config("id=camera"));
  for (int i = 0; i < 20; ++i) {
    one.push(1);
    two.push(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(becomes([&] {
    return one.has_warning("another client has this id") ||
           two.has_warning("another client has this id");
  }));
}

// ---- The last will

TEST_F(Mqtt, HasItsLastWillWhenItIsKilledAlone) {
  Mosquitto broker;
  broker.start();
  const Subscriber subscriber(broker, "#", 2, {"-F", "%q %p"});
  const std::string will =
      config("will-topic=state,will-payload=gone,will-qos=2,will-retain=true,qos=2");
  {
    Publishing publishing(broker.location("t"), will);
    publishing.push(1);
    EXPECT_TRUE(becomes([&] { return subscriber.lines().size() == 1; }));
    publishing.end_stream();
  }
  // One frame, and no end of the stream.
  ChildProcess child(
      pipeline_command("funnel name=all ! npupublish location=" + broker.location("t") + " " +
                       will +
                       " fakesrc num-buffers=1 ! all. videotestsrc is-live=true ! valve drop=true "
                       "! all."),
      broker.folder().file("child"));
  ASSERT_TRUE(becomes([&] { return subscriber.lines().size() == 2; }))
      << broker.folder().read("child");
  child.end(SIGKILL);
  EXPECT_TRUE(becomes([&] { return subscriber.lines().size() == 3; }));
  EXPECT_EQ(subscriber.lines().back(), "2 gone");
}

// ---- The configuration

TEST(MqttConfig, IsRefused) {
  expect_refusals("mqtt://localhost/t", {{"mqtt-qos=1", "it has id, username, pw"},
                                         {"qos=3", "wrong qos: write a number from 0 to 2"},
                                         {"retain=yes", "wrong retain: write true or false"},
                                         {"protocol-version=4", "write mqttv311 or mqttv5"},
                                         {"keepalive=1", "wrong keepalive: write a number from 5"},
                                         {"cafile=/etc/passwd", "which is for TLS: write mqtts://"},
                                         {"will-payload=x", "a will-payload without will-topic"},
                                         {"will-topic=a/#", "name one topic, without + and #"},
                                         {"clean-session=false", "write id=NAME, too"}});
  expect_refusals("mqtts://localhost/t",
                  {{"cafile=/nowhere/ca.pem", "the files cafile, cert and key"}});
  expect_refusals("mqtt://localhost/a/#", {{"qos=1", "the topic of location"}});
}

}  // namespace
}  // namespace mqtt_test
