// The compiling process as a Windows program: serves Intel's compiler library for Windows over its
// standard input and output. Wine starts it on other systems; see scripts/setup-compiler.sh.
#include <windows.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include <npu_vcl/service.hpp>

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30;

/// The stream to the user. Moves it off the standard streams, where a compiler prints.
class Line {
 public:
  Line() : in_(GetStdHandle(STD_INPUT_HANDLE)), out_(GetStdHandle(STD_OUTPUT_HANDLE)) {
    SetStdHandle(STD_INPUT_HANDLE, nullptr);
    SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE));
  }

  void send(const npu_vcl::Message& message) const {
    const auto bytes = npu_vcl::encode(message);
    for (std::size_t sent = 0; sent < bytes.size();) {
      constexpr std::size_t kPiece = 1 << 20;
      DWORD wrote = 0;
      const auto piece = static_cast<DWORD>(std::min(kPiece, bytes.size() - sent));
      if (!WriteFile(out_, bytes.data() + sent, piece, &wrote, nullptr)) {
        ExitProcess(1);
      }
      sent += wrote;
    }
  }

  /// Reads as long as the process lives, and ends the process when nobody asks any more.
  void read_all() {
    std::array<std::byte, 65536> chunk;
    for (;;) {
      DWORD got = 0;
      if (!ReadFile(in_, chunk.data(), chunk.size(), &got, nullptr) || got == 0) {
        ExitProcess(0);
      }
      take(std::span(chunk).first(got));
    }
  }

  npu_vcl::Message next() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !messages_.empty(); });
    npu_vcl::Message message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

 private:
  void take(std::span<const std::byte> bytes) try {
    decoder_.append(bytes);
    while (auto message = decoder_.next()) {
      const std::scoped_lock lock(mutex_);
      messages_.push_back(std::move(*message));
      arrived_.notify_one();
    }
  } catch (const std::exception&) {
    ExitProcess(1);
  }

  const HANDLE in_, out_;
  npu_vcl::Decoder decoder_{kMostBytes};
  std::mutex mutex_;  // guards messages_
  std::condition_variable arrived_;
  std::deque<npu_vcl::Message> messages_;
};

/// The loader library beside this program. It loads the compiler, which lies there too.
std::string library_path() {
  std::array<char, MAX_PATH> path = {};
  GetModuleFileNameA(nullptr, path.data(), path.size());
  const std::string program = path.data();
  return program.substr(0, program.rfind('\\') + 1) + "openvino_intel_npu_compiler_loader.dll";
}

void serve(Line& line) {
  npu_vcl::Service service(library_path());
  auto ready = service.ready();
  ready.texts["takes_files"] = "0";
  line.send(ready);
  for (;;) line.send(service.answer(line.next(), {}));
}

}  // namespace

int main() {
  static Line line;
  std::thread([] { line.read_all(); }).detach();
  try {
    serve(line);
  } catch (const npu_vcl::Failure& failure) {
    line.send(npu_vcl::error_message(failure));
  }
  ExitProcess(0);
}
