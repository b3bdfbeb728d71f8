// The files of TLS that npupublish is given: what is wrong with them is one error at the start.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <tuple>
#include <utility>

#include "gst/leak_check.hpp"
#include "gst/publish/sinks/certificates.hpp"
#include "gst/publish/sinks/child_process.hpp"
#include "gst/publish/sinks/publishing.hpp"

namespace {

using namespace gstnpu_test;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

class TlsFiles : public testing::Test {
 protected:
  /// Once, since keys take their time.
  static void SetUpTestSuite() {
    certificates_.emplace();
    if (find_program("openssl").empty()) return;
    certificates_->make_other_key("ed25519.key");
    certificates_->encrypt_key("encrypted.key", "secret");
    certificates_->write("empty.pem", "");
    for (const char* name : {"ca.pem", "client.pem", "client.key"}) {
      const std::string text = certificates_->read(name);
      certificates_->write(std::string("half-") + name,
                           text.substr(0, text.size() / 2) + text.substr(text.rfind("-----END")));
    }
  }
  static void TearDownTestSuite() { certificates_.reset(); }

  static void need(const std::string& protocol) {
    if (find_program("openssl").empty() || !knows_broker(protocol)) {
      GTEST_SKIP() << "openssl is not installed, or the plugin was built without " << protocol;
    }
  }
  static std::string location(const std::string& protocol) {
    return protocol == "mqtt" ? "mqtts://localhost:1/t" : "kafka://localhost:1/t";
  }
  /// Names of files below the certificates' folder, or paths; empty: not set.
  static std::string properties(const std::string& protocol, const std::string& ca,
                                const std::string& certificate, const std::string& key) {
    std::string text = protocol == "mqtt" ? "" : "kafka-tls=true";
    for (const auto& [what, name] :
         {std::pair("ca", ca), std::pair("certificate", certificate), std::pair("key", key)}) {
      if (name.empty()) continue;
      text += " " + protocol + "-" + what + "-file=";
      text += name.starts_with('/') ? name : certificates_->file(name);
    }
    return text;
  }
  static void expect_taken(const std::string& protocol, const std::string& properties) {
    Publishing publishing(location(protocol), "drain-time=0 " + properties);
    EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
  }

  static inline std::optional<Certificates> certificates_;
};

struct Row {
  const char *name, *ca, *certificate, *key;
  /// Behind the protocol's name; the second, where it has other words, Kafka's whole error.
  const char *said, *of_kafka = nullptr;
};

using ProtocolAndRow = std::tuple<const char*, Row>;

class BadTlsFiles : public TlsFiles, public testing::WithParamInterface<ProtocolAndRow> {};

TEST_P(BadTlsFiles, AreRefusedAtTheStart) {
  const auto& [protocol, row] = GetParam();
  need(protocol);
  if (IsSkipped()) return;
  const std::string said =
      failure_of_start(location(protocol), properties(protocol, row.ca, row.certificate, row.key))
          .text;
  const bool is_other = row.of_kafka != nullptr && std::string(protocol) == "kafka";
  const std::string expected = is_other ? row.of_kafka : std::string(protocol) + "-" + row.said;
  EXPECT_NE(said.find(expected), std::string::npos) << said;
}

const Row kBadFiles[] = {
    {"NoCa", "/nowhere/ca.pem", "", "", "ca-file: cannot read \"/nowhere/ca.pem\""},
    {"NoCertificate", "", "/nowhere/pem", "client.key", "certificate-file: cannot read \"/nowhere"},
    {"NoKey", "", "client.pem", "/nowhere/key", "key-file: cannot read \"/nowhere/key\""},
    {"CertificateAlone", "", "client.pem", "", "key-file belong together: set both or none"},
    {"KeyAlone", "", "", "client.key", "key-file belong together: set both or none"},
    {"FolderAsCa", "/", "", "", "ca-file: \"/\" holds no PEM text with -----BEGIN CERTIFICATE"},
    {"DeviceAsCa", "/dev/null", "", "", "ca-file: \"/dev/null\" holds no PEM text"},
    {"TextAsCa", "/etc/passwd", "", "", "ca-file: \"/etc/passwd\" holds no PEM text"},
    {"EmptyCertificate", "", "empty.pem", "client.key", "certificate-file: \""},
    {"KeyAsCertificate", "", "client.key", "client.key", "certificate-file: \""},
    {"CertificateAsKey", "", "client.pem", "client.pem", "key-file: \""},
    {"HalfACa", "half-ca.pem", "", "", "ca-file: OpenSSL does not take \"",
     "librdkafka makes no producer of the properties kafka-... (ssl.ca.location"},
    {"HalfACertificate", "", "half-client.pem", "client.key",
     "certificate-file: OpenSSL does not take \"",
     "librdkafka makes no producer of the properties kafka-... (ssl.certificate.location"},
    {"HalfAKey", "", "client.pem", "half-client.key", "key-file: OpenSSL does not take \"",
     "librdkafka makes no producer of the properties kafka-... (ssl.key.location"},
    {"KeyOfAnother", "", "client.pem", "broker.key", "key-file: \"",
     "librdkafka makes no producer of the properties kafka-... ("},
    {"KeyOfAnotherAlgorithm", "", "client.pem", "ed25519.key", "key-file: \"",
     "librdkafka makes no producer of the properties kafka-... ("},
    {"EncryptedKey", "", "client.pem", "encrypted.key", "key-file: \""},
};

INSTANTIATE_TEST_SUITE_P(All, BadTlsFiles,
                         testing::Combine(testing::Values("mqtt", "kafka"),
                                          testing::ValuesIn(kBadFiles)),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param)) + std::get<1>(row.param).name;
                         });

TEST_F(TlsFiles, AreTakenWhereTheyBelongTogether) {
  for (const char* protocol : {"mqtt", "kafka"}) {
    if (!knows_broker(protocol)) continue;
    expect_taken(protocol, properties(protocol, "ca.pem", "client.pem", "client.key"));
    expect_taken(protocol, properties(protocol, "ca.pem", "", ""));
  }
}

TEST_F(TlsFiles, OfMqttNameTheTwoThatDoNotBelongTogether) {
  need("mqtt");
  if (IsSkipped()) return;
  for (const char* key : {"broker.key", "ed25519.key"}) {
    const std::string said =
        failure_of_start(location("mqtt"), properties("mqtt", "ca.pem", "client.pem", key)).text;
    EXPECT_NE(
        said.find("mqtt-key-file: \"" + certificates_->file(key) +
                  "\" is not the key of the certificate in \"" + certificates_->file("client.pem")),
        std::string::npos)
        << said;
  }
}

// OpenSSL asked for a pass phrase at the terminal, and held up the stop.
TEST_F(TlsFiles, OfMqttHaveNoPassPhrase) {
  need("mqtt");
  if (IsSkipped()) return;
  certificates_->write("old.key", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n");
  for (const char* key : {"encrypted.key", "old.key"}) {
    const std::string said =
        failure_of_start(location("mqtt"), properties("mqtt", "", "client.pem", key)).text;
    EXPECT_NE(said.find("is encrypted, and nobody is asked for a pass phrase"), std::string::npos)
        << said;
  }
}

TEST_F(TlsFiles, OfKafkaMayHaveAPassPhrase) {
  need("kafka");
  if (IsSkipped()) return;
  const std::string with_key = properties("kafka", "ca.pem", "client.pem", "encrypted.key") +
                               " kafka-config-file=" + certificates_->file("config");
  certificates_->write("config", "ssl.key.password=secret\n");
  expect_taken("kafka", with_key);
  certificates_->write("config", "ssl.key.password=wrong\n");
  const std::string said = failure_of_start(location("kafka"), with_key).text;
  EXPECT_NE(said.find("librdkafka makes no producer of the properties kafka-... (ssl.key.location"),
            std::string::npos)
      << said;
}

// As of <(pass show client-key): nobody but the client library reads it.
TEST_F(TlsFiles, OfPipesAreLeftToTheClient) {
  need("mqtt");
  if (IsSkipped()) return;
  const std::string pipe = certificates_->file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int fd = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  const std::string key = certificates_->read("client.key");
  ASSERT_EQ(::write(fd, key.data(), key.size()), static_cast<ssize_t>(key.size()));
  expect_taken("mqtt", properties("mqtt", "", "client.pem", "pipe"));
  std::string left(key.size(), '\0');
  EXPECT_EQ(::read(fd, left.data(), left.size()), static_cast<ssize_t>(key.size()));
  ::close(fd);
}

}  // namespace
