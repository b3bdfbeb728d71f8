#include "system_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

namespace npu::test {
namespace {

std::atomic<CallHooks*> hooks = nullptr;

/// Held while a hook runs and while hooks come and go. A hook may make calls of its own.
std::recursive_mutex& hooks_mutex() {
  static auto& mutex = *std::make_unique<std::recursive_mutex>().release();  // never destroyed
  return mutex;
}

struct Closes {
  std::mutex mutex;  // guards all below
  std::vector<std::string> libraries;
  std::vector<std::string> inheritable;
  std::size_t looked_at = 0;
};

std::atomic<bool> looks_at_close = false;

Closes& closes() {
  static Closes instance;
  return instance;
}

std::string file_of(int fd) {
  std::array<char, 4096> path = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : "";
}

/// A fault for the call; nothing: it goes on as usual.
std::optional<CallHooks::Fault> tell(const char* call, const std::string& file) {
  const std::scoped_lock lock(hooks_mutex());
  const CallHooks* now = hooks.load();
  if (now && now->before) {
    now->before(call, file);
  }
  return now && now->spoil ? now->spoil(call, file) : std::nullopt;
}

/// Tells the hooks, then makes the call with as many bytes as they leave of `size`, or fails.
template <class Call>
auto spoiled(const char* call, const std::function<std::string()>& file, std::size_t size,
             Call make_call) -> decltype(make_call(size)) {
  const auto fault = hooks.load() ? tell(call, file()) : std::nullopt;
  if (fault && fault->error != 0) {
    errno = fault->error;
    return -1;
  }
  return make_call(fault ? std::min(size, fault->most_bytes) : size);
}

std::optional<int> answer(pollfd& entry) {
  const std::scoped_lock lock(hooks_mutex());
  const CallHooks* now = hooks.load();
  return now && now->poll ? now->poll(entry) : std::nullopt;
}

std::optional<int> answer_sync(int fd, const dma_buf_sync& request) {
  const std::scoped_lock lock(hooks_mutex());
  const CallHooks* now = hooks.load();
  return now && now->sync ? now->sync(fd, request.flags) : std::nullopt;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void look_at_close(int fd, const void* caller) {
  Dl_info info = {};
  if (::dladdr(caller, &info) == 0 || !info.dli_fname) return;
  const std::string library = info.dli_fname;
  const int flags = ::fcntl(fd, F_GETFD);
  const std::scoped_lock lock(closes().mutex);
  const auto& wanted = closes().libraries;
  if (flags < 0 || std::none_of(wanted.begin(), wanted.end(), [&](const auto& name) {
        return library.find(name) != std::string::npos;
      }))
    return;
  ++closes().looked_at;
  if ((flags & FD_CLOEXEC) == 0) {
    closes().inheritable.push_back(file_of(fd));
  }
}

/// The files that a process has open which this one starts, sorted.
std::vector<std::string> files_of_a_child() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      ::popen("for f in /proc/self/fd/*; do [ $f -ef /proc/self/fd/1 ] || readlink $f; done", "re"),
      ::pclose);
  if (!pipe) throw std::runtime_error("no child could be started");
  std::vector<std::string> found;
  std::array<char, 4096> line = {};
  while (std::fgets(line.data(), line.size(), pipe.get())) {
    found.emplace_back(line.data());
    found.back().erase(found.back().find_last_not_of('\n') + 1);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

CallHooks::CallHooks(Before before_call, Poll answer_poll, Spoil spoil_call, Sync answer_sync)
    : before(std::move(before_call)),
      poll(std::move(answer_poll)),
      spoil(std::move(spoil_call)),
      sync(std::move(answer_sync)) {
  const std::scoped_lock lock(hooks_mutex());
  hooks = this;
}

CallHooks::~CallHooks() {
  const std::scoped_lock lock(hooks_mutex());
  hooks = nullptr;
}

CallLog::CallLog(std::string folder)
    : folder_(std::move(folder)),
      hooks_([this](const std::string& call, const std::string& file) { add(call, file); }) {}

void CallLog::add(const std::string& call, const std::string& file) {
  if (file.rfind(folder_, 0) != 0) return;
  const std::string text = call + ' ' + (file == folder_ ? "." : file.substr(folder_.size() + 1));
  const std::scoped_lock lock(mutex_);
  if (calls_.empty() || calls_.back() != text) {
    calls_.push_back(text);
  }
}

std::vector<std::string> CallLog::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

InheritedDescriptors::InheritedDescriptors(std::vector<std::string> libraries)
    : before_(files_of_a_child()) {
  const std::scoped_lock lock(closes().mutex);
  closes().libraries = std::move(libraries);
  closes().inheritable.clear();
  closes().looked_at = 0;
  looks_at_close = true;
}

InheritedDescriptors::~InheritedDescriptors() {
  looks_at_close = false;
}

std::vector<std::string> InheritedDescriptors::closed() const {
  const std::scoped_lock lock(closes().mutex);
  return closes().inheritable;
}

std::size_t InheritedDescriptors::looked_at() const {
  const std::scoped_lock lock(closes().mutex);
  return closes().looked_at;
}

std::vector<std::string> InheritedDescriptors::of_a_child() const {
  const auto now = files_of_a_child();
  std::vector<std::string> more;
  std::set_difference(now.begin(), now.end(), before_.begin(), before_.end(),
                      std::back_inserter(more));
  return more;
}

}  // namespace npu::test

// ---- In front of libc

using npu::test::file_of;
using npu::test::hooks;
using npu::test::next;
using npu::test::spoiled;
using npu::test::tell;

extern "C" {

ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const real = next<decltype(write)>("write");
  return spoiled(
      "write", [&] { return file_of(fd); }, size,
      [&](size_t most) { return real(fd, bytes, most); });
}

ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  static auto* const real = next<decltype(pread)>("pread");
  return spoiled(
      "pread", [&] { return file_of(fd); }, size,
      [&](size_t most) { return real(fd, bytes, most, offset); });
}

int fsync(int fd) {
  static auto* const real = next<decltype(fsync)>("fsync");
  return spoiled(
      "fsync", [&] { return file_of(fd); }, 0, [&](size_t) { return real(fd); });
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static auto* const real = next<decltype(renameat)>("renameat");
  return spoiled(
      "rename", [&] { return file_of(to_folder) + '/' + to; }, 0,
      [&](size_t) { return real(from_folder, from, to_folder, to); });
}

int flock(int fd, int operation) noexcept {
  static auto* const real = next<decltype(flock)>("flock");
  if (hooks.load()) {
    tell("flock", file_of(fd));
  }
  return real(fd, operation);
}

int poll(pollfd* entries, nfds_t count, int timeout_ms) {
  static auto* const real = next<decltype(poll)>("poll");
  const auto answered = hooks.load() && count == 1 ? npu::test::answer(*entries) : std::nullopt;
  return answered ? *answered : real(entries, count, timeout_ms);
}

int ioctl(int fd, unsigned long request, ...) noexcept {
  static auto* const real = next<int(int, unsigned long, void*)>("ioctl");
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  const auto answered = hooks.load() && request == DMA_BUF_IOCTL_SYNC
                            ? npu::test::answer_sync(fd, *static_cast<dma_buf_sync*>(argument))
                            : std::nullopt;
  if (!answered) return real(fd, request, argument);
  errno = *answered;
  return *answered == 0 ? 0 : -1;
}

int close(int fd) {
  static auto* const real = next<decltype(close)>("close");
  if (npu::test::looks_at_close) {
    npu::test::look_at_close(fd, __builtin_return_address(0));
  }
  return real(fd);
}
}
