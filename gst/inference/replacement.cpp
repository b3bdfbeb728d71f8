#include "replacement.hpp"

#include <chrono>
#include <utility>

#include <npucore/error.hpp>

#include "common/bus.hpp"

#include "compile_wait.hpp"

namespace gstnpu {
namespace {

constexpr const char* kMessage = "npu-model";

}  // namespace

Replacement::Replacement(GstElement* element, OpenSource open_source, const Settings& wanted,
                         std::optional<npu::FrameLayout> layout)
    : work_(std::make_shared<Work>(element, open_source, wanted, std::move(layout))),
      thread_([work = work_] { run(*work); }) {}

Replacement::~Replacement() {
  work_->cancelled = true;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Replacement::run(Work& work) {
  try {
    auto opened = std::make_shared<Opened>(work.wanted, work.open_source);
    compile(work, *opened);
    work.opened = std::move(opened);
    work.state = State::kReady;
  } catch (const std::exception& error) {
    work.state = State::kFailed;
    if (!work.cancelled) {
      tell_model_kept(work.element.get(), work.wanted.model, error.what());
    }
  }
}

void Replacement::compile(const Work& work, Opened& opened) {
  std::optional<npu::FrameLayout> layout = work.layout;
  if (work.wanted.region == InferenceRegion::kRoiList) {
    const std::optional<RegionTarget> target = opened.source().region_target();
    layout = target ? std::optional(target->layout) : std::nullopt;
  }
  if (!layout || opened.source().find(*layout)) return;
  const std::shared_ptr<Compilation> compilation = opened.source().start(*layout);
  ToldCompilation told(compilation, work.element.get());
  while (!told.get(kLook)) {
    if (work.cancelled) {
      throw npu::Error(npu::ErrorCode::kCancelled, "no frame needs the model any more");
    }
  }
}

void tell_model_changed(GstElement* element, const std::string& previous,
                        const std::string& model) {
  gst_element_post_message(
      element, gst_message_new_element(
                   GST_OBJECT(element),
                   gst_structure_new(kMessage, "model", G_TYPE_STRING, model.c_str(), "previous",
                                     G_TYPE_STRING, previous.c_str(), nullptr)));
}

void tell_model_kept(GstElement* element, const std::string& wanted, const std::string& why) {
  post_warning(element, "the model stays as it is, because " + wanted + " cannot be run: " + why);
  gst_element_post_message(
      element,
      gst_message_new_element(GST_OBJECT(element),
                              gst_structure_new(kMessage, "wanted", G_TYPE_STRING, wanted.c_str(),
                                                "error", G_TYPE_STRING, why.c_str(), nullptr)));
}

}  // namespace gstnpu
