#include <gtest/gtest.h>

#include "publish/sinks/sink.hpp"

#include "hand_made_frames.hpp"

namespace gstnpu {
namespace {

using Kind = Location::Kind;

struct GoodRow : Named {
  const char* text;
  Kind kind;
  const char *path, *host;
  int port;
  const char* topic;
};

class GoodLocation : public testing::TestWithParam<GoodRow> {};

TEST_P(GoodLocation, IsTakenApart) {
  const GoodRow& row = GetParam();
  const Location location = parse_location(row.text);
  EXPECT_EQ(location.kind, row.kind);
  EXPECT_EQ(location.path, row.path);
  EXPECT_EQ(location.host, row.host);
  EXPECT_EQ(location.port, row.port);
  EXPECT_EQ(location.topic, row.topic);
}

INSTANTIATE_TEST_SUITE_P(
    All, GoodLocation,
    testing::Values(GoodRow{{"nothing"}, "", Kind::kFile, "", "", 0, ""},
                    GoodRow{{"dash"}, "-", Kind::kFile, "", "", 0, ""},
                    GoodRow{{"path"}, "a/b:c", Kind::kFile, "a/b:c", "", 0, ""},
                    GoodRow{{"file"}, "file:out", Kind::kFile, "out", "", 0, ""},
                    GoodRow{{"file_url"}, "file:///tmp/out", Kind::kFile, "/tmp/out", "", 0, ""},
                    GoodRow{{"unix_path"}, "unix:/tmp/s", Kind::kUnix, "/tmp/s", "", 0, ""},
                    GoodRow{{"tcp"}, "tcp://host:80", Kind::kTcp, "", "host", 80, ""},
                    GoodRow{{"tcp_address"}, "tcp://[::1]:80", Kind::kTcp, "", "::1", 80, ""},
                    GoodRow{{"mqtt"}, "mqtt://broker/a", Kind::kMqtt, "", "broker", 1883, "a"},
                    GoodRow{{"mqtt_port"}, "mqtt://broker:5/a", Kind::kMqtt, "", "broker", 5, "a"},
                    GoodRow{{"mqtts"}, "mqtts://[::1]/a", Kind::kMqtts, "", "::1", 8883, "a"},
                    GoodRow{{"levels"},
                            "mqtt://broker/a/b c/d:@?e",
                            Kind::kMqtt,
                            "",
                            "broker",
                            1883,
                            "a/b c/d:@?e"},
                    GoodRow{{"capitals"}, "MQTT://broker/a", Kind::kMqtt, "", "broker", 1883, "a"},
                    GoodRow{{"kafka"}, "kafka://a,b:9093/t", Kind::kKafka, "", "a,b:9093", 0, "t"}),
    by_name);

struct BadRow : Named {
  const char *text, *said;
};

void expect_words(const std::string& said, const char* expected) {
  EXPECT_TRUE(has(said, expected));
  EXPECT_FALSE(has(said, "secret-value"));
}

class BadLocation : public testing::TestWithParam<BadRow> {};

TEST_P(BadLocation, IsRefused) {
  expect_words(thrown_by([] { parse_location(GetParam().text); }), GetParam().said);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLocation,
    testing::Values(
        BadRow{{"no_port"}, "tcp://host", "has no port"},
        BadRow{{"no_host"}, "tcp://:80", "has no host"},
        BadRow{{"port_0"}, "tcp://host:0", "has no port from 1 to 65535"},
        BadRow{{"large_port"}, "tcp://host:65536", "write tcp://HOST:PORT"},
        BadRow{{"word"}, "tcp://host:http", "write tcp://HOST:PORT"},
        BadRow{{"tcp_path"}, "tcp://host:80/x", "has a path"},
        BadRow{{"no_path"}, "unix:", "has no path"}, BadRow{{"no_file"}, "file:", "has no path"},
        BadRow{{"no_number"}, "fd:", "has no number of a descriptor"},
        BadRow{{"word_as_number"}, "fd:out", "write fd:NUMBER"},
        BadRow{{"no_topic"}, "mqtt://broker", "has no topic"},
        BadRow{{"empty_topic"}, "kafka://broker/", "has no topic"},
        BadRow{{"no_brokers"}, "kafka:///t", "has no host"},
        BadRow{{"scheme"}, "amqp://me:secret-value@broker/t", "\"amqp://\", which npupublish"},
        BadRow{{"capitals"}, "MQTT://me:secret-value@broker/t", "names a user"},
        BadRow{{"no_slashes"}, "tcp:127.0.0.1:99", "write tcp://HOST:PORT"},
        BadRow{{"mqtt_no_slashes"}, "mqtt:host/t", "has no // behind its scheme"},
        BadRow{{"user"}, "mqtt://me:secret-value@broker/t", "names a user"},
        BadRow{{"tcp_user"}, "tcp://me:secret-value@broker:9", "names a user"},
        BadRow{{"kafka_user"}, "kafka://me:se/secret-value@broker/t", "names a user"}),
    by_name);

// ---- broker-config and its file

TEST(BrokerConfigText, IsReadInTheOrderOfFileAndProperty) {
  const gstnpu_test::TempFolder folder;
  const std::string file = folder.write("config", "# of the test\n\n a = 1 \npw=x,=y\r\n");
  EXPECT_EQ(read_broker_config(file, "a=2,b=c\\,d,e="),
            (BrokerConfig{{"a", "1"}, {"pw", "x,=y"}, {"a", "2"}, {"b", "c,d"}, {"e", ""}}));
  EXPECT_EQ(read_broker_config("", ""), BrokerConfig());
  EXPECT_EQ(read_broker_config(folder.write("marked",
                                            "\xef\xbb\xbf"
                                            "a=1\n"),
                               ""),
            (BrokerConfig{{"a", "1"}}));
}

void expect_refused(const std::string& file, const std::string& property, const char* why) {
  expect_words(thrown_by([&] { read_broker_config(file, property); }), why);
}

TEST(BrokerConfigText, IsRefusedWithoutShowingAValue) {
  const gstnpu_test::TempFolder folder;
  expect_refused("", "acks", "broker-config: entry 1 is not KEY=VALUE");
  expect_refused("", "a=1,b:secret-value=2", "entry 2 is not KEY=VALUE");
  expect_refused(folder.write("config", "{\"pw\": \"secret-value\"}\n"), "",
                 "broker-config-file: entry 1 is not KEY=VALUE");
  expect_refused("/nowhere/config", "", "No such file");
  for (const char* key : {"pw", "sasl.password", "ssl.key.pem", "sasl.oauthbearer.client.secret"}) {
    expect_refused("", std::string(key) + "=secret-value", "broker-config-file");
  }
}

}  // namespace
}  // namespace gstnpu
