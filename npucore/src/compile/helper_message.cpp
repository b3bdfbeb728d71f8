#include "helper_message.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <npucore/error.hpp>

#include "base/file_size_limit.hpp"
#include "base/text.hpp"

namespace npu::internal {
namespace {

using base::text;

constexpr std::size_t kMostFds = npu_vcl::kMostFiles;

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorCode::kIo,
              text("the helper process that compiles cannot be talked to: ", reason));
}

/// The message as bytes; `fds` takes the descriptors to go with them.
std::vector<std::byte> encode(const Message& message, std::vector<int>& fds) {
  npu_vcl::Message plain{message.kind, message.texts};
  for (const auto& [name, content] : message.contents) {
    plain.files.emplace_back(name, content.size_bytes);
    fds.push_back(content.fd.get());
  }
  return npu_vcl::encode(plain);
}

using ControlBuffer = std::array<char, CMSG_SPACE(kMostFds * sizeof(int))>;

/// Returns how many bytes were sent.
std::size_t send_some(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                      const WaitForRoom& wait) {
  iovec part = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control = {};
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  for (;;) {
    const ssize_t sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN) {
      wait(socket);
    } else if (errno != EINTR) {
      fail(text("sendmsg: ", base::errno_text(errno)));
    }
  }
}

void take_fds(msghdr& header, std::deque<base::UniqueFd>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
}

/// The message with its descriptors.
Message complete(npu_vcl::Message plain, std::deque<base::UniqueFd>& fds) {
  Message message{std::move(plain.kind), std::move(plain.texts)};
  for (auto& [name, size] : plain.files) {
    if (fds.empty()) {
      fail("a file descriptor is missing");
    }
    message.contents[std::move(name)] = {std::move(fds.front()), size};
    fds.pop_front();
  }
  return message;
}

}  // namespace

std::string Message::text(const std::string& name) const {
  const auto found = texts.find(name);
  return found == texts.end() ? std::string() : found->second;
}

std::uint64_t Message::number(const std::string& name) const {
  const std::string words = text(name);
  std::uint64_t value = 0;
  std::from_chars(words.data(), words.data() + words.size(), value);
  return value;
}

void wait_for_room(int socket) {
  pollfd place = {socket, POLLOUT, 0};
  ::poll(&place, 1, -1);
}

void send_message(int socket, const Message& message, const WaitForRoom& wait) {
  std::vector<int> fds;
  const auto bytes = encode(message, fds);
  std::span<const std::byte> rest = bytes;
  std::span<const int> with_first_byte = fds;
  while (!rest.empty()) {
    rest = rest.subspan(send_some(socket, rest, with_first_byte, wait));
    with_first_byte = {};
  }
}

MessageReader::Read MessageReader::read(int socket) {
  std::array<std::byte, 65536> chunk;
  iovec part = {chunk.data(), chunk.size()};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control = {};
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Read::kNothingYet;
    if (errno == ECONNRESET) return Read::kEnd;
    fail(text("recvmsg: ", base::errno_text(errno)));
  }
  take_fds(header, fds_);
  if (fds_.size() > kMostFds) {
    fail(text("it sent more than ", kMostFds, " file descriptors"));
  }
  if ((header.msg_flags & MSG_CTRUNC) != 0) {
    fail("there is no file descriptor left for what it sent: raise the limit (ulimit -n)");
  }
  if (got == 0) return Read::kEnd;
  decoder_.append(std::span<const std::byte>(chunk).first(static_cast<std::size_t>(got)));
  return Read::kSome;
}

std::optional<Message> MessageReader::next() try {
  auto message = decoder_.next();
  if (!message) return std::nullopt;
  return complete(std::move(*message), fds_);
} catch (const npu_vcl::BadMessage& error) {
  fail(error.what());
}

Content shared_copy(const std::string& name, std::span<const std::byte> bytes) {
  Content content{base::UniqueFd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)),
                  bytes.size()};
  if (!content.fd) {
    fail(text("memfd_create: ", base::errno_text(errno)));
  }
  const base::FileSizeLimitIsAnError limited;
  while (!bytes.empty()) {
    const ssize_t written = ::write(content.fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EFBIG) {
      fail(text("write of ", name, ": ", base::errno_text(errno), ": raise the limit (ulimit -f)"));
    }
    if (written <= 0) {
      throw Error(ErrorCode::kOutOfMemory,
                  text("there is no memory to share ", name, ": ", base::errno_text(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (::fcntl(content.fd.get(), F_ADD_SEALS, kSeals) != 0) {
    fail(text("F_ADD_SEALS: ", base::errno_text(errno)));
  }
  return content;
}

Content shared_weights(const ir::Weights& weights) {
  const auto bytes = weights.file_bytes();
  base::UniqueFd fd(::fcntl(weights.file_fd(), F_DUPFD_CLOEXEC, 0));
  if (fd) return {std::move(fd), bytes.size()};
  return shared_copy("npucore-weights", bytes);
}

ContentView::ContentView(Content content) {
  struct stat status = {};
  if (!content.fd) {
    fail("it sent no file");
  }
  if (::fstat(content.fd.get(), &status) != 0 || status.st_size < 0 ||
      static_cast<std::uint64_t>(status.st_size) < content.size_bytes) {
    fail(
        text("a file that it sent has ", status.st_size, " bytes instead of ", content.size_bytes));
  }
  if (content.size_bytes == 0) return;
  mapping_ = base::Mapping(
      ::mmap(nullptr, content.size_bytes, PROT_READ, MAP_PRIVATE, content.fd.get(), 0),
      content.size_bytes);
  if (!mapping_) {
    fail(text("mmap of ", content.size_bytes, " bytes: ", base::errno_text(errno)));
  }
}

ContentView ContentView::of_sealed(Content content) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_WRITE;
  const int seals = ::fcntl(content.fd.get(), F_GET_SEALS);
  if (content.fd && (seals < 0 || (seals & kSeals) != kSeals)) {
    fail("what it sent could still change");
  }
  return ContentView(std::move(content));
}

}  // namespace npu::internal
