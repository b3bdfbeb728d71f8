#include "kafka_sink.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <npucore/error.hpp>

#include "publish/clients/rdkafka.hpp"

#include "broker_location.hpp"
#include "kafka_config.hpp"
#include "prompt_sink.hpp"
#include "silence.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMostOnTheirWay = 64;      // lines, that brokers have not confirmed
constexpr int kPollMs = 50;                      // an interrupt waits as long
constexpr const char* kUsualKey = "npupublish";  // where the stream has no name

/// A producer of librdkafka. Its threads talk to the brokers; it calls back from poll() alone.
class KafkaSink final : public Sink {
 public:
  KafkaSink(const std::string& location, const SinkOptions& options);
  ~KafkaSink() override { close(); }

  bool write(std::string_view line) override;
  bool flush() override { return run_until(std::max<std::size_t>(unconfirmed_, 1) - 1); }
  std::size_t held() const override { return unconfirmed_ + waiting_.size() + failures_.size(); }
  bool awaits_answers() const override { return true; }
  void interrupt() override { is_interrupted_ = true; }
  void resume() override { is_interrupted_ = false; }

 private:
  rd_kafka_conf_t* make_conf();
  void set(rd_kafka_conf_t* conf, const std::string& key, const std::string& value) const;
  void open();
  void open_again();
  void close();
  bool run_until(std::size_t most_unconfirmed);
  void poll(int longest_ms);
  bool produce(const std::string& line);
  void throw_failure();
  bool is_over() const;
  void note_delivered(const rd_kafka_message_t& message);
  void note_trouble(rd_kafka_resp_err_t error, const std::string& reason);
  void lose(std::size_t bytes, rd_kafka_resp_err_t error);
  void give_up();
  void watch_for_silence();
  void note_that_none_takes(const std::string& reason);
  void tell_trouble(const std::string& reason);
  void tell_objection();

  const std::string location_;
  const SinkOptions options_;
  const BrokerLocation brokers_;
  const std::set<std::string> first_brokers_;  // HOST:PORT each, as librdkafka names them
  const std::vector<std::pair<std::string, std::string>> config_;
  const std::string key_;
  const RdKafka& kafka_;
  rd_kafka_t* producer_ = nullptr;
  rd_kafka_topic_t* topic_ = nullptr;

  std::deque<std::string> waiting_;   // one at most, that the producer has no room for
  std::size_t unconfirmed_ = 0;       // that the producer has
  std::deque<std::string> failures_;  // one for each line that was lost, not yet thrown
  bool was_confirmed_ = false;        // a line, since the start
  bool was_let_in_ = false;           // since a refusal, as far as somebody has looked
  bool has_told_ = false;             // of brokers that are away, since a line was confirmed
  bool has_told_objection_ = false;   // of one that refuses, likewise
  std::string trouble_;               // what a broker, or the way to one, has said last
  std::string objection_;            // what one has said who refuses, before any line was confirmed
  std::set<std::string> objectors_;  // first brokers whose last word was such
  std::string refusal_;              // why lines on their way are given up
  Silence silence_;                  // of brokers
  std::atomic<bool> is_interrupted_ = false;
};

std::set<std::string> names_of(const std::vector<HostAndPort>& addresses) {
  std::set<std::string> names;
  for (const HostAndPort& address : addresses) names.insert(to_text(address));
  return names;
}

KafkaSink::KafkaSink(const std::string& location, const SinkOptions& options)
    : location_(location),
      options_(options),
      brokers_(parse_broker_location(location)),
      first_brokers_(names_of(brokers_.addresses)),
      config_(read_kafka_config(brokers_, options.kafka)),
      key_(options.stream_id.empty() ? kUsualKey : options.stream_id),
      kafka_(RdKafka::get()) {
  open();
}

// ---- The producer

void KafkaSink::set(rd_kafka_conf_t* conf, const std::string& key, const std::string& value) const {
  std::array<char, 512> said{};
  if (kafka_.conf_set(conf, key.c_str(), value.c_str(), said.data(), said.size()) ==
      RD_KAFKA_CONF_OK) {
    return;
  }
  kafka_.conf_destroy(conf);
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "librdkafka does not take \"" + key + "\" (" + said.data() +
                       "): its CONFIGURATION.md says what it takes");
}

rd_kafka_conf_t* KafkaSink::make_conf() {
  rd_kafka_conf_t* conf = kafka_.conf_new();
  bool is_debugged = false;
  for (const auto& [key, value] : config_) {
    set(conf, key, value);
    is_debugged = is_debugged || key == "debug";
  }
  if (!is_debugged) {
    kafka_.conf_set_log(conf, nullptr);  // it writes to the standard error output
  }
  kafka_.conf_set_opaque(conf, this);
  kafka_.conf_set_delivered(conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
    static_cast<KafkaSink*>(self)->note_delivered(*message);
  });
  kafka_.conf_set_error(conf, [](rd_kafka_t*, int error, const char* reason, void* self) {
    static_cast<KafkaSink*>(self)->note_trouble(static_cast<rd_kafka_resp_err_t>(error), reason);
  });
  return conf;
}

void KafkaSink::open() {
  rd_kafka_conf_t* conf = make_conf();
  std::array<char, 512> said{};
  producer_ = kafka_.create(RD_KAFKA_PRODUCER, conf, said.data(), said.size());
  if (producer_ == nullptr) {
    kafka_.conf_destroy(conf);
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "librdkafka makes no producer of the properties kafka-... (" +
                         std::string(said.data()) + "): its CONFIGURATION.md says what it takes");
  }
  topic_ = kafka_.topic_new(producer_, brokers_.topic.c_str(), nullptr);
  if (topic_ == nullptr) {
    const std::string reason = kafka_.describe(kafka_.last_error());
    close();
    throw npu::Error(npu::ErrorCode::kInvalidArgument, "the location \"" + location_ +
                                                           "\" has no topic that Kafka takes (" +
                                                           reason + "): correct it in location");
  }
}

/// Behind a failure that has ended the producer.
void KafkaSink::open_again() {
  try {
    open();
  } catch (...) {
    waiting_.pop_front();
    throw;
  }
}

/// Gives up unconfirmed lines, so that closing does not wait for brokers.
void KafkaSink::close() {
  if (producer_ == nullptr) return;
  give_up();
  if (topic_ != nullptr) {
    kafka_.topic_destroy(std::exchange(topic_, nullptr));
  }
  kafka_.destroy(std::exchange(producer_, nullptr));
}

/// Reports of what is given up follow.
void KafkaSink::give_up() {
  kafka_.purge(producer_,
               RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
}

// ---- For the thread that writes

bool KafkaSink::write(std::string_view line) {
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  waiting_.emplace_back(line);
  return run_until(kMostOnTheirWay - 1);
}

/// Until the producer has all lines and no more than so many are not confirmed. False: interrupted.
bool KafkaSink::run_until(std::size_t most_unconfirmed) {
  poll(0);
  for (;;) {
    throw_failure();
    if (producer_ == nullptr && !waiting_.empty()) {
      open_again();
    }
    while (!waiting_.empty() && produce(waiting_.front())) {
      waiting_.pop_front();
    }
    throw_failure();
    if (waiting_.empty() && unconfirmed_ <= most_unconfirmed) return true;
    if (is_interrupted_) {
      tell_objection();
      return false;
    }
    poll(kPollMs);
  }
}

void KafkaSink::poll(int longest_ms) {
  if (producer_ == nullptr) return;
  kafka_.poll(producer_, longest_ms);
  if (unconfirmed_ > 0 && (is_over() || !refusal_.empty())) {
    give_up();
  }
  watch_for_silence();
}

/// False: there is no room for it yet. Lines of a stream have one key, so that they stay in order.
bool KafkaSink::produce(const std::string& line) {
  if (kafka_.produce(topic_, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                     const_cast<char*>(line.data()), line.size(), key_.data(), key_.size(),
                     nullptr) == 0) {
    if (unconfirmed_++ == 0) {
      silence_.begin();
    }
    return true;
  }
  const rd_kafka_resp_err_t error = kafka_.last_error();
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL && unconfirmed_ > 0) return false;
  lose(line.size(), error);
  return true;
}

/// Some failures end the producer, for it could not keep order any more.
bool KafkaSink::is_over() const {
  return producer_ != nullptr &&
         kafka_.fatal_error(producer_, nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
}

/// Where the producer has ended, the next line begins with a new one.
void KafkaSink::throw_failure() {
  if (failures_.empty()) return;
  const std::string text = std::move(failures_.front());
  failures_.pop_front();
  if (unconfirmed_ == 0) {
    refusal_.clear();
    if (is_over()) {
      close();
    }
  }
  throw npu::Error(npu::ErrorCode::kIo, text);
}

/// The producer's own limits may be too small, or the topic's.
const char* cure_of(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return "set message.max.bytes in kafka-config, and max.message.bytes of the topic, higher";
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
      return "set queue.buffering.max.kbytes in kafka-config higher";
    default:
      return "check the topic and what the brokers allow";
  }
}

void KafkaSink::lose(std::size_t bytes, rd_kafka_resp_err_t error) {
  std::array<char, 512> said{};
  if (!refusal_.empty()) {
    failures_.push_back("the brokers at " + location_ + " refuse (" + refusal_ +
                        "): check the properties kafka-... and what the brokers allow");
    return;
  }
  const bool has_said = kafka_.fatal_error(producer_, said.data(), said.size()) != 0;
  failures_.push_back("the brokers at " + location_ + " do not take a line of " +
                      std::to_string(bytes) + " bytes (" +
                      (has_said ? said.data() : kafka_.describe(error)) + "): " + cure_of(error));
}

/// librdkafka does not report brokers that wait for other brokers.
void KafkaSink::watch_for_silence() {
  if (unconfirmed_ == 0 || !silence_.is_long()) return;
  note_that_none_takes(Silence::reason());
}

/// Gives lines up where each of the first brokers refuses. A broker that is slow, or away, may
/// still take them, and so may one that has let this client in: its refusal is over.
void KafkaSink::note_that_none_takes(const std::string& reason) {
  if (!refusal_.empty()) return;
  if (objectors_ == first_brokers_ && !was_let_in_) {
    const std::string objection = std::exchange(objection_, {});
    objectors_.clear();
    was_let_in_ = kafka_.was_let_in(producer_);
    if (!was_let_in_) {
      refusal_ = objection;
      return;
    }
    trouble_.clear();
  }
  if (!objection_.empty()) return tell_objection();
  tell_trouble(trouble_.empty() ? reason : trouble_);
}

void KafkaSink::tell_trouble(const std::string& reason) {
  if (std::exchange(has_told_, true)) return;
  options_.warn(no_broker_takes_lines(location_, reason));
}

void KafkaSink::tell_objection() {
  if (objection_.empty() || std::exchange(has_told_objection_, true)) return;
  options_.warn(no_broker_takes_lines(location_, objection_) + "; check the properties kafka-...");
}

// ---- Called by librdkafka, within poll()

void KafkaSink::note_delivered(const rd_kafka_message_t& message) {
  --unconfirmed_;
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) return lose(message.len, message.err);
  was_confirmed_ = true;
  has_told_ = has_told_objection_ = false;
  trouble_.clear();
  objection_.clear();
  objectors_.clear();
  refusal_.clear();
  silence_.begin();
}

/// librdkafka reports the same codes if a broker goes away during a handshake, but with reasons of
/// its own or of OpenSSL. With TLS 1.3 a broker checks the client's certificate after the
/// handshake.
bool is_refusal(rd_kafka_resp_err_t error, const std::string& reason) {
  const auto says = [&reason](const char* text) { return reason.find(text) != std::string::npos; };
  switch (error) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
      return !says(": Local: ");
    case RD_KAFKA_RESP_ERR__SSL:
      return !says("unexpected eof") && !says("SSL transport error");
    case RD_KAFKA_RESP_ERR__TRANSPORT:
      return says(" alert ") && (says("certificate") || says("unknown ca"));
    default:
      return false;
  }
}

/// HOST:PORT of "sasl_ssl://HOST:PORT/bootstrap: what the trouble is".
std::string_view broker_in(std::string_view reason) {
  std::string_view name = reason.substr(0, reason.find(": "));
  if (const std::size_t scheme = name.find("://"); scheme != std::string_view::npos) {
    name.remove_prefix(scheme + std::string_view("://").size());
  }
  return name.substr(0, name.find('/'));
}

/// One broker that is away, or refuses, is no trouble as long as there are others. Who was taken
/// once is not refused for good: users and certificates of a broker that starts may be late.
void KafkaSink::note_trouble(rd_kafka_resp_err_t error, const std::string& reason) {
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    // Not yet asked are the other addresses of a name, in 2.8 also other first brokers; and nobody
    // tells of a login that works at last. Time tells: watch_for_silence().
    if (!objection_.empty()) return;
    return note_that_none_takes(reason);
  }
  trouble_ = reason;
  if (was_confirmed_) return;
  const std::string broker(broker_in(reason));
  if (is_refusal(error, reason)) {
    objection_ = reason;
    if (first_brokers_.contains(broker)) {
      objectors_.insert(broker);
    }
  } else if (reason.find("in state UP") != std::string::npos) {  // it had let this client in
    objectors_.erase(broker);
    if (objectors_.empty()) {
      objection_.clear();
    }
  }
}

}  // namespace

std::unique_ptr<Sink> make_kafka_sink(const std::string& location, const SinkOptions& options) {
  return std::make_unique<PromptSink>(std::make_unique<KafkaSink>(location, options));
}

}  // namespace gstnpu
