#pragma once

#include <functional>
#include <memory>

#include "sink.hpp"

namespace gstnpu {

/// A sink whose end waits for nobody. The libraries of brokers end a client only when the call that
/// they are within (to connect, to ask for an address) has come back. That goes on in a thread of
/// its own, which the end of the process waits for.
class PromptSink final : public Sink {
 public:
  /// `leave` is called at the end, before that.
  explicit PromptSink(std::unique_ptr<Sink> sink, std::function<void()> leave = {});
  ~PromptSink() override;

  bool write(std::string_view line) override { return sink_->write(line); }
  bool flush() override { return sink_->flush(); }
  std::size_t held() const override { return sink_->held(); }
  bool awaits_answers() const override { return sink_->awaits_answers(); }
  void interrupt() override { sink_->interrupt(); }
  void resume() override { sink_->resume(); }

 private:
  std::unique_ptr<Sink> sink_;
  const std::function<void()> leave_;
};

}  // namespace gstnpu
