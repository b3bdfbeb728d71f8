#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include <npu_vcl/message.hpp>

#include "base/mapping.hpp"
#include "base/unique_fd.hpp"
#include "ir/serialize.hpp"

namespace npu::internal {

// Messages between npucore and the helper process: <npu_vcl/message.hpp>, with content in file
// descriptors.

/// Bytes shared by a file descriptor.
struct Content {
  base::UniqueFd fd;
  std::uint64_t size_bytes = 0;
};

struct Message {
  std::string kind;
  std::map<std::string, std::string> texts = {};
  std::map<std::string, Content> contents = {};

  /// Empty if the message has no such text.
  std::string text(const std::string& name) const;
  std::uint64_t number(const std::string& name) const;
};

/// Waits until a socket takes more; an exception ends the sending.
using WaitForRoom = std::function<void(int socket)>;
void wait_for_room(int socket);

/// Throws Error(kIo) if the other side is gone.
void send_message(int socket, const Message& message, const WaitForRoom& wait = wait_for_room);

/// Puts messages together from what arrives.
class MessageReader {
 public:
  /// `most_bytes`: of one message. Large content comes by descriptor, so a compiler's log is the
  /// largest part.
  explicit MessageReader(std::uint64_t most_bytes = std::uint64_t{64} << 20)
      : decoder_(most_bytes) {}
  enum class Read { kSome, kNothingYet, kEnd };
  /// Reads what has arrived; blocks if the socket does. Throws Error(kIo).
  Read read(int socket);
  /// The next whole message. Throws Error(kIo) for a malformed one.
  std::optional<Message> next();

 private:
  npu_vcl::Decoder decoder_;
  std::deque<base::UniqueFd> fds_;
};

/// The bytes in a memory file that nobody can change or shorten any more.
Content shared_copy(const std::string& name, std::span<const std::byte> bytes);

/// The bytes of the .bin: the file itself if it is mapped, else a copy.
Content shared_weights(const ir::Weights& weights);

/// Content in memory, for reading. Zeros follow to the end of the last page.
class ContentView {
 public:
  ContentView() = default;
  /// Throws Error(kIo) for a descriptor with fewer bytes than announced.
  explicit ContentView(Content content);
  /// As the constructor, but refuses a descriptor that its sender could still change or shorten.
  static ContentView of_sealed(Content content);

  std::span<const std::byte> bytes() const { return mapping_.bytes(); }

 private:
  base::Mapping mapping_;
};

}  // namespace npu::internal
