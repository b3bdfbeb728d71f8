#pragma once

#include <string>

namespace gstnpu {

/// Certificates that a client of brokers trusts, and those that it shows. Empty names are not used.
struct TlsFiles {
  std::string ca, certificate, key;
};

// All throw npu::Error, which names the property that is wrong: `protocol`-ca-file,
// `protocol`-certificate-file or `protocol`-key-file.

/// Fails where a file cannot be read, or only one of certificate and key is given.
void check_tls_files(const std::string& protocol, const TlsFiles& files);

enum class PassPhrase { kNone, kKnown };
/// Fails where a file has no text of its kind, or the key needs a pass phrase that is not known.
void check_pem(const std::string& protocol, const TlsFiles& files, PassPhrase pass_phrase);

/// A pipe gives its text once, to the TLS library.
bool is_readable_again(const std::string& file);

}  // namespace gstnpu
