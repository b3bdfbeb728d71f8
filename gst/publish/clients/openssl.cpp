#include "openssl.hpp"

#include <array>
#include <memory>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

constexpr int kPem = 1;  // SSL_FILETYPE_PEM

/// Else OpenSSL asks at the terminal.
int know_none(char*, int, int, void*) {
  return 0;
}

}  // namespace

OpenSsl OpenSsl::of(const SharedLibrary& library) {
  OpenSsl all;
  const bool are_there =
      library.find_if_there("TLS_client_method", all.client_method) &&
      library.find_if_there("SSL_CTX_new", all.new_context) &&
      library.find_if_there("SSL_CTX_free", all.free_context) &&
      library.find_if_there("SSL_CTX_set_default_passwd_cb", all.set_ask_pass_phrase) &&
      library.find_if_there("SSL_CTX_load_verify_locations", all.load_authorities) &&
      library.find_if_there("SSL_CTX_use_PrivateKey_file", all.use_key) &&
      library.find_if_there("SSL_CTX_use_certificate_chain_file", all.use_certificate) &&
      library.find_if_there("SSL_CTX_check_private_key", all.check_key) &&
      library.find_if_there("ERR_get_error", all.next_error) &&
      library.find_if_there("ERR_error_string_n", all.describe_error) &&
      library.find_if_there("ERR_clear_error", all.clear_errors);
  return are_there ? all : OpenSsl();
}

void OpenSsl::refuse(const std::string& property, const std::string& file) const {
  std::array<char, 256> said{};
  describe_error(next_error(), said.data(), said.size());
  clear_errors();
  throw npu::Error(npu::ErrorCode::kInvalidArgument, property + ": OpenSSL does not take \"" +
                                                         file + "\" (" + said.data() +
                                                         "): name a file with the whole text");
}

void OpenSsl::check(const std::string& protocol, const TlsFiles& files) const {
  if (new_context == nullptr) return;
  clear_errors();
  const std::unique_ptr<Context, void (*)(Context*)> context(new_context(client_method()),
                                                             free_context);
  if (!context) return;  // the client will say why
  if (!files.ca.empty() && is_readable_again(files.ca) &&
      load_authorities(context.get(), files.ca.c_str(), nullptr) != 1) {
    refuse(protocol + "-ca-file", files.ca);
  }
  if (!files.key.empty() && is_readable_again(files.key) && is_readable_again(files.certificate)) {
    check_pair(context.get(), protocol, files);
  }
}

/// The key first: a certificate may replace one that is not its own, where a key may not.
void OpenSsl::check_pair(Context* context, const std::string& protocol,
                         const TlsFiles& files) const {
  set_ask_pass_phrase(context, know_none);
  if (use_key(context, files.key.c_str(), kPem) != 1) {
    refuse(protocol + "-key-file", files.key);
  }
  if (use_certificate(context, files.certificate.c_str()) != 1) {
    refuse(protocol + "-certificate-file", files.certificate);
  }
  if (check_key(context) == 1) return;
  clear_errors();
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   protocol + "-key-file: \"" + files.key +
                       "\" is not the key of the certificate in \"" + files.certificate +
                       "\": name the two that belong together");
}

}  // namespace gstnpu
