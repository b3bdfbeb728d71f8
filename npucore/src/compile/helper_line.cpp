#include "helper_line.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace npu::internal {

HelperLine::HelperLine() : socket_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const base::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  nothing ? ::dup2(nothing.get(), STDIN_FILENO) : ::close(STDIN_FILENO);
}

void HelperLine::send(const Message& message) {
  std::scoped_lock lock(mutex_);
  send_message(socket_.get(), message);
}

Message HelperLine::receive() {
  for (;;) {
    if (auto message = reader_.next()) return std::move(*message);
    if (wait_for(POLLIN); reader_.read(socket_.get()) == MessageReader::Read::kEnd) {
      ::_exit(0);
    }
  }
}

void HelperLine::wait_for(short what) const {
  pollfd place = {socket_.get(), what, 0};
  while (::poll(&place, 1, -1) < 0) {
  }
}

void HelperLine::end_with_parent() const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::thread([this] {
    wait_for(POLLRDHUP);
    ::_exit(0);
  }).detach();
}

void limit_memory(std::uint64_t bytes) {
  if (bytes == 0) return;
  struct rlimit limit = {};
  ::getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  ::setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace npu::internal
