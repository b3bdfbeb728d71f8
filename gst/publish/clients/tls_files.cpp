#include "tls_files.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

#include <npucore/error.hpp>

#include "broker_login.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMostPemBytes = std::size_t{4} << 20;
constexpr const char* kCertificate = "CERTIFICATE";
constexpr const char* kKey = "PRIVATE KEY";

[[noreturn]] void refuse(const std::string& text) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, text);
}

/// Folders and devices have none.
std::string text_of(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return "";
  std::ifstream stream(file);
  std::string text(kMostPemBytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

/// Reads the file; empty where it cannot be looked at.
std::string checked_text(const std::string& property, const std::string& file,
                         const std::string& what) {
  if (file.empty() || !is_readable_again(file)) return "";
  std::string text = text_of(file);
  if (text.find("-----BEGIN ") == std::string::npos ||
      text.find(what + "-----") == std::string::npos) {
    refuse(property + ": \"" + file + "\" holds no PEM text with -----BEGIN " + what +
           "-----. Name a file that does");
  }
  return text;
}

}  // namespace

void check_tls_files(const std::string& protocol, const TlsFiles& files) {
  check_readable(protocol + "-ca-file", files.ca);
  check_readable(protocol + "-certificate-file", files.certificate);
  check_readable(protocol + "-key-file", files.key);
  if (files.key.empty() != files.certificate.empty()) {
    refuse(protocol + "-certificate-file and " + protocol +
           "-key-file belong together: set both or none");
  }
}

void check_pem(const std::string& protocol, const TlsFiles& files, PassPhrase pass_phrase) {
  checked_text(protocol + "-ca-file", files.ca, kCertificate);
  checked_text(protocol + "-certificate-file", files.certificate, kCertificate);
  const std::string property = protocol + "-key-file";
  const std::string key = checked_text(property, files.key, kKey);
  if (pass_phrase == PassPhrase::kNone && key.find("ENCRYPTED") != std::string::npos) {
    refuse(property + ": \"" + files.key +
           "\" is encrypted, and nobody is asked for a pass phrase. Write the key without one");
  }
}

bool is_readable_again(const std::string& file) {
  std::error_code error;
  return !std::filesystem::is_fifo(file, error);
}

}  // namespace gstnpu
