// npupublish at a broker that forgets, or does only a part of what one does.
#include "mqtt_broker.hpp"

#include "gst/leak_check.hpp"

#include "late_threads.hpp"
#include "publishing.hpp"

namespace {

using namespace gstnpu_test;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

constexpr std::size_t kMostOnTheirWay = 16;  // lines
constexpr const char* kConnectBehindTheQuestion = "4";

std::map<guint64, int> once_each(guint64 frames) {
  std::map<guint64, int> counted;
  for (guint64 i = 0; i < frames; ++i) counted[i] = 1;
  return counted;
}

bool tells_of_silence(Publishing& publishing) {
  return becomes([&] {
    return publishing.has_warning("(none has confirmed a line for 5 s): trying again until one");
  });
}

// It took what came and gave signs of life. Lines waited for ever, and nobody was told.
TEST(MqttBroker, IsToldOfWhereItConfirmsNothing) {
  for (const char* properties : {"mqtt-qos=1", "mqtt-qos=2 mqtt-version=5.0"}) {
    MqttBroker broker({"--mute"});
    broker.start();
    Publishing publishing(broker.location(), properties);
    publishing.push(3);
    EXPECT_TRUE(becomes([&] { return broker.taken() == 3; }));
    EXPECT_TRUE(tells_of_silence(publishing)) << properties;
    EXPECT_EQ(publishing.counts().queued, 3U);
    broker.kill();
    broker.start_with({});
    publishing.end_stream();
    EXPECT_EQ(publishing.counts().published, 3U);
    EXPECT_EQ(publishing.warning(), "") << "once";
  }
}

TEST(MqttBroker, IsToldOfEachTimeThatItIsSilent) {
  MqttBroker broker;
  broker.start();
  Publishing publishing(broker.location());
  for (guint64 round = 1; round <= 2; ++round) {
    publishing.push(1);
    EXPECT_TRUE(becomes([&] { return publishing.counts().published == 2 * round - 1; }));
    broker.halt();
    publishing.push(1);
    EXPECT_TRUE(tells_of_silence(publishing));
    broker.go_on();
    EXPECT_TRUE(becomes([&] { return publishing.counts().published == 2 * round; }));
  }
}

// The library says no more than that there is no connection.
TEST(MqttBroker, IsToldOfWhereNobodyKnowsItsHost) {
  constexpr std::size_t kMoreThanALabelHas = 64;  // so that no name server is asked
  Publishing publishing("mqtt://" + std::string(kMoreThanALabelHas, 'a') + "/t");
  publishing.push(1);
  EXPECT_TRUE(becomes([&] { return publishing.has_warning("names a host that is not found"); }));
}

// The stream ended, and more lines were counted as published than there are.
TEST(MqttBroker, IsConnectedToOnceThereIsAThread) {
  MqttBroker broker;
  broker.start();
  Publishing publishing(broker.location());
  {
    const NoThreads none;
    publishing.push(3);
    EXPECT_TRUE(becomes([&] { return publishing.has_warning("no broker takes lines at"); }));
    EXPECT_EQ(publishing.counts().queued, 3U);
  }
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 3U);
}

class MqttSessions : public testing::TestWithParam<const char*> {
 protected:
  std::string properties() const {
    return std::string("mqtt-qos=2 mqtt-version=") + GetParam() + " ";
  }
};

// It had taken these lines, and not yet given them out: the library only asked it to do so. They
// were lost, and counted as published.
TEST_P(MqttSessions, AreBegunAnewAtABrokerThatHasForgottenThem) {
  MqttBroker broker({"--hold-releases"});
  broker.start();
  Publishing publishing(broker.location(), properties());
  publishing.push(40);
  for (std::size_t round = 1; round <= 2; ++round) {
    EXPECT_TRUE(becomes([&] { return broker.releases() == round * kMostOnTheirWay; }));
    broker.kill();
    broker.start();
  }
  EXPECT_TRUE(becomes([&] { return broker.releases() == 3 * kMostOnTheirWay; }));
  EXPECT_EQ(publishing.counts().published, 0U);
  broker.kill();
  broker.start_with({});
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 40U);
  EXPECT_EQ(broker.frames(), once_each(40));
}

// It has given these lines out, and they are not to come again.
TEST_P(MqttSessions, GoOnAtABrokerThatKeepsThem) {
  MqttBroker broker({"--cut-releases", "3"});
  broker.start();
  Publishing publishing(broker.location(), properties());
  publishing.push(40);
  publishing.end_stream();
  const Counts counts = publishing.counts();
  EXPECT_EQ(counts.published, 40U);
  EXPECT_EQ(counts.failed, 0U) << publishing.harness().message(GST_MESSAGE_ERROR);
  EXPECT_EQ(broker.frames(), once_each(40));
}

// A client of the same name, as in a pipeline that was killed, has left messages with the numbers
// that this one's will have.
TEST_P(MqttSessions, BeginWithoutWhatAnotherClientHasLeft) {
  MqttBroker broker({"--hold", "3"});
  broker.start();
  const std::string more = properties() + "mqtt-client-id=camera drain-time=0";
  {
    Publishing gone(broker.location(), more + " stream-id=gone");
    gone.push(3);
    EXPECT_TRUE(becomes([&] { return broker.taken() == 3; }));
  }
  Publishing publishing(broker.location(), more);
  publishing.push(40);
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 40; }));
  for (const std::string& line : broker.messages()) {
    EXPECT_EQ(line.find("gone"), std::string::npos) << line;
  }
  EXPECT_EQ(broker.frames(), once_each(40));
}

// The question for the session had itself begun one, which the next question found.
TEST_P(MqttSessions, AreBegunAnewWhereTheBrokerDoesNotAnswerTheQuestion) {
  MqttBroker broker({"--hold-releases"});
  broker.start();
  Publishing publishing(broker.location(), properties());
  publishing.push(40);
  EXPECT_TRUE(becomes([&] { return broker.releases() == kMostOnTheirWay; }));
  broker.kill();
  broker.start_with({"--cut-connect", "1"});
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 40U);
  EXPECT_EQ(broker.frames(), once_each(40));
}

// A first attempt that was given up, and reached the broker late, left an empty session, which was
// taken for the one that it had ended.
TEST_P(MqttSessions, AreNotTakenForOneOfAnAttemptThatComesLate) {
  MqttBroker broker({"--late-connect-at", "4"});
  broker.start();
  Publishing publishing(broker.location(), properties());
  publishing.push(40);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 40U);
  // Lines given out just before may come again: the session is gone.
  EXPECT_EQ(broker.frames().size(), 40U);
}

// It had said that it has the session, so what it has given out is not to come again.
TEST_P(MqttSessions, GoOnWhereAResumedConnectionBreaks) {
  for (const char* end : {"--end-connection", "--cut-connect"}) {
    MqttBroker broker({"--cut-releases", "1", end, kConnectBehindTheQuestion});
    broker.start();
    Publishing publishing(broker.location(), properties());
    publishing.push(40);
    publishing.end_stream();
    EXPECT_EQ(publishing.counts().published, 40U);
    EXPECT_EQ(broker.frames(), once_each(40)) << end;
  }
}

// The library fails where its thread is so late. Lines came twice, or the process crashed.
TEST_P(MqttSessions, GoOnWhereThreadsStartLate) {
  for (const int late_ms : {840, 1500}) {
    MqttBroker broker({"--cut-releases", "2"});
    broker.start();
    const LateThreads late{std::chrono::milliseconds(late_ms)};
    Publishing publishing(broker.location(), properties());
    publishing.push(40);
    publishing.end_stream();
    EXPECT_EQ(publishing.counts().published, 40U);
    EXPECT_EQ(broker.frames(), once_each(40)) << late_ms;
    EXPECT_GE(LateThreads::count(), 3) << "a connection and two more";
  }
}

// It had lost the session behind the question, and what was given up had begun an empty one, which
// was taken for the one that was lost.
TEST_P(MqttSessions, AreBegunAnewWhereTheBrokerDoesNotAnswerBehindTheQuestion) {
  MqttBroker broker({"--cut-at-release", std::to_string(kMostOnTheirWay), "--forget-at",
                     kConnectBehindTheQuestion, "--mute-connect", kConnectBehindTheQuestion});
  broker.start();
  Publishing publishing(broker.location(), properties());
  publishing.push(40);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 40U);
  EXPECT_EQ(broker.frames(), once_each(40));
}

// The question for the session uses 3.1.1, so such a broker does not answer it.
TEST(MqttSession, IsBegunAnewAtABrokerOfMqtt5Alone) {
  for (const char* refusal : {"--only-5", "--refuse-silently"}) {
    MqttBroker broker({"--only-5", refusal, "--hold-releases"});
    broker.start();
    Publishing publishing(broker.location(), "mqtt-qos=2 mqtt-version=5.0");
    publishing.push(40);
    EXPECT_TRUE(becomes([&] { return broker.releases() == kMostOnTheirWay; }));
    broker.kill();
    broker.start_with({"--only-5", refusal});
    publishing.end_stream();
    EXPECT_EQ(publishing.counts().published, 40U);
    EXPECT_EQ(broker.frames(), once_each(40)) << refusal;
  }
}

// It said that it had the session, and had lost it when the client came: the library told that what
// it had asked for was out.
TEST(MqttSession, IsBegunAnewWhereItGoesBehindTheQuestion) {
  MqttBroker broker({"--cut-at-release", std::to_string(kMostOnTheirWay), "--forget-at",
                     kConnectBehindTheQuestion});
  broker.start();
  Publishing publishing(broker.location(), "mqtt-qos=2 mqtt-version=3.1.1");
  publishing.push(40);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 40U);
  EXPECT_EQ(broker.frames(), once_each(40));
}

// The library held up who sent more than the broker takes at once, and nobody was told.
TEST(MqttBroker, IsToldOfWhereItTakesFewLinesAndConfirmsNone) {
  MqttBroker broker({"--mute", "--receive-maximum", "2"});
  broker.start();
  Publishing publishing(broker.location(), "mqtt-qos=1 mqtt-version=5.0");
  publishing.push(5);
  EXPECT_TRUE(tells_of_silence(publishing));
  EXPECT_EQ(broker.taken(), 2U);
  broker.kill();
  broker.start_with({"--receive-maximum", "2"});
  publishing.push(20);
  publishing.end_stream();
  EXPECT_EQ(publishing.counts().published, 25U);
  EXPECT_EQ(broker.frames(), once_each(25));
}

// It has asked the broker to end what an earlier client had left, and need not come back.
TEST(MqttBroker, IsNotComeBackToByWhoHasEnded) {
  MqttBroker broker({"--slow-connect", "2"});
  broker.start();
  {
    Publishing ended(broker.location(), "mqtt-qos=2 mqtt-version=3.1.1 drain-time=0");
    ended.push(1);
    EXPECT_TRUE(becomes([&] { return broker.connects() == 1; }));
  }
  Publishing publishing(broker.location(), "mqtt-qos=1");  // which connects behind it
  publishing.push(1);
  EXPECT_TRUE(becomes([&] { return publishing.counts().published == 1; }));
  EXPECT_EQ(broker.connects(), 2U);
}

INSTANTIATE_TEST_SUITE_P(All, MqttSessions, testing::Values("3.1.1", "5.0"),
                         [](const auto& row) { return std::string("v") + row.param[0]; });

}  // namespace
