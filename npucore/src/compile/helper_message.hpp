#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mapping.hpp"
#include "base/unique_fd.hpp"

namespace npu::internal {

// What npucore and the helper process say to each other, over one stream of bytes each way:
//
//     "NPUH", u32 version, u64 bytes of the records, u32 number of file descriptors, u32 0
//     records: u8 kind, u32 bytes of the name, u64 bytes of the value, name, value
//
// Integers are little-endian. Records of kind 't' are texts; the one without a name is the
// message's own kind. Content is a record 'f', whose value is a u64 size and whose bytes are in the
// next of the file descriptors. These come with the first byte of the message.

inline constexpr std::uint32_t kHelperProtocol = 1;

/// Bytes that are shared by a file descriptor.
struct Content {
  base::UniqueFd fd;
  std::uint64_t size_bytes = 0;
};

struct Message {
  std::string kind;
  std::map<std::string, std::string> texts = {};
  std::map<std::string, Content> contents = {};

  /// Empty where there is none.
  std::string text(const std::string& name) const;
  std::uint64_t number(const std::string& name) const;
};

/// Throws Error(kIo) where the other side is gone.
void send_message(int socket, const Message& message);

/// Puts messages together from what arrives.
class MessageReader {
 public:
  enum class Read { kSome, kNothingYet, kEnd };
  /// Reads what is there; waits for it where the socket does. Throws Error(kIo).
  Read read(int socket);
  /// The next whole message. Throws Error(kIo) for what is none.
  std::optional<Message> next();

 private:
  std::vector<std::byte> bytes_;
  std::deque<base::UniqueFd> fds_;
};

/// The bytes in a file of memory that nobody can change or shorten any more.
Content shared_copy(const std::string& name, std::span<const std::byte> bytes);

/// Content in memory, for reading. Zeros follow to the end of the last page.
class ContentView {
 public:
  ContentView() = default;
  /// Throws Error(kIo) for a descriptor with fewer bytes than were told.
  explicit ContentView(Content content);
  /// The same, and refuses a descriptor that its sender could still change or shorten.
  static ContentView of_sealed(Content content);

  std::span<const std::byte> bytes() const { return mapping_.bytes(); }

 private:
  base::Mapping mapping_;
};

}  // namespace npu::internal
