#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npu_vcl {

// Messages between a program and the process that compiles for it, over one stream of bytes each
// way:
//
//     "NPUH", u32 version, u64 bytes of the records, u32 number of file descriptors, u32 0
//     records: u8 kind, u32 bytes of the name, u64 bytes of the value, name, value
//
// Integers are little-endian. Records of kind 't' are texts, of any bytes; the one without a name
// is the message's own kind. A record 'f' is content in a file: its value is a u64 size, and the
// bytes are in the next of the file descriptors, which come with the first byte of the message. A
// process that cannot take descriptors gets texts instead.

inline constexpr std::uint32_t kProtocol = 2;
inline constexpr std::size_t kMostFiles = 8;

/// Thrown for bytes that are no message.
class BadMessage : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Message {
  std::string kind;
  std::map<std::string, std::string> texts = {};
  /// Names and sizes, in the order of their descriptors.
  std::vector<std::pair<std::string, std::uint64_t>> files = {};

  /// Empty if there is no such text.
  const std::string& text(const std::string& name) const;
  /// 0 if there is no such text.
  std::uint64_t number(const std::string& name) const;
};

std::vector<std::byte> encode(const Message& message);

/// Assembles messages from the bytes that arrive.
class Decoder {
 public:
  /// `most_bytes`: of one message.
  explicit Decoder(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  void append(std::span<const std::byte> bytes);
  /// The next whole message. Throws BadMessage.
  std::optional<Message> next();

 private:
  std::uint64_t most_bytes_;
  std::vector<std::byte> bytes_;
};

}  // namespace npu_vcl
