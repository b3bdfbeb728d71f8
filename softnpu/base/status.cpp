#include "status.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace softnpu {
namespace {

constexpr const char* kName = "softnpu-status";
constexpr char kMagic[8] = {'S', 'O', 'F', 'T', 'N', 'P', 'U', 1};

UniqueFd make_file() {
  UniqueFd file(::memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), sizeof(StatusPage)) != 0) return {};
  return file;
}

/// Makes sure that nobody shortens it under the mapping, and that (from Linux 5.1 on) only the
/// mapping writes.
void seal(int file) {
  ::fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
  ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

}  // namespace

// Placed in static memory, not on the heap: ending an object must not need memory.
Status& Status::of_process() {
  alignas(Status) static std::byte place[sizeof(Status)];
  static auto* const status = new (place) Status;
  return *status;
}

void Status::enter() {
  static const int registered = ::pthread_atfork(lock, unlock, forget_parent);
  static_cast<void>(registered);
  const std::scoped_lock lock(mutex_);
  if (contexts_++ == 0 && !publish()) {
    file_.reset();
  }
}

void Status::leave() {
  const std::scoped_lock lock(mutex_);
  if (contexts_ > 0 && --contexts_ == 0) {
    file_.reset();  // keeps the mapping, because the engine may still be writing
  }
}

/// Makes a new file with the counts so far, and maps it at the old address. Counts written
/// meanwhile may be lost, but go nowhere else.
bool Status::publish() {
  file_ = make_file();
  StatusPage* const last = page_;
  StatusPage first{};
  std::memcpy(first.magic, kMagic, sizeof kMagic);
  first.process = static_cast<uint64_t>(::getpid());
  first.busy_ns = last->busy_ns.load();
  first.running_since_ns = last->running_since_ns.load();
  first.inferences = last->inferences.load();
  first.memory_bytes = last->memory_bytes.load();
  if (!file_ || ::pwrite(file_.get(), &first, sizeof first, 0) != sizeof first) return false;
  void* const place = last == &private_ ? nullptr : last;
  void* const memory = ::mmap(place, sizeof(StatusPage), PROT_READ | PROT_WRITE,
                              MAP_SHARED | (place ? MAP_FIXED : 0), file_.get(), 0);
  if (memory == MAP_FAILED) return false;
  page_ = static_cast<StatusPage*>(memory);
  seal(file_.get());
  return true;
}

// ---- Around fork()

void Status::lock() {
  of_process().mutex_.lock();
}

void Status::unlock() {
  of_process().mutex_.unlock();
}

/// In the child: forgets the page, which belongs to the parent and must not be written, and the
/// contexts.
void Status::forget_parent() {
  Status& status = of_process();
  status.private_.memory_bytes = status.page().memory_bytes.load();
  status.private_.busy_ns = 0;
  status.private_.running_since_ns = 0;
  status.private_.inferences = 0;
  status.page_ = &status.private_;
  status.contexts_ = 0;
  status.file_.reset();
  unlock();
}

}  // namespace softnpu
