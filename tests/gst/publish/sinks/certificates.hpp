#pragma once

#include <string>

#include "gst/hand_made_frames.hpp"

namespace gstnpu_test {

/// A folder with certificates (NAME.pem, NAME.key) of an authority "ca", of a "broker" at localhost
/// and of a "client", which it has signed, and of an authority "other" that signed none. Empty
/// where openssl is not installed.
class Certificates {
 public:
  Certificates();

  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string read(const std::string& name) const { return folder_.read(name); }
  /// Writes the caller's text to a file.
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  /// A key of another algorithm than all others here.
  void make_other_key(const std::string& name) const;
  /// The client's key, with a pass phrase.
  void encrypt_key(const std::string& name, const std::string& pass_phrase) const;
  /// npupublish's properties for trusting `authority` and for showing `client`; an empty client
  /// shows nothing. `protocol`: prefix of the properties.
  std::string properties(const std::string& protocol, const std::string& authority,
                         const std::string& client) const;

 private:
  const TempFolder folder_;
};

}  // namespace gstnpu_test
