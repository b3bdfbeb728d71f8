// npupublish at a broker that keeps count of what comes again, and wants to know who sends.
#include "kafka_broker.hpp"

#include <chrono>
#include <cstdlib>
#include <future>
#include <numeric>
#include <optional>
#include <thread>

#include "gst/leak_check.hpp"

#include "certificates.hpp"
#include "listener.hpp"
#include "publishing.hpp"

namespace {

using namespace gstnpu_test;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

std::vector<int> first_frames(int count) {
  std::vector<int> frames(static_cast<std::size_t>(count));
  std::iota(frames.begin(), frames.end(), 0);
  return frames;
}

// Lines that were taken, and never confirmed, go out again; the topic has each once.
TEST(Kafka, HasEachLineOnceThoughConnectionsAreCut) {
  KafkaBroker broker({"--cut-every", "2"});
  broker.start();
  Publishing publishing(broker.location());
  publishing.push(500);
  publishing.end_stream();
  const Counts counts = publishing.counts();
  EXPECT_EQ(counts.published, 500U);
  EXPECT_EQ(counts.failed + counts.dropped + counts.queued, 0U);
  EXPECT_EQ(broker.frames(), first_frames(500));
  EXPECT_GT(broker.repeated(), 0U) << "nothing was tested";
}

TEST(Kafka, HasEachLineOnceThoughItIsKilled) {
  KafkaBroker broker;
  broker.start();
  Publishing publishing(broker.location());
  for (guint64 round = 0; round < 4; ++round) {
    publishing.push(100);
    EXPECT_TRUE(becomes([&] { return publishing.counts().published > 100 * round; }));
    broker.kill();
    publishing.push(20);
    broker.start();
  }
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 480U);
  EXPECT_EQ(broker.frames(), first_frames(480));
}

TEST(Kafka, IsWaitedForFromTheStart) {
  KafkaBroker broker;
  Publishing publishing(broker.location(), "stream-id=gate");
  publishing.push(100);
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("no broker takes lines at kafka://"); }));
  EXPECT_EQ(publishing.counts().queued, 100U);
  broker.start();
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 100U);
  EXPECT_EQ(broker.frames(), first_frames(100));
  EXPECT_EQ(broker.messages()[0].find("gate\t{\"frame\":0,"), 0U) << broker.messages()[0];
}

TEST(Kafka, IsToldOfEachTimeThatItGoes) {
  KafkaBroker broker;
  broker.start();
  Publishing publishing(broker.location(), "drain-time=0");
  for (guint64 round = 1; round <= 2; ++round) {
    publishing.push(1);
    EXPECT_TRUE(becomes([&] { return publishing.counts().published == 2 * round - 1; }));
    broker.kill();
    publishing.push(1);
    EXPECT_TRUE(becomes([&] { return publishing.has_warning("no broker takes lines at"); }));
    broker.start();
    EXPECT_TRUE(becomes([&] { return publishing.counts().published == 2 * round; }));
  }
}

// Dropped or delivered, once, and in order.
TEST(Kafka, HasWhatWasNotDroppedWhereItWasAway) {
  for (const char* policy : {"drop-old", "drop-new"}) {
    KafkaBroker broker;
    broker.start();
    Publishing publishing(broker.location(),
                          std::string("queue-size=10 drain-time=60000 policy=") + policy);
    publishing.push(5);
    EXPECT_TRUE(becomes([&] { return publishing.counts().published == 5; }));
    broker.kill();
    publishing.push(995);
    EXPECT_LE(publishing.counts().queued, 10U + 64U);
    broker.start();
    publishing.end_stream();
    const Counts counts = publishing.counts();
    EXPECT_EQ(counts.published + counts.dropped, 1000U);
    EXPECT_EQ(counts.failed + counts.queued, 0U);
    const std::vector<int> frames = broker.frames();
    EXPECT_EQ(frames.size(), counts.published);
    EXPECT_TRUE(std::adjacent_find(frames.begin(), frames.end(), std::greater_equal<>()) ==
                frames.end());
  }
}

// Each as soon as it is, also where others wait for long.
TEST(Kafka, IsToldOfWhatIsConfirmed) {
  KafkaBroker broker({"--confirm", "5"});
  broker.start();
  Publishing publishing(broker.location(),
                        "eos-time=1 drain-time=0 "
                        "kafka-config=batch.num.messages=1,max.in.flight=1,linger.ms=0");
  publishing.push(40);
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 5; }));
  EXPECT_EQ(publishing.counts().queued, 35U);
  publishing.end_stream();
  EXPECT_TRUE(publishing.has_warning("35 lines for"));
}

// ---- Logins

/// At the end of its stream.
void expect_all_out(Publishing& publishing, guint64 lines) {
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, lines);
  EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
}

std::string location_of(const KafkaBroker& first, const KafkaBroker& second) {
  const std::string location = first.location();
  return location.substr(0, location.rfind('/')) + "," +
         second.location().substr(std::string("kafka://").size());
}

class KafkaLogin : public testing::TestWithParam<const char*> {
 protected:
  KafkaLogin() : broker_({"--user", "me", "right"}) { broker_.start(); }
  std::string properties() const {
    return std::string("kafka-user=me kafka-sasl=") + GetParam() + " ";
  }
  void expect_taken(const std::string& login) {
    Publishing publishing(broker_.location(), properties() + login);
    publishing.push(1);
    publishing.end_stream();
    EXPECT_EQ(publishing.counts().published, 1U) << login << publishing.warning();
  }

  std::string and_also(const KafkaBroker& other) const { return location_of(other, broker_); }

  KafkaBroker broker_;
};

// A broker that goes, or is not ready, refuses nobody.
TEST_P(KafkaLogin, IsTriedAgainWhereItWasCut) {
  KafkaBroker broker({"--user", "me", "right", "--cut-logins", "1"});
  broker.start();
  Publishing publishing(broker.location(), properties() + "kafka-password=right");
  publishing.push(10);
  expect_all_out(publishing, 10);
}

TEST_P(KafkaLogin, IsTaken) {
  const TempFolder folder;
  expect_taken("kafka-password=right");
  expect_taken("kafka-password-file=" + folder.write("password", "right\n"));
  ::setenv("NPU_KAFKA_PASSWORD", "right", 1);
  expect_taken("");
  ::unsetenv("NPU_KAFKA_PASSWORD");
  expect_taken("kafka-config-file=" + folder.write("config", "sasl.password=right\n"));
}

TEST_P(KafkaLogin, IsRefusedWithAWrongPassword) {
  Publishing publishing(broker_.location(), properties() + "kafka-password=wrong");
  const std::string said = publishing.error();
  EXPECT_NE(said.find("the brokers at kafka://"), std::string::npos) << said;
  EXPECT_NE(said.find("Authentication failed"), std::string::npos) << said;
  EXPECT_EQ(said.find("wrong"), std::string::npos) << "no password in a message";
}

// As long as another one takes lines.
TEST_P(KafkaLogin, MayBeRefusedByOneBrokerOfSeveral) {
  KafkaBroker other({"--user", "me", "another"});
  other.start();
  for (int i = 0; i < 5; ++i) {  // the first one that is asked is chosen at random
    Publishing publishing(and_also(other), properties() + "kafka-password=right");
    publishing.push(3);
    expect_all_out(publishing, 3);
  }
}

TEST_P(KafkaLogin, IsAwaitedOfABrokerThatIsSlowerThanTheOneThatRefuses) {
  KafkaBroker other({"--user", "me", "another"});
  other.start();
  broker_.halt();
  Publishing publishing(and_also(other), properties() + "kafka-password=right");
  publishing.push(3);
  // Longer than lines may go unconfirmed without a word.
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("no broker takes lines at"); }));
  broker_.go_on();
  expect_all_out(publishing, 3);
}

TEST_P(KafkaLogin, IsRefusedWhereEachBrokerRefuses) {
  KafkaBroker other({"--user", "me", "another"});
  other.start();
  Publishing publishing(and_also(other), properties() + "kafka-password=wrong");
  const std::string said = publishing.error();
  EXPECT_NE(said.find("Authentication failed"), std::string::npos) << said;
}

TEST_P(KafkaLogin, IsToldOfWhereOneBrokerRefusesAndOneIsAway) {
  KafkaBroker other({"--user", "me", "another"});
  Publishing publishing(and_also(other), properties() + "kafka-password=another drain-time=0");
  publishing.push(3);
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("Authentication failed"); }));
  other.start();
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 3; }));
  EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
}

// Where lines may be lost a refusal costs lines, and the pipeline goes on.
TEST_P(KafkaLogin, IsOutlivedWhereItIsRefusedAndPolicyDrops) {
  Publishing publishing(
      broker_.location(),
      properties() + "kafka-password=wrong policy=drop-new queue-size=2 drain-time=0");
  publishing.push(100);
  EXPECT_TRUE(becomes([&] { return publishing.counts().failed > 0; }));
  publishing.push(100);
  const Counts counts = publishing.counts();
  EXPECT_EQ(counts.published, 0U);
  EXPECT_EQ(counts.failed + counts.dropped + counts.queued, 200U);
  EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
}

INSTANTIATE_TEST_SUITE_P(All, KafkaLogin,
                         testing::Values("plain", "scram-sha-256", "scram-sha-512"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

constexpr const char* kMe = "kafka-user=me kafka-password=right ";

// The first brokers are those of location.
TEST(KafkaUser, MayBeRefusedByABrokerThatTheFirstOneNames) {
  KafkaBroker leader({"--user", "me", "another"});
  leader.start();
  KafkaBroker broker({"--user", "me", "right", "--leader", std::to_string(leader.port())});
  broker.start();
  Publishing publishing(broker.location(), std::string(kMe) + "drain-time=0");
  publishing.push(3);
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("check the properties kafka-..."); }));
  leader.kill();
  leader.start_with({"--user", "me", "right"});
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 3; }));
  EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
}

// A camera that takes its time and a broker that was not ready are started together.
TEST(KafkaUser, MayHaveBeenRefusedBeforeTheFirstLine) {
  KafkaBroker broker({"--user", "me", "right", "--refuse-first", "1"});
  broker.start();
  Publishing publishing(broker.location(), kMe);
  EXPECT_TRUE(becomes([&] { return broker.refused() > 0 && broker.told() > 0; }));
  publishing.push(3);
  expect_all_out(publishing, 3);
}

// The refusal is over, but no line is confirmed for as long as a verdict takes.
TEST(KafkaUser, MayHaveBeenRefusedByABrokerThatIsBusySince) {
  KafkaBroker broker({"--user", "me", "right", "--refuse-first", "1", "--busy", "600"});
  broker.start();
  Publishing publishing(broker.location(), kMe);
  EXPECT_TRUE(becomes([&] { return broker.refused() > 0 && broker.told() > 0; }));
  publishing.push(3);
  // For whatever reason it gives: on a busy machine the connection may have been cut meanwhile.
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("no broker takes lines"); }));
  broker.kill();
  broker.start_with({"--user", "me", "another"});  // no verdict either: its users may be late
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("check the properties kafka-..."); }));
  broker.kill();
  broker.start_with({"--user", "me", "right"});
  expect_all_out(publishing, 3);
}

TEST(KafkaUser, WhomABrokerHasLetInSinceIsRefusedByTheOthersAlone) {
  KafkaBroker other({"--user", "me", "another"});
  KafkaBroker broker({"--user", "me", "right", "--refuse-first", "1", "--busy", "60"});
  broker.start();
  Publishing publishing(location_of(broker, other), std::string(kMe) + "drain-time=0");
  publishing.push(3);
  EXPECT_TRUE(becomes([&] { return broker.refused() > 0 && broker.told() > 0; }));
  broker.kill();
  other.start();
  EXPECT_TRUE(becomes([&] { return other.refused() > 0; }));
  std::this_thread::sleep_for(std::chrono::seconds(6));  // longer than a verdict takes
  broker.start_with({"--user", "me", "right"});
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 3; }));
  EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
}

// A refusal is told also where the stream ends before anybody is sure of it.
TEST(KafkaUser, IsToldOfARefusalAtAStop) {
  KafkaBroker away, other({"--user", "me", "another"});
  other.start();
  Publishing publishing(location_of(other, away), std::string(kMe) + "drain-time=0");
  publishing.push(3);
  EXPECT_TRUE(becomes([&] { return other.refused() > 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  publishing.stop();
  EXPECT_TRUE(publishing.has_warning("Authentication failed"));
}

// Users of a broker that starts may be late.
TEST(KafkaUser, IsTriedAgainWhereHeWasTakenOnce) {
  KafkaBroker broker({"--user", "me", "right"});
  broker.start();
  Publishing publishing(broker.location(), "kafka-user=me kafka-password=right");
  publishing.push(1);
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 1; }));
  broker.kill();
  broker.start_with({"--user", "me", "another"});
  publishing.push(10);
  EXPECT_TRUE(becomes([&] { return broker.refused() > 0; }));
  broker.kill();
  broker.start();
  expect_all_out(publishing, 11);
}

// ---- TLS

class KafkaTls : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("openssl").empty()) {
      GTEST_SKIP() << "openssl is not installed";
    }
    broker_.emplace(std::vector<std::string>{
        "--tls", certificates_.file("broker.pem"), certificates_.file("broker.key"), "--client-ca",
        certificates_.file("ca.pem"), "--user", "me", "right"});
    broker_->start();
  }
  std::string with(const std::string& authority, const std::string& client) const {
    return "kafka-tls=true kafka-user=me kafka-password=right " +
           certificates_.properties("kafka", authority, client);
  }
  void expect_refused(const std::string& location, const std::string& properties) {
    Publishing publishing(location, properties);
    const std::string said = publishing.error();
    EXPECT_NE(said.find("SSL"), std::string::npos) << said;
    EXPECT_EQ(publishing.counts().published, 0U);
  }

  const Certificates certificates_;
  std::optional<KafkaBroker> broker_;
};

TEST_F(KafkaTls, PublishesWithCertificatesOfBothSides) {
  Publishing publishing(broker_->location(), with("ca", "client"));
  publishing.push(50);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 50U) << publishing.warning();
}

TEST_F(KafkaTls, RefusesABrokerOfAnotherAuthority) {
  expect_refused(broker_->location(), with("other", "client"));
}

TEST_F(KafkaTls, TakesNoCertificateOfAnotherHost) {
  std::string location = broker_->location();
  location.replace(location.find("localhost"), std::string("localhost").size(), "127.0.0.1");
  expect_refused(location, with("ca", "client"));
}

// With TLS 1.3 the broker says so behind the handshake.
TEST_F(KafkaTls, IsRefusedWithoutACertificate) {
  expect_refused(broker_->location(), with("ca", ""));
}

// As a balancer without a broker behind it, or one that starts.
TEST_F(KafkaTls, IsTriedAgainWhereTheHandshakeWasCut) {
  broker_->kill();
  broker_->start_with({"--tls", certificates_.file("broker.pem"), certificates_.file("broker.key"),
                       "--user", "me", "right", "--cut-handshakes", "1"});
  Publishing publishing(broker_->location(), with("ca", ""));
  publishing.push(3);
  expect_all_out(publishing, 3);
}

// ---- A broker that takes connections and never answers

class SilentKafkaBroker : public testing::Test {
 protected:
  const Listener server_;  // nobody takes what comes
  const std::string location_ = "kafka://127.0.0.1:" + std::to_string(server_.port()) + "/t";
};

TEST_F(SilentKafkaBroker, NeitherStallsNorEndsAPipelineThatMayDrop) {
  expect_that_policies_drop(location_, 10U + 64U);
}

TEST_F(SilentKafkaBroker, IsToldOf) {
  Publishing publishing(location_, "drain-time=0");
  publishing.push(1);
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("no broker takes lines at kafka://"); }));
  EXPECT_EQ(publishing.counts().queued, 1U);
}

}  // namespace
