#pragma once

#include <gst/gst.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <npucore/frame.hpp>

#include "common/refs.hpp"

#include "opened.hpp"

namespace gstnpu {

/// Another model, opened and compiled for a stream's frames in a thread of its own, while the
/// stream goes on with its model.
class Replacement {
 public:
  enum class State {
    kWorking,
    kReady,
    kFailed,  ///< told on the element's bus
  };

  /// `layout`: what the stream's frames come as, where there were any.
  Replacement(GstElement* element, OpenSource open_source, const Settings& wanted,
              std::optional<npu::FrameLayout> layout);
  /// Cancels it, and waits for its thread.
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const std::string& model_file() const { return work_->wanted.model; }
  State state() const { return work_->state; }
  /// Once it is ready.
  std::shared_ptr<Opened> opened() const { return work_->opened; }

 private:
  /// The thread's own share: it outlives the object where that is destroyed in the thread itself,
  /// by somebody who is told of the failure.
  struct Work {
    Work(GstElement* of, OpenSource source, Settings settings,
         std::optional<npu::FrameLayout> frames)
        : element(GST_ELEMENT(gst_object_ref(of))),
          open_source(source),
          wanted(std::move(settings)),
          layout(std::move(frames)) {}
    const ObjectRef<GstElement> element;
    const OpenSource open_source;
    const Settings wanted;
    const std::optional<npu::FrameLayout> layout;
    std::atomic<bool> cancelled{false};
    std::atomic<State> state{State::kWorking};
    std::shared_ptr<Opened> opened;  // written before `state` says so
  };

  static void run(Work& work);
  static void compile(const Work& work, Opened& opened);

  const std::shared_ptr<Work> work_;
  std::thread thread_;
};

/// On the element's bus: which model runs, which one ran or was wanted, and, where it was not
/// changed, why.
void tell_model_changed(GstElement* element, const std::string& previous, const std::string& model);
void tell_model_kept(GstElement* element, const std::string& wanted, const std::string& why);

}  // namespace gstnpu
