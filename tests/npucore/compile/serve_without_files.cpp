// A compiler library served by a program that takes no file descriptors, as one of another system
// does: COMPILER_LIBRARY over standard input and output.
#include <unistd.h>

#include <array>
#include <cstdlib>

#include <npu_vcl/service.hpp>

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

/// Standard output is where a compiler prints: the answers go elsewhere.
int take_output() {
  const int line = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return line;
}

void send(int line, const npu_vcl::Message& message) {
  const auto bytes = npu_vcl::encode(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t wrote = ::write(line, bytes.data() + sent, bytes.size() - sent);
    if (wrote <= 0) {
      ::_exit(1);
    }
    sent += static_cast<std::size_t>(wrote);
  }
}

npu_vcl::Message receive(npu_vcl::Decoder& decoder) {
  std::array<std::byte, 4096> chunk;
  for (;;) {
    if (auto message = decoder.next()) return std::move(*message);
    const ssize_t got = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got <= 0) {
      ::_exit(0);
    }
    decoder.append(std::span(chunk).first(static_cast<std::size_t>(got)));
  }
}

}  // namespace

int main() {
  const int line = take_output();
  npu_vcl::Service service(std::getenv("COMPILER_LIBRARY"));
  npu_vcl::Decoder decoder(kMostBytes);
  send(line, service.ready());
  for (;;) send(line, service.answer(receive(decoder), {}));
}
