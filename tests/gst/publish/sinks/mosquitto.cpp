#include "mosquitto.hpp"

#include <fstream>
#include <sstream>

#include "gst/publish_harness.hpp"

namespace gstnpu_test {
bool Mosquitto::is_installed() {
  return !find_program("mosquitto").empty() && !find_program("mosquitto_sub").empty() &&
         !find_program("mosquitto_passwd").empty() && !find_program("openssl").empty();
}

Mosquitto::Mosquitto(const std::vector<std::string>& more) {
  std::ofstream config(folder_.file("config"));
  config
      << "user root\n"  // else it has no access to the folder where the test is root's
      << "listener " << port() << " 127.0.0.1\n"
      << "persistence true\npersistence_location " << folder_.file("") << "\n"
      << "max_inflight_messages 0\nmax_queued_messages 0\n"
      << "log_dest stderr\nlog_type error\nlog_type warning\nlog_type notice\nlog_type subscribe\n"
      << "log_type information\n";
  for (const std::string& line : more) config << line << "\n";
}

void Mosquitto::start() {
  process_.emplace(
      std::vector<std::string>{find_program("mosquitto"), "-c", folder_.file("config")},
      folder_.file("log"));
  EXPECT_TRUE(becomes([this] { return has_listener(port()); })) << log();
}

void Mosquitto::save() {
  process_->send(SIGUSR1);
  EXPECT_TRUE(becomes([this] { return !folder_.read("mosquitto.db").empty(); })) << log();
}

Subscriber::Subscriber(Mosquitto& broker, const std::string& topic, int quality,
                       const std::vector<std::string>& more) {
  std::vector<std::string> command = {
      find_program("mosquitto_sub"), "-h", "localhost", "-p",
      std::to_string(broker.port()), "-t", topic,       "-q",
      std::to_string(quality),       "-c", "-i",        "subscriber"};
  command.insert(command.end(), more.begin(), more.end());
  process_.emplace(command, folder_.file("lines"));
  EXPECT_TRUE(becomes([&] {
    return broker.log().find("subscriber " + std::to_string(quality) + " " + topic) !=
           std::string::npos;
  })) << broker.log();
}

std::vector<std::string> Subscriber::lines() const {
  std::vector<std::string> whole;
  std::istringstream text(folder_.read("lines"));
  for (std::string line; std::getline(text, line) && !text.eof();) whole.push_back(line);
  return whole;
}

std::map<guint64, int> Subscriber::frames() const {
  const std::string key = "{\"frame\":";
  std::map<guint64, int> counted;
  for (const std::string& line : lines()) {
    if (line.starts_with(key)) {
      ++counted[std::stoull(line.substr(key.size()))];
    }
  }
  return counted;
}

Certificates::Certificates() {
  if (find_program("openssl").empty()) return;
  make("ca");
  make("other");
  for (const char* name : {"broker", "client"}) {
    make(name, " -CA " + file("ca.pem") + " -CAkey " + file("ca.key") +
                   " -addext subjectAltName=DNS:localhost");
  }
}

void Certificates::make(const std::string& name, const std::string& more) const {
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
      name + " -keyout " + file(name + ".key") + " -out " + file(name + ".pem") + more;
  EXPECT_EQ(ChildProcess({"/bin/sh", "-c", command}, file("said")).wait(), 0)
      << folder_.read("said");
}

}  // namespace gstnpu_test
