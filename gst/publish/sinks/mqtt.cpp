#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <future>
#include <map>
#include <mutex>

#include "sink.hpp"

namespace gstnpu {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kMostOnTheirWay = 20;  // lines; libmosquitto's own limit
constexpr int kLoopMs = 1000;
constexpr milliseconds kDisconnectTime{1000}, kCheckTime{20};
constexpr std::chrono::seconds kAnswerTime{10};  // of a broker, to a connection
constexpr std::chrono::seconds kStayTime{3};     // after which a connection was of use
constexpr int kFirstErrorReason = 0x80;          // of MQTT 5
constexpr guint64 kUsualKeepalive = 60;          // seconds, as mosquitto_pub's
constexpr const char* kUsualExpiry = "3600";     // seconds that a broker keeps a session
constexpr const char* kOneTopic = "name one topic, without + and #";
constexpr const char* kNames =
    "id, username, pw, protocol-version, qos, retain, keepalive, cafile, capath, cert, key, "
    "insecure, will-topic, will-payload, will-qos, will-retain, clean-session, "
    "session-expiry-interval";

[[noreturn]] void refuse_config(const std::string& text) {
  refuse("the broker's configuration " + text);
}

// ---- The configuration

/// How to speak to a broker, by the names that mosquitto_pub's options have; docs/elements.md has
/// the table.
using MqttConfig = std::map<std::string, std::string>;

/// Null: not set.
const char* text(const MqttConfig& config, const std::string& key) {
  const auto found = config.find(key);
  return found == config.end() ? nullptr : found->second.c_str();
}

std::string text_or(const MqttConfig& config, const std::string& key, const char* usual) {
  const char* value = text(config, key);
  return value ? value : usual;
}

bool flag(const MqttConfig& config, const std::string& key, const char* usual = "false") {
  const std::string value = text_or(config, key, usual);
  if (value == "true" || value == "false") return value == "true";
  refuse_config("has a wrong " + key + ": write true or false");
}

int number(const MqttConfig& config, const std::string& key, guint64 usual, guint64 most,
           guint64 least = 0) {
  guint64 read = usual;
  const char* value = text(config, key);
  if (value && !g_ascii_string_to_unsigned(value, 10, least, most, &read, nullptr)) {
    refuse_config("has a wrong " + key + ": write a number from " + std::to_string(least) + " to " +
                  std::to_string(most));
  }
  return static_cast<int>(read);
}

bool is_version_5(const MqttConfig& config) {
  const std::string version = text_or(config, "protocol-version", "mqttv311");
  if (version == "mqttv5" || version == "mqttv311") return version == "mqttv5";
  refuse_config("has a wrong protocol-version: write mqttv311 or mqttv5");
}

/// Lines of QoS 2 arrive once as long as the broker has the session, so it survives a connection.
void keep_session(MqttConfig& config) {
  g_autofree gchar* random = g_uuid_string_random();
  config.emplace("id", "npu-" + std::string(random, 8));
  config.emplace("clean-session", "false");
  if (is_version_5(config)) {
    config.emplace("session-expiry-interval", kUsualExpiry);
  }
}

MqttConfig read_config(const Location& location, const BrokerConfig& entries) {
  MqttConfig config;
  const std::string names = std::string(" ") + kNames + ",";
  for (const auto& [key, value] : entries) {
    if (names.find(" " + key + ",") == std::string::npos) {
      refuse_config("has \"" + key + "\", which MQTT has not: it has " + kNames);
    }
    config[key] = value;
  }
  for (const char* key : {"cafile", "capath", "cert", "key"}) {
    if (location.kind == Location::Kind::kMqtts || !text(config, key)) continue;
    refuse_config("has \"" + std::string(key) + "\", which is for TLS: write mqtts:// as location");
  }
  if ((text(config, "pw") && !text(config, "username")) ||
      (text(config, "will-payload") && !text(config, "will-topic"))) {
    refuse_config("has a pw without username, or a will-payload without will-topic: write both");
  }
  if (number(config, "qos", 1, 2) == 2) {
    keep_session(config);
  }
  if (!flag(config, "clean-session", "true") && !text(config, "id")) {
    refuse_config("has clean-session=false, and sessions have names: write id=NAME, too");
  }
  return config;
}

// ---- A client that is not connected

using MosquittoRef = std::unique_ptr<mosquitto, FreeBy<mosquitto_destroy>>;

/// libmosquitto has looked at `what`.
void require(int result, const char* what, const std::string& cure) {
  if (result == MOSQ_ERR_SUCCESS) return;
  refuse(std::string("libmosquitto does not take ") + what + " (" + mosquitto_strerror(result) +
         "): " + cure);
}

void set_tls(mosquitto* client, const MqttConfig& config) {
  mosquitto_tls_insecure_set(client, flag(config, "insecure"));
  if (!text(config, "cafile") && !text(config, "capath")) {
    if (text(config, "cert") || text(config, "key")) {
      refuse_config("has a cert, but no cafile or capath: name the broker's authority, too");
    }
    mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1);
    // Else libmosquitto (2.0.11) refuses to connect a second time.
    mosquitto_int_option(client, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0);
    return;
  }
  const auto no_pass_phrase = +[](char*, int, int, void*) { return 0; };  // else it asks for one
  require(mosquitto_tls_set(client, text(config, "cafile"), text(config, "capath"),
                            text(config, "cert"), text(config, "key"), no_pass_phrase),
          "the files cafile, cert and key",
          "each must be readable, and cert and key are set together");
}

void set_will(mosquitto* client, const MqttConfig& config) {
  if (!text(config, "will-topic")) return;
  const std::string payload = text_or(config, "will-payload", "");
  require(mosquitto_will_set(client, text(config, "will-topic"), static_cast<int>(payload.size()),
                             payload.data(), number(config, "will-qos", 0, 2),
                             flag(config, "will-retain")),
          "will-topic", kOneTopic);
}

/// `self` is handed to its callbacks.
MosquittoRef make_client(const Location& location, const MqttConfig& config, void* self) {
  [[maybe_unused]] static const int once = mosquitto_lib_init();  // for good: others may end it
  require(mosquitto_pub_topic_check(location.topic.c_str()), "the topic of location", kOneTopic);
  MosquittoRef client(
      mosquitto_new(text(config, "id"), flag(config, "clean-session", "true"), self));
  require(client ? MOSQ_ERR_SUCCESS : MOSQ_ERR_ERRNO, "id or clean-session", std::strerror(errno));
  mosquitto_threaded_set(client.get(), true);
  mosquitto_int_option(client.get(), MOSQ_OPT_PROTOCOL_VERSION,
                       is_version_5(config) ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311);
  mosquitto_int_option(client.get(), MOSQ_OPT_SEND_MAXIMUM, kMostOnTheirWay);
  require(mosquitto_username_pw_set(client.get(), text(config, "username"), text(config, "pw")),
          "username", "it has more than 65535 bytes, or is no UTF-8");
  set_will(client.get(), config);
  if (location.kind == Location::Kind::kMqtts) {
    set_tls(client.get(), config);
  }
  return client;
}

/// A fault that the library has just returned, which left errno for some.
std::string describe(int result) {
  if (result == MOSQ_ERR_EAI) return ::gai_strerror(errno);
  if (result == MOSQ_ERR_KEEPALIVE) return "it does not answer";  // which the library cannot name
  return mosquitto_strerror(result);
}

/// Whether the connection was reset. Within a TLS handshake libmosquitto (2.0.11) calls for it over
/// and over again then, until the keepalive is over.
bool is_gone(mosquitto* client) {
  pollfd connection{.fd = mosquitto_socket(client), .events = 0, .revents = 0};
  return ::poll(&connection, 1, 0) > 0 && (connection.revents & (POLLERR | POLLHUP)) != 0;
}

// ---- The sink

/// libmosquitto's client and the thread that it lives in: the library's own thread would end at a
/// broker's first wrong word (2.0.11), and not end within a connect() that nobody answers.
class MqttSink final : public Sink {
 public:
  MqttSink(const Location& location, const SinkOptions& options, Ledger& ledger);
  ~MqttSink() override;

  bool write(std::string_view line) override;

 private:
  void set_callbacks();
  void run();
  int connect();
  void note_connected(int reason);
  void note_end(int result);
  void note_answer(int reason);
  void note_words(const std::string& words);
  std::string take_words();
  std::string describe_reason(int reason) const;

  const Location location_;
  const MqttConfig config_;
  const int qos_, keepalive_, session_seconds_;
  const bool retain_, is_version_5_;
  Ledger& ledger_;
  const MosquittoRef client_;
  std::mutex mutex_;  // guards the next three, but for reading is_connected_
  std::atomic<bool> is_connected_ = false;
  std::size_t on_their_way_ = 0;  // lines that the broker has not confirmed
  std::string refusal_;           // of a first connection
  std::condition_variable changed_;
  std::mutex words_mutex_;  // guards words_
  std::string words_;       // what OpenSSL or the broker has said since the last attempt
  // For the client's thread.
  bool was_connected_ = false, is_refused_ = false;
  Clock::time_point begun_at_;  // this attempt, then its connection
  Backoff backoff_;
  std::future<void> thread_;
};

MqttSink::MqttSink(const Location& location, const SinkOptions& options, Ledger& ledger)
    : location_(location),
      config_(read_config(location, options.broker)),
      qos_(number(config_, "qos", 1, 2)),
      keepalive_(number(config_, "keepalive", kUsualKeepalive, 65535, 5)),
      session_seconds_(number(config_, "session-expiry-interval", 0, G_MAXUINT32)),
      retain_(flag(config_, "retain")),
      is_version_5_(gstnpu::is_version_5(config_)),
      ledger_(ledger),
      client_(make_client(location, config_, this)) {
  set_callbacks();
  thread_ = std::async(std::launch::async, [this] { run(); });
}

void MqttSink::set_callbacks() {
  mosquitto* client = client_.get();
  mosquitto_connect_callback_set(client, [](mosquitto*, void* self, int reason) {
    static_cast<MqttSink*>(self)->note_connected(reason);
  });
  mosquitto_disconnect_callback_set(client, [](mosquitto*, void* sink, int reason) {
    auto* self = static_cast<MqttSink*>(sink);
    if (reason < kFirstErrorReason) return;  // the library's own, which its loop returns, too
    self->note_words(self->describe_reason(reason));
  });
  mosquitto_publish_v5_callback_set(
      client, [](mosquitto*, void* self, int, int reason, const mosquitto_property*) {
        static_cast<MqttSink*>(self)->note_answer(reason);
      });
  mosquitto_log_callback_set(client, [](mosquitto*, void* self, int level, const char* text) {
    if (level == MOSQ_LOG_ERR) {
      static_cast<MqttSink*>(self)->note_words(text);
    }
  });
}

/// After a cancellation, so the thread waits for nothing but the system. It has a moment to take
/// leave of the broker, who would publish our will; then its socket is shut.
MqttSink::~MqttSink() {
  mosquitto_disconnect(client_.get());
  for (milliseconds wait = is_connected_ ? kDisconnectTime : kCheckTime;
       thread_.wait_for(wait) == std::future_status::timeout; wait = kCheckTime) {
    ::shutdown(mosquitto_socket(client_.get()), SHUT_RDWR);
  }
}

// ---- For the thread that writes

/// Above QoS 0 the library keeps what it cannot send at once.
bool MqttSink::write(std::string_view line) {
  line.remove_suffix(line.ends_with('\n') ? 1 : 0);
  std::unique_lock lock(mutex_);
  for (;;) {
    while (refusal_.empty() && (!is_connected_ || on_their_way_ >= kMostOnTheirWay)) {
      if (ledger_.is_cancelled()) return false;
      changed_.wait_for(lock, kCheckTime);
    }
    if (!refusal_.empty()) throw PublishError(std::exchange(refusal_, {}));
    const int result =
        mosquitto_publish_v5(client_.get(), nullptr, location_.topic.c_str(),
                             static_cast<int>(line.size()), line.data(), qos_, retain_, nullptr);
    if (result == MOSQ_ERR_SUCCESS || (result == MOSQ_ERR_NO_CONN && qos_ > 0)) break;
    if (result != MOSQ_ERR_NO_CONN) {
      throw PublishError("libmosquitto does not take a line of " + std::to_string(line.size()) +
                         " bytes for " + location_.text + " (" + mosquitto_strerror(result) +
                         "): check what the broker allows");
    }
    is_connected_ = false;  // which the client's thread is about to note
  }
  ++on_their_way_;
  return true;
}

// ---- The client's thread

int MqttSink::connect() {
  mosquitto_property* properties = nullptr;
  if (is_version_5_ && session_seconds_ != 0) {
    mosquitto_property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL,
                                 static_cast<std::uint32_t>(session_seconds_));
  }
  const int result = mosquitto_connect_bind_v5(client_.get(), location_.host.c_str(),
                                               location_.port, keepalive_, nullptr, properties);
  mosquitto_property_free_all(&properties);
  return result;
}

void MqttSink::run() {
  sigset_t all;
  sigfillset(&all);  // the application's handlers have threads of its own; OpenSSL raises SIGPIPE
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  begun_at_ = Clock::now();
  int result = connect();
  for (;;) {
    while (result == MOSQ_ERR_SUCCESS) {
      result = mosquitto_loop(client_.get(), kLoopMs, 1);
      if (result != MOSQ_ERR_SUCCESS || is_connected_) continue;
      if (is_gone(client_.get())) {
        result = MOSQ_ERR_CONN_LOST;
      } else if (Clock::now() > begun_at_ + kAnswerTime) {
        result = MOSQ_ERR_KEEPALIVE;
      }
    }
    note_end(result);
    if (!backoff_.wait(ledger_.cancel())) return;
    begun_at_ = Clock::now();
    result = mosquitto_reconnect(client_.get());
  }
}

std::string MqttSink::describe_reason(int reason) const {
  return is_version_5_ ? mosquitto_reason_string(reason) : mosquitto_connack_string(reason);
}

void MqttSink::note_connected(int reason) {
  is_refused_ = reason != 0;
  if (is_refused_) return note_words(describe_reason(reason));
  was_connected_ = true;
  begun_at_ = Clock::now();
  const std::scoped_lock lock(mutex_);
  is_connected_ = true;
  refusal_.clear();
  changed_.notify_one();
}

/// An attempt, or a connection, is over. A broker that has taken us before may still be starting:
/// only the first one's no is the last, and costs a line for each attempt.
void MqttSink::note_end(int result) {
  const std::string fault = describe(result), words = take_words();
  const std::string& reason = words.empty() ? fault : words;
  const bool was_short = is_connected_ && Clock::now() < begun_at_ + kStayTime;
  std::unique_lock lock(mutex_);
  is_connected_ = false;
  // Lines of QoS 0 that the library had are lost with the connection.
  const std::size_t gone = qos_ == 0 ? std::exchange(on_their_way_, 0) : 0;
  if (!was_connected_ && (std::exchange(is_refused_, false) || result == MOSQ_ERR_TLS)) {
    refusal_ = "the broker at " + location_.text + " refuses (" + reason +
               "): check username, pw, cafile, cert and key, and what the broker allows";
    return changed_.notify_one();
  }
  lock.unlock();
  ledger_.note_out(gone);
  if (ledger_.is_cancelled() || !backoff_.is_news()) return;
  ledger_.warn("no broker takes lines at " + location_.text + " (" + reason + ")" +
               (was_short ? "; it ends a connection soon after it was made, as brokers do "
                            "where another client has this id, a line is too long, or the "
                            "topic is not allowed"
                          : "") +
               ": trying again until one does");
}

void MqttSink::note_answer(int reason) {
  {
    const std::scoped_lock lock(mutex_);
    --on_their_way_;
    changed_.notify_one();
  }
  if (reason >= kFirstErrorReason) {
    return ledger_.note_failed(
        1, PublishError("the broker at " + location_.text + " does not take a line (" +
                        mosquitto_reason_string(reason) +
                        "): check the topic and what the broker allows"));
  }
  if (Clock::now() > begun_at_ + kStayTime) {
    backoff_.reset();
  }
  ledger_.note_out(1);
}

void MqttSink::note_words(const std::string& words) {
  const std::scoped_lock lock(words_mutex_);
  words_ += (words_.empty() ? "" : "; ") + words;
}

std::string MqttSink::take_words() {
  const std::scoped_lock lock(words_mutex_);
  return std::exchange(words_, {});
}

}  // namespace

std::unique_ptr<Sink> make_mqtt_sink(const Location& location, const SinkOptions& options,
                                     Ledger& ledger) {
  return std::make_unique<MqttSink>(location, options, ledger);
}

}  // namespace gstnpu
