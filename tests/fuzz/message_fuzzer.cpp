// Messages of a helper process, in pieces of any size: what is read, written and read again is the
// same.

#include <cstdio>
#include <cstdlib>
#include <span>

#include <npu_vcl/message.hpp>

namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;

/// The messages up to the first that is none. `piece`: bytes that arrive together.
std::vector<npu_vcl::Message> read_all(std::span<const std::byte> bytes, std::size_t piece) {
  npu_vcl::Decoder decoder(kMostBytes);
  std::vector<npu_vcl::Message> messages;
  try {
    while (!bytes.empty()) {
      const auto arrived = bytes.first(std::min(piece, bytes.size()));
      bytes = bytes.subspan(arrived.size());
      decoder.append(arrived);
      while (auto message = decoder.next()) messages.push_back(std::move(*message));
    }
  } catch (const npu_vcl::BadMessage&) {
    // No more of them.
  }
  return messages;
}

bool equal(const npu_vcl::Message& a, const npu_vcl::Message& b) {
  return a.kind == b.kind && a.texts == b.texts && a.files == b.files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto messages = read_all(bytes, 7);
  if (messages.size() != read_all(bytes, size + 1).size()) {
    std::fputs("other messages come in pieces than at once\n", stderr);
    std::abort();
  }
  for (const auto& message : messages) {
    const auto again = read_all(npu_vcl::encode(message), kMostBytes);
    if (again.size() != 1 || !equal(again.front(), message)) {
      std::fputs("another message comes back\n", stderr);
      std::abort();
    }
  }
  return 0;
}
