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

/// Opens another model and compiles it for a stream's frames in its own thread, while the stream
/// goes on with the old one.
class Replacement {
 public:
  enum class State {
    kWorking,
    kReady,
    kFailed,  ///< reported on the element's bus
  };

  /// `layout`: layout of the stream's frames, once there were any.
  Replacement(GstElement* element, OpenSource open_source, const Settings& wanted,
              std::optional<npu::FrameLayout> layout);
  /// Cancels the work and waits for the thread.
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const std::string& model_file() const { return work_->wanted.model; }
  State state() const { return work_->state; }
  /// Valid once the state is kReady.
  std::shared_ptr<Opened> opened() const { return work_->opened; }

 private:
  /// Shared with the thread. It outlives the Replacement when that is destroyed in the thread
  /// itself, by a bus handler that hears of the failure.
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
    std::shared_ptr<Opened> opened;  // written before state becomes kReady
  };

  static void run(Work& work);
  static void compile(const Work& work, Opened& opened);

  const std::shared_ptr<Work> work_;
  std::thread thread_;
};

/// Post "npu-model" on the element's bus: with the new and the previous model, or with the wanted
/// one and the reason why it does not run.
void tell_model_changed(GstElement* element, const std::string& previous, const std::string& model);
void tell_model_kept(GstElement* element, const std::string& wanted, const std::string& why);

}  // namespace gstnpu
