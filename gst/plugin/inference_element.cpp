#include "plugin/inference_element.hpp"

#include <npucore/error.hpp>

#include "plugin/allocator.hpp"
#include "plugin/bus.hpp"
#include "plugin/log.hpp"

namespace gstnpu {

InferenceElement::InferenceElement(GstElement* element, GstPad* sink, GstPad* src,
                                   OpenSource open_source)
    : element_(element), sink_(sink), src_(src), open_source_(open_source) {}

Settings InferenceElement::settings() const {
  const std::lock_guard lock(settings_mutex_);
  return settings_;
}

void InferenceElement::change_settings(const std::function<void(Settings&)>& change) {
  const std::lock_guard lock(settings_mutex_);
  change(settings_);
  interval_ = settings_.inference_interval;
  zero_copy_required_ = settings_.zero_copy_required;
}

GstStructure* InferenceElement::stats() const {
  return stats_.to_structure();
}

std::shared_ptr<const InferenceElement::Opened> InferenceElement::opened() const {
  const std::lock_guard lock(opened_mutex_);
  return opened_;
}

std::string InferenceElement::device_name() const {
  const std::lock_guard lock(opened_mutex_);
  return opened_ ? opened_->device.info().name : std::string();
}

std::unique_ptr<InferenceElement::Opened> InferenceElement::open_with(const Settings& settings) {
  if (settings.model.empty()) {
    throw npu::Error(npu::ErrorCode::kNotFound,
                     "no model is set: set the property \"model\" to its file");
  }
  npu::Device device = npu::Device::open(npu::device_kind_from_string(settings.device));
  auto source = open_source_(device, settings);
  return std::make_unique<Opened>(Opened{
      settings, device, std::move(source), PlaneFinder(device),
      std::make_shared<TensorRecycler>(device, npu::MemoryUse::kOutput),
      std::make_shared<TensorRecycler>(device, npu::MemoryUse::kInput), make_allocator(device)});
}

bool InferenceElement::open() {
  const Settings settings = this->settings();
  try {
    std::shared_ptr<Opened> opened = open_with(settings);
    tell_about(*opened);
    const std::lock_guard lock(opened_mutex_);
    opened_ = std::move(opened);
    return true;
  } catch (const std::exception& error) {
    post_error(element_, error, settings.model);
    return false;
  }
}

void InferenceElement::tell_about(const Opened& opened) {
  const npu::DeviceInfo& info = opened.device.info();
  stats_.set_device(info.name);
  stats_.set_offered_memory(npu::to_string(opened.device.shareable_memory()));
  stats_.set_compile_ns(opened.source->compile_ns());
  if (info.is_software && opened.settings.device == "auto" && !told_software_) {
    told_software_ = true;
    post_warning(element_, "no NPU was found, so the software NPU runs " + opened.settings.model +
                               " on the CPU; npu-info tells what is missing, device=software "
                               "silences this warning");
  }
  for (const std::string& warning : opened.source->warnings()) {
    post_warning(element_, opened.settings.model + ": " + warning);
  }
}

bool InferenceElement::prepare() {
  const Settings wanted = settings();  // may have changed in READY
  if (!wanted.opens_like(opened_->settings)) {
    close();
    if (!open()) return false;
  }
  stats_.reset();
  opened_->finder.begin_count();
  latency_.reset();
  fifo_.set_max_frames(wanted.requests());
  stream_.reset();
  told_refused_caps_ = false;
  refused_stream_ = false;
  refused_copy_ = false;
  {
    const std::lock_guard lock(settings_mutex_);
    refusal_.clear();
    tiles_beside_.clear();
  }
  frame_index_ = 0;
  eos_ = false;
  upstream_is_live_ = false;
  return true;
}

void InferenceElement::stop() {
  drop_waiting();
  if (opened_) opened_->source->drop_idle_requests();
}

void InferenceElement::close() {
  std::shared_ptr<Opened> closed;  // freed outside the lock
  const std::lock_guard lock(opened_mutex_);
  closed.swap(opened_);
}

}  // namespace gstnpu
