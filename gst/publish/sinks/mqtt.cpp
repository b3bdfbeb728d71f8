#include <mosquitto.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>
#include <utility>

#include <npucore/error.hpp>

#include "kinds.hpp"
#include "mqtt_client.hpp"
#include "pause.hpp"
#include "window.hpp"

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

npu::Error error_of(const std::string& text) {
  return {npu::ErrorCode::kIo, text};
}

/// The library's words; errno is what it left.
std::string describe(int result, int system_error) {
  if (result == MOSQ_ERR_ERRNO) return std::strerror(system_error);
  if (result == MOSQ_ERR_EAI) return ::gai_strerror(system_error);
  if (result == MOSQ_ERR_KEEPALIVE) return "it does not answer";  // which the library cannot name
  return mosquitto_strerror(result);
}

/// Whether the connection was reset. Within a TLS handshake libmosquitto (2.0.11) calls for it over
/// and over again then, until the keepalive is over.
bool is_gone(mosquitto* client) {
  pollfd connection{.fd = mosquitto_socket(client), .events = 0, .revents = 0};
  return ::poll(&connection, 1, 0) > 0 && (connection.revents & (POLLERR | POLLHUP)) != 0;
}

/// libmosquitto's client and the thread that it lives in: the library's own thread would end at a
/// broker's first wrong word (2.0.11), and not end within a connect() that nobody answers.
class MqttSink final : public Sink {
 public:
  MqttSink(const Location& location, const SinkOptions& options, SinkPeers peers);
  ~MqttSink() override;

  bool write(std::string_view line) override;

 private:
  void set_callbacks();
  void run();
  bool publish(std::string_view line, bool& is_settled);
  void note_connected(int reason);
  void note_end(int result, int system_error);
  void note_answer(int reason);
  void note_words(const std::string& words);
  std::string take_words();
  std::string describe_reason(int reason) const;

  const Location location_;
  const MqttConfig config_;
  const int qos_;
  const bool retain_, is_version_5_;
  const SinkPeers peers_;
  Window window_;
  const MosquittoRef client_;
  std::mutex mutex_;     // guards words_
  std::string words_;    // what OpenSSL or the broker has said since the last attempt
  std::string refusal_;  // of a first connection; in the window's lock
  std::atomic<bool> is_connected_ = false;  // changes there
  // For the client's thread.
  bool was_connected_ = false, is_refused_ = false, has_told_ = false;
  Clock::time_point begun_at_;  // this attempt, then its connection
  Backoff backoff_;
  std::future<void> thread_;
};

MqttSink::MqttSink(const Location& location, const SinkOptions& options, SinkPeers peers)
    : location_(location),
      config_(location, options.broker),
      qos_(config_.qos()),
      retain_(config_.flag("retain")),
      is_version_5_(config_.is_version_5()),
      peers_(peers),
      window_(kMostOnTheirWay, peers.cancel),
      client_(make_mosquitto(location, config_, kMostOnTheirWay, this)) {
  set_callbacks();
  thread_ = std::async(std::launch::async, [this] { run(); });
}

void MqttSink::set_callbacks() {
  mosquitto* client = client_.get();
  mosquitto_connect_v5_callback_set(
      client, [](mosquitto*, void* self, int reason, int, const mosquitto_property*) {
        static_cast<MqttSink*>(self)->note_connected(reason);
      });
  mosquitto_disconnect_v5_callback_set(
      client, [](mosquitto*, void* sink, int reason, const mosquitto_property*) {
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

bool MqttSink::write(std::string_view line) {
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  bool is_settled = false;
  const auto may_pass = [this] { return is_connected_ || !refusal_.empty(); };
  while (!is_settled) {
    if (!window_.enter(may_pass, [&] { return publish(line, is_settled); })) return false;
  }
  return true;
}

/// Whether the library has it. Above QoS 0 it keeps what it cannot send at once.
bool MqttSink::publish(std::string_view line, bool& is_settled) {
  std::string reason = std::exchange(refusal_, {});
  is_settled = true;
  if (reason.empty()) {
    const int result =
        mosquitto_publish_v5(client_.get(), nullptr, location_.topic.c_str(),
                             static_cast<int>(line.size()), line.data(), qos_, retain_, nullptr);
    if (result == MOSQ_ERR_SUCCESS || (result == MOSQ_ERR_NO_CONN && qos_ > 0)) return true;
    if (result == MOSQ_ERR_NO_CONN) {  // which the client's thread is about to note
      is_settled = is_connected_ = false;
      return false;
    }
    reason = "libmosquitto does not take a line of " + std::to_string(line.size()) + " bytes for " +
             location_.text + " (" + mosquitto_strerror(result) + "): check what the broker allows";
  }
  peers_.ledger.note_failed(1, std::make_exception_ptr(error_of(reason)));
  return false;
}

// ---- The client's thread

void MqttSink::run() {
  sigset_t all;
  sigfillset(&all);  // the application's handlers have threads of its own; OpenSSL raises SIGPIPE
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  begun_at_ = Clock::now();
  int result = connect_first(client_.get(), location_, config_);
  for (;;) {
    while (result == MOSQ_ERR_SUCCESS) {
      result = mosquitto_loop(client_.get(), kLoopMs, 1);
      if (result == MOSQ_ERR_SUCCESS && !is_connected_ && is_gone(client_.get())) {
        result = MOSQ_ERR_CONN_LOST;
      }
      if (result == MOSQ_ERR_SUCCESS && !is_connected_ && Clock::now() > begun_at_ + kAnswerTime) {
        result = MOSQ_ERR_KEEPALIVE;
      }
    }
    note_end(result, errno);
    if (!backoff_.wait(peers_.cancel)) return;
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
  window_.change([this] {
    is_connected_ = true;
    refusal_.clear();
  });
}

/// An attempt, or a connection, is over. A broker that has taken us before may still be starting:
/// only the first one's no is the last, and costs a line for each attempt.
void MqttSink::note_end(int result, int system_error) {
  const bool was_short = is_connected_ && Clock::now() < begun_at_ + kStayTime;
  window_.change([this] { is_connected_ = false; });
  if (qos_ == 0) {  // what the library had is lost with the connection
    const std::size_t gone = window_.leave_all();
    if (gone > 0) {
      peers_.ledger.note_out(gone);
    }
  }
  if (window_.is_cancelled()) return;
  const std::string words = take_words();
  const std::string reason = words.empty() ? describe(result, system_error) : words;
  if (!was_connected_ && (std::exchange(is_refused_, false) || result == MOSQ_ERR_TLS)) {
    return window_.change([&] {
      refusal_ = "the broker at " + location_.text + " refuses (" + reason +
                 "): check username, pw, cafile, cert and key, and what the broker allows";
    });
  }
  if (std::exchange(has_told_, true)) return;
  peers_.ledger.warn("no broker takes lines at " + location_.text + " (" + reason + ")" +
                     (was_short ? "; it ends a connection soon after it was made, as brokers do "
                                  "where another client has this id, a line is too long, or the "
                                  "topic is not allowed"
                                : "") +
                     ": trying again until one does");
}

void MqttSink::note_answer(int reason) {
  window_.leave();
  if (reason >= kFirstErrorReason) {
    const std::string text = "the broker at " + location_.text + " does not take a line (" +
                             mosquitto_reason_string(reason) +
                             "): check the topic and what the broker allows";
    return peers_.ledger.note_failed(1, std::make_exception_ptr(error_of(text)));
  }
  if (Clock::now() > begun_at_ + kStayTime) {
    has_told_ = false;
    backoff_.reset();
  }
  peers_.ledger.note_out(1);
}

void MqttSink::note_words(const std::string& words) {
  const std::scoped_lock lock(mutex_);
  words_ += (words_.empty() ? "" : "; ") + words;
}

std::string MqttSink::take_words() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(words_, {});
}

}  // namespace

std::unique_ptr<Sink> make_mqtt_sink(const Location& location, const SinkOptions& options,
                                     SinkPeers peers) {
  return std::make_unique<MqttSink>(location, options, peers);
}

}  // namespace gstnpu
