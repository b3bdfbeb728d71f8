// npupublish at librdkafka's own cluster for tests, whose brokers err, go and come back.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "gst/element_harness.hpp"
#include "gst/leak_check.hpp"

#include "publishing.hpp"

namespace {

using namespace gstnpu_test;
using gstnpu::test::open_descriptors;
using gstnpu::test::running_threads;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);
constexpr int kBrokers = 3, kPartitions = 4;
constexpr std::int16_t kProduce = 0, kInitProducerId = 22;  // requests of Kafka's protocol

struct DestroyKafka {
  void operator()(rd_kafka_t* handle) const { rd_kafka_destroy(handle); }
  void operator()(rd_kafka_mock_cluster_t* cluster) const {
    rd_kafka_mock_cluster_destroy(cluster);
  }
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
template <class T>
using KafkaPointer = std::unique_ptr<T, DestroyKafka>;

KafkaPointer<rd_kafka_t> new_client(rd_kafka_type_t type, const std::string& servers) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  std::array<char, 256> said{};
  rd_kafka_conf_set_log_cb(conf, nullptr);
  if (!servers.empty()) {
    rd_kafka_conf_set(conf, "bootstrap.servers", servers.c_str(), said.data(), said.size());
    rd_kafka_conf_set(conf, "group.id", "test", said.data(), said.size());
  }
  KafkaPointer<rd_kafka_t> client(rd_kafka_new(type, conf, said.data(), said.size()));
  EXPECT_NE(client, nullptr) << said.data();
  return client;
}

class Cluster {
 public:
  Cluster()
      : owner_(new_client(RD_KAFKA_PRODUCER, "")),
        cluster_(rd_kafka_mock_cluster_new(owner_.get(), kBrokers)) {
    rd_kafka_mock_topic_create(cluster_.get(), "t", kPartitions, kBrokers);
  }

  std::string servers() const { return rd_kafka_mock_cluster_bootstraps(cluster_.get()); }
  std::string location() const {
    const std::string all = servers();
    return "kafka://" + all.substr(0, all.find(',')) + "/t";
  }
  rd_kafka_mock_cluster_t* get() const { return cluster_.get(); }
  void set_up(bool is_up) const {
    for (int broker = 1; broker <= kBrokers; ++broker) {
      if (is_up) {
        rd_kafka_mock_broker_set_up(cluster_.get(), broker);
      } else {
        rd_kafka_mock_broker_set_down(cluster_.get(), broker);
      }
    }
  }
  /// Keys and lines of the topic, in the order of their partition.
  std::vector<std::pair<std::string, std::string>> messages(std::size_t at_least) const;

 private:
  KafkaPointer<rd_kafka_t> owner_;
  KafkaPointer<rd_kafka_mock_cluster_t> cluster_;
};

/// So many, and those that are there beside them.
std::vector<std::pair<std::string, std::string>> Cluster::messages(std::size_t at_least) const {
  const KafkaPointer<rd_kafka_t> consumer = new_client(RD_KAFKA_CONSUMER, servers());
  const KafkaPointer<rd_kafka_topic_partition_list_t> all(
      rd_kafka_topic_partition_list_new(kPartitions));
  for (int i = 0; i < kPartitions; ++i) {
    rd_kafka_topic_partition_list_add(all.get(), "t", i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  }
  rd_kafka_assign(consumer.get(), all.get());
  std::vector<std::pair<std::string, std::string>> found;
  for (int idle = 0; idle < (found.size() < at_least ? 200 : 5);) {
    const KafkaPointer<rd_kafka_message_t> message(rd_kafka_consumer_poll(consumer.get(), 100));
    if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      found.emplace_back(std::string(static_cast<const char*>(message->key), message->key_len),
                         std::string(static_cast<const char*>(message->payload), message->len));
      idle = 0;
    } else {
      ++idle;
    }
  }
  rd_kafka_consumer_close(consumer.get());
  return found;
}

std::vector<int> frames_of(const std::vector<std::pair<std::string, std::string>>& messages) {
  const std::string begin = "{\"frame\":";
  std::vector<int> frames;
  for (const auto& [key, line] : messages) {
    EXPECT_TRUE(line.starts_with(begin) && line.ends_with('}')) << line;
    frames.push_back(std::stoi(line.substr(begin.size())));
  }
  return frames;
}

std::vector<int> first_frames(int count) {
  std::vector<int> frames(static_cast<std::size_t>(count));
  std::iota(frames.begin(), frames.end(), 0);
  return frames;
}

class Kafka : public testing::Test {
 protected:
  void start(const std::string& more = {}) { publishing_.emplace(cluster_.location(), more); }
  void push(int frames) { publishing_->push(frames); }
  void end_stream() { publishing_->end_stream(); }
  bool has_warning(const std::string& said) { return publishing_->has_warning(said); }
  Counts counts() { return publishing_->counts(); }

  Cluster cluster_;
  std::optional<Publishing> publishing_;
};

TEST_F(Kafka, TakesEachLineOnceAndInOrderThoughItErrs) {
  start();
  push(100);
  for (int round = 0; round < 5; ++round) {
    rd_kafka_mock_push_request_errors(
        cluster_.get(), kProduce, 4, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
    push(100);
  }
  end_stream();
  EXPECT_EQ(counts().published, 600U);
  EXPECT_EQ(counts().failed, 0U);
  EXPECT_EQ(frames_of(cluster_.messages(600)), first_frames(600));
}

TEST_F(Kafka, IsWaitedForWhereAllBrokersAreAway) {
  start();
  push(200);
  EXPECT_TRUE(becomes([&] { return counts().published == 200; }));
  cluster_.set_up(false);
  push(300);
  EXPECT_TRUE(becomes([&] { return has_warning("no broker takes lines at kafka://"); }));
  EXPECT_EQ(counts().published, 200U);
  EXPECT_EQ(counts().queued, 300U);
  cluster_.set_up(true);
  end_stream();
  EXPECT_EQ(counts().published, 500U);
  EXPECT_EQ(frames_of(cluster_.messages(500)), first_frames(500));
}

// Lines that a broker took without having said so go out again. A real one knows them by their
// numbers; this one does not, and has those on their way twice.
TEST_F(Kafka, TakesEveryLineThoughBrokersGoWhileLinesAreOnTheirWay) {
  for (int broker = 1; broker <= kBrokers; ++broker) {
    rd_kafka_mock_broker_set_rtt(cluster_.get(), broker, 20);
  }
  start();
  for (int round = 0; round < 5; ++round) {
    push(100);
    EXPECT_TRUE(becomes([&] { return counts().published > 100U * round; }));
    cluster_.set_up(false);
    push(20);
    cluster_.set_up(true);
  }
  end_stream();
  EXPECT_EQ(counts().published, 600U);
  EXPECT_EQ(counts().failed + counts().dropped, 0U);
  std::vector<int> frames = frames_of(cluster_.messages(600));
  std::sort(frames.begin(), frames.end());
  const auto end_of_first = std::unique(frames.begin(), frames.end());
  const auto repeated = std::distance(end_of_first, frames.end());
  frames.erase(end_of_first, frames.end());
  EXPECT_EQ(frames, first_frames(600));
  EXPECT_LE(repeated, 5 * 64) << "more than were on their way";
}

TEST_F(Kafka, GoesOnWithAnotherBrokerWhereOneIsAway) {
  start();
  push(100);
  EXPECT_TRUE(becomes([&] { return counts().published == 100; }));
  rd_kafka_mock_broker_set_down(cluster_.get(), 1);
  for (int partition = 0; partition < kPartitions; ++partition) {
    rd_kafka_mock_partition_set_leader(cluster_.get(), "t", partition, 2);
  }
  push(100);
  end_stream();
  EXPECT_EQ(counts().published, 200U);
  EXPECT_FALSE(has_warning("no broker takes lines")) << "others do";
  rd_kafka_mock_broker_set_up(cluster_.get(), 1);
  EXPECT_EQ(frames_of(cluster_.messages(200)), first_frames(200));
}

TEST_F(Kafka, IsFoundWhereTheFirstBrokerOfSeveralIsAway) {
  publishing_.emplace("kafka://127.0.0.1:1," +
                      cluster_.location().substr(std::string("kafka://").size()));
  push(10);
  end_stream();
  EXPECT_EQ(counts().published, 10U);
  EXPECT_FALSE(has_warning("no broker takes lines"));
}

TEST_F(Kafka, TakesTheStreamsIdAsKey) {
  start("stream-id=gate");
  push(3);
  end_stream();
  start();
  push(2);
  end_stream();
  std::multiset<std::string> keys;
  for (const auto& [key, line] : cluster_.messages(5)) keys.insert(key);
  EXPECT_EQ(keys, (std::multiset<std::string>{"gate", "gate", "gate", "npupublish", "npupublish"}));
}

TEST_F(Kafka, NeitherStallsNorLosesCountWherePolicyDrops) {
  cluster_.set_up(false);
  expect_that_policies_drop(cluster_.location(), 10 + 64 + 1);
}

// As real brokers say it, with the answer to the line: the mock's topic error comes in metadata
// that has partitions, too, on which librdkafka 2.8 sometimes ends the process.
TEST_F(Kafka, RefusesALineForGood) {
  start();
  push(1);
  EXPECT_TRUE(becomes([&] { return counts().published == 1; }));
  rd_kafka_mock_push_request_errors(cluster_.get(), kProduce, 1,
                                    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  EXPECT_TRUE(
      becomes([this] { return publishing_->harness().push(frame_with({})) == GST_FLOW_ERROR; }));
  const std::string said = take_error(publishing_->harness().bus()).text;
  EXPECT_TRUE(has(said, "does not take a line"));
  EXPECT_TRUE(has(said, "uthorization"));
}

// Its own failures end a producer whose lines must stay in order; where lines may be lost, the
// pipeline goes on with a new one.
TEST_F(Kafka, BeginsAnewBehindAFatalErrorWherePolicyDrops) {
  start("policy=drop-new");
  push(10);
  EXPECT_TRUE(becomes([&] { return counts().published == 10; }));
  rd_kafka_mock_push_request_errors(cluster_.get(), kProduce, 1,
                                    RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
  rd_kafka_mock_push_request_errors(cluster_.get(), kInitProducerId, 1,
                                    RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED);
  EXPECT_TRUE(becomes([&] {
    push(1);
    const Counts all = counts();
    return all.failed > 0 && all.published > 10;
  }));
  end_stream();
  const Counts all = counts();
  EXPECT_EQ(all.queued, 0U);
  EXPECT_EQ(cluster_.messages(all.published).size(), all.published);
}

// Its threads and sockets go with it, also where no broker answers.
TEST_F(Kafka, LeavesNoThreadsBehind) {
  const auto run = [&] {
    start("drain-time=0");
    push(10);
    publishing_.reset();
  };
  run();
  const std::size_t threads = running_threads(), files = open_descriptors();
  cluster_.set_up(false);
  for (int i = 0; i < 10; ++i) run();
  EXPECT_TRUE(becomes([&] { return running_threads() <= threads && open_descriptors() <= files; }))
      << running_threads() << " threads of " << threads << ", " << open_descriptors()
      << " files of " << files;
}

// Both properties are read: the file's limit is the line's, and the other one's name is taken.
TEST_F(Kafka, RefusesALineThatIsTooLongForItsConfiguration) {
  const TempFolder folder;
  const std::string file =
      folder.write("kafka.conf", "# of the test\n\nmessage.max.bytes = 1000\nacks=all\n");
  const std::string config =
      "policy=drop-new drain-time=60000 broker-config=linger.ms=1,client.id=a\\\\,b "
      "broker-config-file=" +
      file;
  start(config);
  push(1);
  end_stream();
  EXPECT_EQ(counts().published, 1U);
  start(config + " stream-id=" + std::string(2000, 'x'));
  push(1);
  EXPECT_TRUE(becomes([this] { return has_warning("Message size too large"); }));
  EXPECT_EQ(counts().failed, 1U);
}

TEST(KafkaConfig, IsRefused) {
  expect_refusals(
      "kafka://localhost/t",
      {{"no.such.key=1", "does not take \"no.such.key\""},
       {"acks=many", "does not take \"acks\""},
       {"acks=1", "librdkafka makes no producer"},
       {"delivery.report.only.error=true", "needs its own value of \"delivery.report.only.error\""},
       {"bootstrap.servers=a", "needs its own value of \"bootstrap.servers\""}});
}

}  // namespace
