#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <npucore/error.hpp>

#include "kinds.hpp"
#include "window.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMostOnTheirWay = 64;      // lines that brokers have not confirmed
constexpr const char* kUsualKey = "npupublish";  // where the stream has no name

/// The location names the brokers, and npupublish needs each report, and begins no transactions.
constexpr std::array kNotForUsers = {"bootstrap.servers", "metadata.broker.list",
                                     "delivery.report.only.error", "transactional.id"};

[[noreturn]] void refuse(const std::string& text) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, text);
}

struct ConfDestroy {
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
using ConfRef = std::unique_ptr<rd_kafka_conf_t, ConfDestroy>;

struct QueueDestroy {
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
using QueueRef = std::unique_ptr<rd_kafka_queue_t, QueueDestroy>;

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
  return {{"bootstrap.servers", location.host}, {"client.id", "npupublish"},
          {"enable.idempotence", "true"},       {"acks", "all"},
          {"message.timeout.ms", "0"},          {"reconnect.backoff.max.ms", "5000"}};
}

/// librdkafka's producer, which calls back from a thread of its own.
class KafkaSink final : public Sink {
 public:
  KafkaSink(const Location& location, const SinkOptions& options, SinkPeers peers);
  ~KafkaSink() override { close(); }

  bool write(std::string_view line) override;

 private:
  ConfRef make_conf();
  void open();
  void close();
  void renew();
  bool produce(std::string_view line);
  void take(rd_kafka_event_t* event);
  void note_delivered(const rd_kafka_message_t& message);
  void note_trouble(rd_kafka_resp_err_t error, const std::string& reason);
  void note_failed(std::size_t lines, const std::string& reason);

  const Location location_;
  const BrokerConfig config_;
  const std::string key_;
  const SinkPeers peers_;
  Window window_;
  rd_kafka_t* producer_ = nullptr;
  // For librdkafka's thread.
  bool has_told_ = false;  // of brokers that are away, since a line was confirmed
  std::string trouble_;    // what a broker, or the way to one, has said last
};

KafkaSink::KafkaSink(const Location& location, const SinkOptions& options, SinkPeers peers)
    : location_(location),
      config_(options.broker),
      key_(options.stream_id.empty() ? kUsualKey : options.stream_id),
      peers_(peers),
      window_(kMostOnTheirWay, peers.cancel) {
  open();
}

// ---- The producer

ConfRef KafkaSink::make_conf() {
  ConfRef conf(rd_kafka_conf_new());
  bool is_debugged = false;
  for (const auto& [key, value] : usual_config(location_)) set(conf.get(), key, value);
  for (const auto& [key, value] : config_) {
    if (std::find(kNotForUsers.begin(), kNotForUsers.end(), key) != kNotForUsers.end()) {
      refuse("npupublish needs its own value of \"" + key +
             "\": leave it out of the broker's configuration");
    }
    set(conf.get(), key, value);
    is_debugged = is_debugged || key == "debug";
  }
  if (!is_debugged) {
    rd_kafka_conf_set_log_cb(conf.get(), nullptr);  // it writes to the standard error output
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
  ConfRef conf = make_conf();
  std::array<char, 512> said{};
  producer_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), said.data(), said.size());
  if (producer_ == nullptr) {
    refuse("librdkafka makes no producer of the broker's configuration (" +
           std::string(said.data()) + "): its CONFIGURATION.md says what it takes");
  }
  static_cast<void>(conf.release());  // the producer has it
  const QueueRef all(rd_kafka_queue_get_main(producer_));
  const QueueRef background(rd_kafka_queue_get_background(producer_));
  rd_kafka_queue_forward(all.get(), background.get());
}

/// Gives up unconfirmed lines, so that it does not wait for brokers.
void KafkaSink::close() {
  if (producer_ == nullptr) return;
  rd_kafka_purge(producer_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                RD_KAFKA_PURGE_F_NON_BLOCKING);
  rd_kafka_destroy(std::exchange(producer_, nullptr));
}

/// Behind an error that has ended the producer.
void KafkaSink::renew() {
  close();
  const std::size_t gone = window_.leave_all();
  if (gone > 0) {
    note_failed(gone, "the producer has ended");
  }
  open();
}

// ---- For the thread that writes

bool KafkaSink::write(std::string_view line) {
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  const bool has_ended = producer_ == nullptr ||  // no other could be made
                         rd_kafka_fatal_error(producer_, nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
  if (has_ended) {
    renew();
  }
  return window_.enter([] { return true; }, [&] { return produce(line); });
}

/// Lines of a stream have one key, so that they stay in order.
bool KafkaSink::produce(std::string_view line) {
  const rd_kafka_resp_err_t error = rd_kafka_producev(
      producer_, RD_KAFKA_V_TOPIC(location_.topic.c_str()),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key_.data(), key_.size()),
      RD_KAFKA_V_VALUE(const_cast<char*>(line.data()), line.size()), RD_KAFKA_V_END);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
  note_failed(1, rd_kafka_err2str(error));
  return false;
}

void KafkaSink::note_failed(std::size_t lines, const std::string& reason) {
  peers_.ledger.note_failed(
      lines, std::make_exception_ptr(npu::Error(
                 npu::ErrorCode::kIo,
                 "Kafka does not take a line for " + location_.text + " (" + reason +
                     "): check the topic, message.max.bytes and what the brokers allow")));
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
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR && window_.is_cancelled()) return;
  window_.leave();
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return note_failed(1, rd_kafka_err2str(message.err));
  }
  has_told_ = false;
  trouble_.clear();
  peers_.ledger.note_out(1);
}

/// One broker that is away, or refuses, is no trouble as long as there are others.
void KafkaSink::note_trouble(rd_kafka_resp_err_t error, const std::string& reason) {
  if (error != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    trouble_ = reason;
    return;
  }
  if (std::exchange(has_told_, true)) return;
  peers_.ledger.warn("no broker takes lines at " + location_.text + " (" +
                     (trouble_.empty() ? reason : trouble_) + "): trying again until one does");
}

}  // namespace

std::unique_ptr<Sink> make_kafka_sink(const Location& location, const SinkOptions& options,
                                      SinkPeers peers) {
  return std::make_unique<KafkaSink>(location, options, peers);
}

}  // namespace gstnpu
