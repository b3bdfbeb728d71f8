#include "compile_wait.hpp"

#include <string>
#include <utility>

#include <npucore/error.hpp>

#include "common/bus.hpp"

namespace gstnpu {

ToldCompilation::ToldCompilation(std::shared_ptr<Compilation> compilation, GstElement* element)
    : compilation_(std::move(compilation)), element_(element) {
  post_progress(element_, GST_PROGRESS_TYPE_START, "compiling " + compilation_->what());
}

ToldCompilation::~ToldCompilation() {
  if (!told_end_) {
    tell_end(GST_PROGRESS_TYPE_CANCELED,
             "compiling " + compilation_->what() + ": no frame needs it any more");
  }
}

std::shared_ptr<Graph> ToldCompilation::get(std::chrono::milliseconds timeout) {
  if (!compilation_->wait(timeout)) {
    tell_progress();
    return nullptr;
  }
  try {
    std::shared_ptr<Graph> graph = compilation_->get();
    const npu::LoadStats stats = graph->model().load_stats();
    const bool is_cached = stats.from == npu::LoadedFrom::kCache;
    tell_end(GST_PROGRESS_TYPE_COMPLETE,
             (is_cached ? "loaded from the cache: " : "compiled ") + compilation_->what());
    for (const std::string& warning : stats.warnings) post_warning(element_, warning);
    for (const std::string& repair : compilation_->repairs()) {
      post_info(element_, graph->file() + ": " + repair);
    }
    return graph;
  } catch (const npu::Error& error) {
    const bool cancelled = error.code() == npu::ErrorCode::kCancelled;
    tell_end(cancelled ? GST_PROGRESS_TYPE_CANCELED : GST_PROGRESS_TYPE_ERROR,
             "compiling " + compilation_->what() + ": " + error.what());
    throw;
  }
}

std::shared_ptr<Graph> ToldCompilation::get_unless_stopped(const Fifo& fifo) {
  for (;;) {
    if (std::shared_ptr<Graph> graph = get(kLook)) return graph;
    if (fifo.flow() == GST_FLOW_OK) continue;
    throw npu::Error(npu::ErrorCode::kCancelled, "the stream stopped during a compilation");
  }
}

void ToldCompilation::tell_progress() {
  const npu::CompileProgress progress = compilation_->progress();
  const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(progress.elapsed);
  if (elapsed <= std::exchange(told_, elapsed)) return;
  post_progress(element_, GST_PROGRESS_TYPE_CONTINUE,
                "compiling " + compilation_->what() + ": " + npu::to_string(progress.phase) + ", " +
                    std::to_string(elapsed.count()) + " s");
}

void ToldCompilation::tell_end(GstProgressType how, const std::string& text) {
  told_end_ = true;
  post_progress(element_, how, text);
}

}  // namespace gstnpu
