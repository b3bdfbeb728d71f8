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

 private:
  const TempFolder folder_;
};

}  // namespace gstnpu_test
