// Access to the page and REST: the token, and the headers Host and Origin.
#pragma once

#include <string>

#include "config/config.hpp"

namespace npustream::web {

/// The headers of a request that decide. Empty: the request has none.
struct Credentials {
  std::string host, origin, fetch_site, authorization, cookie;
};

enum class Verdict { kAllowed, kWrongHost, kOtherSite, kNoToken };

class Access {
 public:
  /// Reads the token file. Throws std::runtime_error with what to do.
  explicit Access(const ServerConfig& config);

  bool has_token() const { return !token_.empty(); }
  /// A page of another site must not ask, with or without its user's cookie; nor one that calls
  /// itself 127.0.0.1 by its own name server.
  Verdict judge(const Credentials& credentials) const;
  /// Host and Origin only, for logging in.
  Verdict judge_site(const Credentials& credentials) const;
  bool is_token(const std::string& text) const;
  /// The value of Set-Cookie for one who has given the token, or for one who leaves.
  std::string cookie() const;
  static std::string no_cookie();

 private:
  std::string token_;
  std::string session_;  // what the cookie holds: of this process only, and the token cannot be
                         // found from it
};

/// Whether an address such as 127.0.0.1 or ::1 is of this machine only.
bool is_loopback(const std::string& address);

}  // namespace npustream::web
