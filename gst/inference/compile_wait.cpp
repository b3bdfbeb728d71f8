#include "compile_wait.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <npucore/error.hpp>

#include "common/bus.hpp"

namespace gstnpu {
namespace {

// How soon a stream that stops is let go.
constexpr std::chrono::milliseconds kLook{20};

void wait(Compilation& compilation, const Fifo& fifo, GstElement* element) {
  auto told = std::chrono::seconds(0);
  while (!compilation.wait(kLook)) {
    const npu::CompileProgress progress = compilation.progress();
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(progress.elapsed);
    if (elapsed > std::exchange(told, elapsed)) {
      post_progress(element, GST_PROGRESS_TYPE_CONTINUE,
                    "compiling " + compilation.what() + ": " + npu::to_string(progress.phase) +
                        ", " + std::to_string(elapsed.count()) + " s");
    }
    if (fifo.flow() != GST_FLOW_OK) {
      throw npu::Error(npu::ErrorCode::kCancelled, "the stream stopped during a compilation");
    }
  }
}

}  // namespace

std::shared_ptr<Graph> wait_and_tell(Compilation& compilation, const Fifo& fifo,
                                     GstElement* element) {
  post_progress(element, GST_PROGRESS_TYPE_START, "compiling " + compilation.what());
  try {
    wait(compilation, fifo, element);
    std::shared_ptr<Graph> graph = compilation.get();
    post_progress(element, GST_PROGRESS_TYPE_COMPLETE, "compiled " + compilation.what());
    return graph;
  } catch (const npu::Error& error) {
    const bool cancelled = error.code() == npu::ErrorCode::kCancelled;
    post_progress(element, cancelled ? GST_PROGRESS_TYPE_CANCELED : GST_PROGRESS_TYPE_ERROR,
                  "compiling " + compilation.what() + ": " + error.what());
    throw;
  }
}

}  // namespace gstnpu
