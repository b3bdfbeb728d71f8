#include "prompt_sink.hpp"

#include <chrono>
#include <future>
#include <list>
#include <mutex>
#include <utility>

namespace gstnpu {
namespace {

/// The end of the process waits for it: the libraries that the sink uses must not end before it.
void end_in_background(std::unique_ptr<Sink> sink) {
  static std::mutex mutex;
  static std::list<std::future<void>> ending;
  const std::scoped_lock lock(mutex);
  ending.remove_if([](const std::future<void>& one) {
    return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  ending.push_back(std::async(
      std::launch::async, [](std::unique_ptr<Sink> last) { last.reset(); }, std::move(sink)));
}

}  // namespace

PromptSink::PromptSink(std::unique_ptr<Sink> sink, std::function<void()> leave)
    : sink_(std::move(sink)), leave_(std::move(leave)) {}

PromptSink::~PromptSink() {
  if (leave_) {
    leave_();
  }
  end_in_background(std::move(sink_));
}

}  // namespace gstnpu
