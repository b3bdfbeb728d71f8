#include "publish/sinks/broker_location.hpp"

#include <gtest/gtest.h>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

struct GoodRow {
  const char* name;
  const char* location;
  const char *scheme, *host, *port, *topic;
};

class GoodBroker : public testing::TestWithParam<GoodRow> {};

TEST_P(GoodBroker, IsTakenApart) {
  const GoodRow& row = GetParam();
  const BrokerLocation broker = parse_broker_location(row.location);
  EXPECT_EQ(broker.scheme, row.scheme);
  ASSERT_EQ(broker.addresses.size(), 1U);
  EXPECT_EQ(broker.addresses[0].host, row.host);
  EXPECT_EQ(broker.addresses[0].port, row.port);
  EXPECT_EQ(broker.topic, row.topic);
}

INSTANTIATE_TEST_SUITE_P(
    All, GoodBroker,
    testing::Values(GoodRow{"plain", "mqtt://broker:1884/a", "mqtt", "broker", "1884", "a"},
                    GoodRow{"usual_port", "mqtt://broker/a", "mqtt", "broker", "1883", "a"},
                    GoodRow{"tls", "mqtts://broker/a", "mqtts", "broker", "8883", "a"},
                    GoodRow{"levels", "mqtt://broker/a/b c/d:e", "mqtt", "broker", "1883",
                            "a/b c/d:e"},
                    GoodRow{"address", "mqtt://[::1]:1884/a", "mqtt", "::1", "1884", "a"},
                    GoodRow{"address_alone", "mqtt://[::1]/a", "mqtt", "::1", "1883", "a"},
                    GoodRow{"kafka", "kafka://broker/a", "kafka", "broker", "9092", "a"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(BrokerLocation, OfKafkaMayNameSeveralBrokers) {
  const BrokerLocation brokers = parse_broker_location("kafka://a,b:09093,[::1]:9094/lines");
  std::vector<std::string> addresses;
  for (const HostAndPort& address : brokers.addresses) addresses.push_back(to_text(address));
  EXPECT_EQ(addresses, (std::vector<std::string>{"a:9092", "b:9093", "[::1]:9094"}));
  EXPECT_EQ(brokers.topic, "lines");
}

struct BadRow {
  const char* name;
  const char *location, *said;
};

const std::string kLongTopic = "kafka://broker/" + std::string(250, 'a');

class BadBroker : public testing::TestWithParam<BadRow> {};

TEST_P(BadBroker, IsRefused) {
  try {
    parse_broker_location(GetParam().location);
    FAIL() << "taken";
  } catch (const npu::Error& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().said), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadBroker,
    testing::Values(BadRow{"nothing", "mqtt://", "has no host: write mqtt://HOST/TOPIC"},
                    BadRow{"no_topic", "mqtts://broker", "has no topic: write mqtts://HOST/TOPIC"},
                    BadRow{"empty_topic", "mqtt://broker:1883/", "has no topic"},
                    BadRow{"port_0", "mqtt://broker:0/a", "has no port from 1 to 65535"},
                    BadRow{"word", "mqtt://broker:mqtt/a", "has no port from 1 to 65535"},
                    BadRow{"wildcard", "mqtt://broker/a/#", "has a topic with + or #"},
                    BadRow{"kafka_levels", "kafka://broker/a/b", "has a topic of other characters"},
                    BadRow{"kafka_long", kLongTopic.c_str(), "or of more than 249"},
                    BadRow{"kafka_dots", "kafka://broker/..", "has a topic of other characters"},
                    BadRow{"kafka_blank", "kafka://a, b/t", "has a blank in a host's name"},
                    BadRow{"kafka_hole", "kafka://a,,b/t", "has no host: write kafka://HOST/TOPIC"},
                    BadRow{"user", "mqtt://me:secret@broker/a", "the location names a user"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(BrokerLocation, IsKnownByItsScheme) {
  EXPECT_TRUE(is_mqtt_location("mqtt://a/b"));
  EXPECT_TRUE(is_mqtt_location("mqtts://a/b"));
  EXPECT_FALSE(is_mqtt_location("kafka://a/b"));
  EXPECT_TRUE(is_kafka_location("kafka://a/b"));
  EXPECT_FALSE(is_kafka_location("mqtt.jsonl"));
}

// Nor does a message show a password, which may hold any character.
TEST(BrokerLocation, IsRefusedWithoutShowingAPassword) {
  for (const char* location : {"mqtt://me:secret@broker/a", "mqtt://me:se/secret@broker/a",
                               "kafka://me:secret@broker/a", "kafka://me:se/secret@broker/a",
                               "kafka://me:12/secret@broker/a", "kafka://a,me:secret@b/t"}) {
    try {
      parse_broker_location(location);
      FAIL() << location << " was taken";
    } catch (const npu::Error& error) {
      EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("names a user"), std::string::npos) << error.what();
    }
  }
}

TEST(LocationOfAnotherKind, MayHaveAnAtWhereItNamesNoHost) {
  for (const char* location : {"", "-", "me@home.jsonl", "/tmp/x://me@home.jsonl", "unix:/tmp/@",
                               "tcp://localhost:1", "mqtt://broker/me@home"}) {
    EXPECT_NO_THROW(check_names_no_user(location)) << location;
  }
  EXPECT_THROW(check_names_no_user("tcp://me@localhost:1"), npu::Error);
}

TEST(BrokerLocation, OfMqttMayHaveAnAtInItsTopic) {
  EXPECT_EQ(parse_broker_location("mqtt://broker/me@home").topic, "me@home");
}

}  // namespace
}  // namespace gstnpu
