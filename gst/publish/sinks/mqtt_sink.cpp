#include "mqtt_sink.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <list>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include <npucore/error.hpp>

#include "publish/clients/paho.hpp"

#include "mqtt_options.hpp"
#include "mqtt_refusal.hpp"
#include "prompt_sink.hpp"
#include "silence.hpp"

namespace gstnpu {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostUnconfirmed = 16;  // lines
constexpr milliseconds kFirstPause{200}, kLongestPause{5000};
constexpr milliseconds kCheckTime{1000};
constexpr int kDisconnectTimeMs = 500;
constexpr int kToldEnds = 3;  // of connections, one soon after the other

/// A client of the broker, and its lines that are not confirmed. The library calls back from
/// threads of its own and with its own lock held: mutex_ is never held while it is called.
class MqttSink final : public Sink {
 public:
  MqttSink(const std::string& location, const SinkOptions& options);
  ~MqttSink() override;

  bool write(std::string_view line) override;
  bool flush() override { return run_until(0); }
  std::size_t held() const override;
  bool awaits_answers() const override { return true; }
  void interrupt() override;
  void resume() override;
  void leave();

 private:
  struct Line {
    std::string text;
    bool is_sent = false;  // and neither confirmed nor lost
    int token = 0;         // the library's, of what is sent
  };

  bool run_until(std::size_t most_unconfirmed);
  void await_answer(std::unique_lock<std::mutex>& lock);
  bool is_connected() const { return !attempt_.valid() && paho_.is_connected(client_) != 0; }
  void set_callbacks();
  bool connect();
  void begin_attempt();
  int connect_in_turn(bool& resumes);
  int resume_session(bool& resumes);
  int begin_session();
  int begin_anew();
  void note_resumed(bool is_resumed);
  void settle(int token, int code);
  bool wait_for_attempt();
  bool pause();
  void disconnect();
  void note_end();
  void note_trouble(const MqttRefusal& refusal);
  void tell_once(const std::string& reason);
  std::size_t sent() const;
  Line* next_to_send();
  void send(Line& line);
  int publish(const std::string& text, int& token);
  void note_sent(Line& line, int result, int token);
  void note_confirmed();
  void throw_failure();
  void lose(const Line& line, int code);
  void remove(const Line& line);

  // Called by the library.
  void note_change();
  void note_reason(int code);
  void note_answer(int token, int code);

  const std::string location_;
  const SinkOptions options_;
  const BrokerLocation broker_;
  const Paho& paho_;
  std::atomic<bool> is_ending_ = false;
  MqttOptions mqtt_;
  MQTTClient client_;
  std::future<int> attempt_;    // to connect, whose result nobody has looked at yet
  bool was_connected_ = false;  // once at least
  bool is_made_ = false;        // by the last attempt
  int ends_ = 0;                // of connections, since an attempt has failed
  milliseconds pause_{0};       // before the next attempt

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::list<Line> lines_;                // not confirmed, oldest first
  std::set<std::pair<int, int>> early_;  // answers to what is just being sent
  std::list<std::string> failures_;      // one for each line that was lost, not yet thrown
  int reason_ = 0;                       // that a broker of MQTT 5 had for the last end
  bool was_confirmed_ = false;           // a line, since the last attempt to connect
  bool has_told_ = false;                // that no broker takes lines, since one was confirmed
  Silence silence_;                      // of the broker
  bool is_publishing_ = false;
  bool is_attempting_ = false;
  bool is_resuming_ = false;  // a session: what is answered then is kept in early_
  bool is_interrupted_ = false;
};

MqttSink::MqttSink(const std::string& location, const SinkOptions& options)
    : location_(location),
      options_(options),
      broker_(parse_broker_location(location)),
      paho_(Paho::get()),
      mqtt_(broker_, options.mqtt, is_ending_),
      client_(mqtt_.make_client()) {
  set_callbacks();
}

/// With them the library has a thread of its own for answers and signs of life.
void MqttSink::set_callbacks() {
  const auto lost = [](void* self, char*) { static_cast<MqttSink*>(self)->note_change(); };
  const auto arrived = [](void*, char* topic, int, MQTTClient_message* message) {
    Paho::get().free_message(&message);  // nobody has asked for one
    Paho::get().free(topic);
    return 1;
  };
  const auto delivered = [](void* self, MQTTClient_deliveryToken token) {
    static_cast<MqttSink*>(self)->note_answer(token, 0);
  };
  if (!mqtt_.is_version_5()) {
    paho_.set_callbacks(client_, this, lost, arrived, delivered);
    return;
  }
  paho_.set_callbacks(client_, this, lost, arrived, nullptr);
  paho_.set_published(client_, this,
                      [](void* self, int token, int, MQTTProperties*, MQTTReasonCodes code) {
                        static_cast<MqttSink*>(self)->note_answer(token, code);
                      });
  paho_.set_disconnected(client_, this, [](void* self, MQTTProperties*, MQTTReasonCodes code) {
    static_cast<MqttSink*>(self)->note_reason(code);
  });
}

/// The library ends no client as long as it connects one, this or another.
MqttSink::~MqttSink() {
  leave();
  if (attempt_.valid()) {
    attempt_.get();
  }
  disconnect();
  paho_.destroy(&client_);
}

/// Nothing is written any more.
void MqttSink::leave() {
  is_ending_ = true;
  disconnect();
}

/// Without DISCONNECT the broker would publish our will.
void MqttSink::disconnect() {
  if (!is_connected()) return;
  if (mqtt_.is_version_5()) {
    paho_.disconnect5(client_, kDisconnectTimeMs, MQTTREASONCODE_NORMAL_DISCONNECTION, nullptr);
  } else {
    paho_.disconnect(client_, kDisconnectTimeMs);
  }
}

// ---- For the thread that writes

bool MqttSink::write(std::string_view line) {
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  {
    const std::scoped_lock lock(mutex_);
    lines_.push_back({.text = std::string(line)});
  }
  return run_until(kMostUnconfirmed - 1);
}

std::size_t MqttSink::held() const {
  const std::scoped_lock lock(mutex_);
  return lines_.size() + failures_.size();
}

/// Until all lines are sent and no more than so many are not confirmed. False: interrupted.
bool MqttSink::run_until(std::size_t most_unconfirmed) {
  for (;;) {
    const bool is_up = is_connected();
    std::unique_lock lock(mutex_);
    throw_failure();
    Line* next = next_to_send();
    if (next == nullptr && lines_.size() <= most_unconfirmed) return true;
    if (is_interrupted_) return false;
    if (is_up && next == nullptr) {
      await_answer(lock);
      continue;
    }
    lock.unlock();
    if (is_up) {
      send(*next);
    } else if (!connect()) {
      return false;
    }
  }
}

/// A broker may be there and give signs of life, and still confirm nothing.
void MqttSink::await_answer(std::unique_lock<std::mutex>& lock) {
  changed_.wait_for(lock, kCheckTime);
  if (lines_.empty() || !silence_.is_long()) return;
  lock.unlock();
  tell_once(Silence::reason());
}

void MqttSink::throw_failure() {
  if (failures_.empty()) return;
  const std::string text = std::move(failures_.front());
  failures_.pop_front();
  throw npu::Error(npu::ErrorCode::kIo, text);
}

std::size_t MqttSink::sent() const {
  const auto count =
      std::count_if(lines_.begin(), lines_.end(), [](const Line& line) { return line.is_sent; });
  return static_cast<std::size_t>(count);
}

/// Null: none is left, or the broker takes no more at once.
MqttSink::Line* MqttSink::next_to_send() {
  if (sent() >= mqtt_.most_on_their_way()) return nullptr;
  const auto found =
      std::find_if(lines_.begin(), lines_.end(), [](const Line& line) { return !line.is_sent; });
  return found == lines_.end() ? nullptr : &*found;
}

/// The answer may come before the library has told the token.
void MqttSink::send(Line& line) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_interrupted_) return;
    is_publishing_ = true;
  }
  int token = 0;
  const int result = publish(line.text, token);
  const std::scoped_lock lock(mutex_);
  is_publishing_ = false;
  note_sent(line, result, token);
}

int MqttSink::publish(const std::string& text, int& token) {
  MQTTClient_message message = MQTTClient_message_initializer;
  message.payload = const_cast<char*>(text.data());
  message.payloadlen = static_cast<int>(text.size());
  message.qos = static_cast<int>(options_.mqtt.qos);
  message.retained = options_.mqtt.retain ? 1 : 0;
  const char* topic = broker_.topic.c_str();
  if (!mqtt_.is_version_5()) return paho_.publish(client_, topic, &message, &token);
  return paho_.take_code(paho_.publish5(client_, topic, &message, &token));
}

void MqttSink::note_sent(Line& line, int result, int token) {
  if (result == MQTTCLIENT_FAILURE || result == MQTTCLIENT_DISCONNECTED) return;  // again, then
  if (result != MQTTCLIENT_SUCCESS) return lose(line, result);
  if (sent() == 0) {
    silence_.begin();
  }
  line.is_sent = true;
  line.token = token;
  if (options_.mqtt.qos == 0) {
    note_confirmed();
    return remove(line);
  }
  const auto answer = early_.lower_bound({token, 0});
  const bool has_answer = answer != early_.end() && answer->first == token;
  const int code = has_answer ? answer->second : 0;
  early_.clear();
  if (has_answer && code == 0) {
    remove(line);
  } else if (has_answer) {
    lose(line, code);
  }
}

void MqttSink::note_confirmed() {
  was_confirmed_ = true;
  has_told_ = false;
  silence_.begin();
}

void MqttSink::lose(const Line& line, int code) {
  failures_.push_back("the broker at " + location_ + " does not take a line of " +
                      std::to_string(line.text.size()) + " bytes (" +
                      describe({.code = code, .words = {}}, mqtt_.is_version_5()) +
                      "): check the topic and what the broker allows");
  remove(line);
}

void MqttSink::remove(const Line& line) {
  lines_.remove_if([&line](const Line& other) { return &other == &line; });
}

// ---- Connecting

/// One attempt. False: interrupted, and the next call goes on with it. Throws where the first one
/// is refused for good. Where the broker has kept the session the library sends again what was not
/// confirmed.
bool MqttSink::connect() {
  if (!attempt_.valid()) {
    note_end();
    if (!pause()) return false;
    begin_attempt();
  }
  if (!wait_for_attempt()) return false;
  const int result = attempt_.get();
  is_made_ = result == MQTTCLIENT_SUCCESS;
  if (!is_made_) {
    ends_ = 0;
    note_trouble({.code = result, .words = mqtt_.take_words()});
    return true;
  }
  was_connected_ = true;
  const std::scoped_lock lock(mutex_);
  silence_.begin();
  return true;
}

/// Brokers have no other way to say that they do not take a line, or that another client has come
/// with our name.
void MqttSink::note_end() {
  if (!is_made_ || ++ends_ != kToldEnds) return;
  int reason = 0;
  {
    const std::scoped_lock lock(mutex_);
    reason = reason_;
  }
  const std::string said = reason >= MQTTREASONCODE_UNSPECIFIED_ERROR
                               ? describe({.code = reason, .words = {}}, true)
                               : "it does not say why";
  options_.warn("the broker at " + location_ + " has ended " + std::to_string(ends_) +
                " connections that it had taken (" + said +
                "): another client may have the same mqtt-client-id, or the broker does not allow "
                "lines so long, mqtt-qos or mqtt-retain");
}

/// In a thread of its own: nothing ends the library's call before the broker has answered, or its
/// time is over.
void MqttSink::begin_attempt() {
  mqtt_.take_words();
  bool resumes = false;
  {
    const std::scoped_lock lock(mutex_);
    is_attempting_ = true;
    is_resuming_ = resumes = mqtt_.keeps_session() && sent() > 0;
  }
  const auto end = [this](bool is_resumed) {
    const std::scoped_lock lock(mutex_);
    note_resumed(is_resumed);
    is_attempting_ = false;
    changed_.notify_all();
  };
  try {
    attempt_ = std::async(std::launch::async, [this, resumes, end]() mutable {
      const int result = connect_in_turn(resumes);
      end(result <= 0 && resumes);
      return result;
    });
  } catch (const std::system_error&) {  // there are as many threads as there may be
    end(false);
    std::promise<int> failed;
    failed.set_value(MQTTCLIENT_FAILURE);
    attempt_ = failed.get_future();
  }
}

/// The library connects one client after the other. Who has ended meanwhile takes none of the
/// others' time.
int MqttSink::connect_in_turn(bool& resumes) {
  const auto address = mqtt_.find_broker();
  if (!address || (resumes && !MqttOptions::is_reachable(*address))) return MQTTCLIENT_FAILURE;
  static std::mutex turn;
  const std::scoped_lock lock(turn);
  if (is_ending_) return MQTTCLIENT_DISCONNECTED;
  if (resumes) {
    const int result = resume_session(resumes);
    if (resumes || result != MQTTCLIENT_SUCCESS || is_ending_) return result;
  }
  return begin_session();
}

/// For a QoS 2 line the broker has acknowledged, the library resends only PUBREL. A broker that
/// lost the line with its session accepts that too, so it is first asked whether it still has the
/// session. A question that gets no answer may itself begin a session for the next question to
/// find, so the next attempt begins a new one. `resumes` becomes false where this attempt does.
int MqttSink::resume_session(bool& resumes) {
  int result = mqtt_.look_for_session(resumes);
  if (result > 0 || is_ending_) return result;
  if (result == MQTTCLIENT_SUCCESS && resumes) {
    result = mqtt_.connect(client_, resumes);
    if (result > 0 || is_ending_ || resumes) return result;
  }
  resumes = false;
  const int renewed = begin_anew();
  return result != MQTTCLIENT_SUCCESS ? result : renewed;
}

int MqttSink::begin_session() {
  const int result = mqtt_.end_session(client_);
  if (result != MQTTCLIENT_SUCCESS) return result;
  bool resumes = false;
  return is_ending_ ? MQTTCLIENT_DISCONNECTED : mqtt_.connect(client_, resumes);
}

/// All lines go out again.
int MqttSink::begin_anew() {
  const int result = mqtt_.renew(client_);
  if (result != MQTTCLIENT_SUCCESS) return result;
  set_callbacks();
  const std::scoped_lock lock(mutex_);
  is_resuming_ = false;
  early_.clear();
  for (Line& line : lines_) line.is_sent = false;
  return result;
}

/// False: interrupted.
bool MqttSink::wait_for_attempt() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_attempting_ || is_interrupted_; });
  return !is_attempting_;
}

/// Longer each time, until a line was confirmed.
bool MqttSink::pause() {
  std::unique_lock lock(mutex_);
  if (!mqtt_.keeps_session()) {
    for (Line& line : lines_) line.is_sent = false;
  }
  early_.clear();
  if (std::exchange(was_confirmed_, false)) {
    pause_ = milliseconds(0);
  }
  changed_.wait_for(lock, pause_, [this] { return is_interrupted_; });
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
  return !is_interrupted_;
}

/// A broker that has taken us before may still be starting: only the first one's no is the last.
void MqttSink::note_trouble(const MqttRefusal& refusal) {
  std::string reason = describe(refusal, mqtt_.is_version_5());
  const bool is_unexplained = refusal.code == MQTTCLIENT_FAILURE && refusal.words.empty();
  if (is_unexplained && !was_connected_ && broker_.scheme == "mqtts") {
    reason += "; the broker's certificate may not name the host, or this client's be missing";
  }
  if (was_connected_ || !is_lasting(refusal)) return tell_once(reason);
  {
    const std::scoped_lock lock(mutex_);
    lines_.pop_front();
  }
  throw npu::Error(npu::ErrorCode::kIo, "the broker at " + location_ + " refuses (" + reason +
                                            "): check the properties mqtt-... and what the broker "
                                            "allows");
}

void MqttSink::tell_once(const std::string& reason) {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(has_told_, true)) return;
  }
  options_.warn(no_broker_takes_lines(location_, reason));
}

// ---- For other threads

/// A line that nobody takes holds the library until its connection ends.
void MqttSink::interrupt() {
  bool holds = false;
  {
    const std::scoped_lock lock(mutex_);
    is_interrupted_ = true;
    holds = is_publishing_;
    changed_.notify_all();
  }
  if (!holds) return;
  if (mqtt_.is_version_5()) {
    paho_.disconnect5(client_, 0, MQTTREASONCODE_NORMAL_DISCONNECTION, nullptr);
  } else {
    paho_.disconnect(client_, 0);
  }
}

void MqttSink::resume() {
  const std::scoped_lock lock(mutex_);
  is_interrupted_ = false;
}

void MqttSink::note_change() {
  const std::scoped_lock lock(mutex_);
  changed_.notify_all();
}

void MqttSink::note_reason(int code) {
  const std::scoped_lock lock(mutex_);
  reason_ = code;
  changed_.notify_all();
}

void MqttSink::note_answer(int token, int code) {
  const std::scoped_lock lock(mutex_);
  if (is_resuming_) {
    early_.insert({token, code});
    return;
  }
  settle(token, code);
  changed_.notify_all();
}

/// An attempt is over. What was answered at a broker that had lost the session says nothing.
void MqttSink::note_resumed(bool is_resumed) {
  is_resuming_ = false;
  const std::set<std::pair<int, int>> answers = std::exchange(early_, {});
  if (!is_resumed) return;
  for (const auto& [token, code] : answers) settle(token, code);
}

void MqttSink::settle(int token, int code) {
  // The second is of a line that it has given out, and that it was asked for again.
  const bool is_taken =
      code < MQTTREASONCODE_UNSPECIFIED_ERROR || code == MQTTREASONCODE_PACKET_IDENTIFIER_NOT_FOUND;
  if (is_taken) {
    note_confirmed();
  }
  const auto found = std::find_if(lines_.begin(), lines_.end(), [token](const Line& line) {
    return line.is_sent && line.token == token;
  });
  if (found == lines_.end()) {
    early_.insert({token, is_taken ? 0 : code});
  } else if (is_taken) {
    lines_.erase(found);
  } else {
    lose(*found, code);
  }
}

}  // namespace

std::unique_ptr<Sink> make_mqtt_sink(const std::string& location, const SinkOptions& options) {
  auto sink = std::make_unique<MqttSink>(location, options);
  MqttSink* mqtt = sink.get();
  return std::make_unique<PromptSink>(std::move(sink), [mqtt] { mqtt->leave(); });
}

}  // namespace gstnpu
