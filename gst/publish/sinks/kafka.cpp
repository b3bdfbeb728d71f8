#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sink.hpp"

namespace gstnpu {
namespace {

constexpr gint64 kRoomMs = 10;                   // between two looks for room
constexpr int kGiveUpMs = 1000;                  // for lines of a producer that has ended
constexpr const char* kUsualKey = "npupublish";  // where the stream has no name

/// The location names the brokers, and npupublish needs each report, and begins no transactions.
constexpr std::array kNotForUsers = {"bootstrap.servers", "metadata.broker.list",
                                     "delivery.report.only.error", "transactional.id"};

using ConfRef = std::unique_ptr<rd_kafka_conf_t, FreeBy<rd_kafka_conf_destroy>>;
using QueueRef = std::unique_ptr<rd_kafka_queue_t, FreeBy<rd_kafka_queue_destroy>>;

/// Gives up unconfirmed lines, so that nothing waits for brokers.
void purge(rd_kafka_t* producer) {
  rd_kafka_purge(
      producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
}

void end(rd_kafka_t* producer) {
  purge(producer);
  rd_kafka_destroy(producer);
}

void set(rd_kafka_conf_t* conf, const std::string& key, const std::string& value) {
  std::array<char, 512> said{};
  if (rd_kafka_conf_set(conf, key.c_str(), value.c_str(), said.data(), said.size()) ==
      RD_KAFKA_CONF_OK) {
    return;
  }
  refuse("librdkafka does not take \"" + key + "\" (" + said.data() +
         "): its CONFIGURATION.md says what it takes");
}

/// Lines wait for brokers as long as it takes, and arrive once and in order.
BrokerConfig usual_config(const Location& location) {
  return {{"bootstrap.servers", location.host},  {"client.id", "npupublish"},
          {"enable.idempotence", "true"},        {"acks", "all"},
          {"message.timeout.ms", "0"},           {"reconnect.backoff.max.ms", "5000"},
          {"queue.buffering.max.messages", "64"}};
}

/// librdkafka's producer, which calls back from a thread of its own.
class KafkaSink final : public Sink {
 public:
  KafkaSink(const Location& location, const SinkOptions& options, Ledger& ledger);

  bool write(std::string_view line) override;

 private:
  ConfRef make_conf();
  void open();
  rd_kafka_resp_err_t produce(std::string_view line);
  void take(rd_kafka_event_t* event);
  void note_delivered(const rd_kafka_message_t& message);
  void note_trouble(rd_kafka_resp_err_t error, const std::string& reason);
  PublishError error_of(rd_kafka_resp_err_t error) const;

  const Location location_;
  const BrokerConfig config_;
  const std::string key_;
  Ledger& ledger_;
  // For librdkafka's thread.
  bool has_told_ = false;  // of brokers that are away, since a line was confirmed
  std::string trouble_;    // what a broker, or the way to one, has said last
  std::unique_ptr<rd_kafka_t, FreeBy<end>> producer_;
};

KafkaSink::KafkaSink(const Location& location, const SinkOptions& options, Ledger& ledger)
    : location_(location),
      config_(options.broker),
      key_(options.stream_id.empty() ? kUsualKey : options.stream_id),
      ledger_(ledger) {
  open();
}

// ---- The producer

ConfRef KafkaSink::make_conf() {
  ConfRef conf(rd_kafka_conf_new());
  rd_kafka_conf_set_log_cb(conf.get(), nullptr);  // it writes to the standard error output
  for (const auto& [key, value] : usual_config(location_)) set(conf.get(), key, value);
  for (const auto& [key, value] : config_) {
    if (std::find(kNotForUsers.begin(), kNotForUsers.end(), key) != kNotForUsers.end()) {
      refuse("npupublish needs its own value of \"" + key +
             "\": leave it out of the broker's configuration");
    }
    set(conf.get(), key, value);
    if (key == "debug") {
      rd_kafka_conf_set_log_cb(conf.get(), rd_kafka_log_print);
    }
  }
  rd_kafka_conf_set_opaque(conf.get(), this);
  rd_kafka_conf_set_events(conf.get(), RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
  rd_kafka_conf_set_background_event_cb(conf.get(),
                                        [](rd_kafka_t*, rd_kafka_event_t* event, void* self) {
                                          static_cast<KafkaSink*>(self)->take(event);
                                        });
  return conf;
}

void KafkaSink::open() {
  rd_kafka_conf_t* const conf = make_conf().release();
  std::array<char, 512> said{};
  producer_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf, said.data(), said.size()));
  if (!producer_) {
    rd_kafka_conf_destroy(conf);  // else the producer has it
    refuse("librdkafka makes no producer of the broker's configuration (" +
           std::string(said.data()) + "): its CONFIGURATION.md says what it takes");
  }
  const QueueRef all(rd_kafka_queue_get_main(producer_.get()));
  const QueueRef background(rd_kafka_queue_get_background(producer_.get()));
  rd_kafka_queue_forward(all.get(), background.get());
}

// ---- For the thread that writes

/// A fatal error has ended the producer; it is replaced.
bool KafkaSink::write(std::string_view line) {
  line.remove_suffix(line.ends_with('\n') ? 1 : 0);
  if (producer_ && rd_kafka_fatal_error(producer_.get(), nullptr, 0) != 0) {
    purge(producer_.get());
    rd_kafka_flush(producer_.get(), kGiveUpMs);  // until its lines are noted as failed
    producer_.reset();
  }
  if (!producer_) {
    open();
  }
  rd_kafka_resp_err_t error = produce(line);
  for (; error == RD_KAFKA_RESP_ERR__QUEUE_FULL; error = produce(line)) {
    if (!pause(ledger_.cancel(), kRoomMs)) return false;
  }
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw error_of(error);
  return true;
}

/// Lines of a stream have one key, so that they stay in order.
rd_kafka_resp_err_t KafkaSink::produce(std::string_view line) {
  return rd_kafka_producev(
      producer_.get(), RD_KAFKA_V_TOPIC(location_.topic.c_str()),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key_.data(), key_.size()),
      RD_KAFKA_V_VALUE(const_cast<char*>(line.data()), line.size()), RD_KAFKA_V_END);
}

PublishError KafkaSink::error_of(rd_kafka_resp_err_t error) const {
  return PublishError("Kafka does not take a line for " + location_.text + " (" +
                      rd_kafka_err2str(error) +
                      "): check the topic, message.max.bytes and what the brokers allow");
}

// ---- librdkafka's thread

void KafkaSink::take(rd_kafka_event_t* event) {
  if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR) {
    note_trouble(rd_kafka_event_error(event), rd_kafka_event_error_string(event));
  } else if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR) {
    while (const rd_kafka_message_t* message = rd_kafka_event_message_next(event)) {
      note_delivered(*message);
    }
  }
  rd_kafka_event_destroy(event);
}

/// Lines that are given up at the end are neither out nor failed.
void KafkaSink::note_delivered(const rd_kafka_message_t& message) {
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    has_told_ = false;
    trouble_.clear();
    ledger_.note_out(1);
  } else if (!ledger_.is_cancelled()) {
    ledger_.note_failed(1, error_of(message.err));
  }
}

/// One broker that is away, or refuses, is no trouble as long as there are others.
void KafkaSink::note_trouble(rd_kafka_resp_err_t error, const std::string& reason) {
  if (error != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    trouble_ = reason;
    return;
  }
  if (std::exchange(has_told_, true)) return;
  ledger_.warn("no broker takes lines at " + location_.text + " (" +
               (trouble_.empty() ? reason : trouble_) + "): trying again until one does");
}

}  // namespace

std::unique_ptr<Sink> make_kafka_sink(const Location& location, const SinkOptions& options,
                                      Ledger& ledger) {
  return std::make_unique<KafkaSink>(location, options, ledger);
}

}  // namespace gstnpu
