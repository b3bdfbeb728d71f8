#include <utility>

#include <npucore/request.hpp>

#include "request_impl.hpp"

namespace npu {

Request::Request(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

void Request::set_input(std::size_t index, HostMemory memory) {
  impl_->bind_input(index, memory);
}
void Request::set_output(std::size_t index, HostMemory memory) {
  impl_->bind_output(index, memory);
}
void Request::set_input(std::size_t index, const Tensor& tensor, Strides strides_bytes) {
  impl_->bind_input(index, tensor, strides_bytes);
}
void Request::set_output(std::size_t index, const Tensor& tensor, Strides strides_bytes) {
  impl_->bind_output(index, tensor, strides_bytes);
}
Tensor Request::input(std::size_t index) {
  return impl_->input(index);
}
Tensor Request::output(std::size_t index) {
  return impl_->output(index);
}
std::size_t Request::batch() const {
  return impl_->batch();
}
void Request::set_callback(std::function<void(std::exception_ptr)> callback) {
  impl_->set_callback(std::move(callback));
}
void Request::submit() {
  impl_->submit();
}
std::uint64_t Request::submit(const Bindings& bindings) {
  impl_->bind(bindings);
  const std::uint64_t copies_before = copies();
  submit();
  return copies() - copies_before;
}
bool Request::wait(std::chrono::nanoseconds timeout) {
  return impl_->wait(timeout);
}

void Request::infer() {
  submit();
  wait();
}

std::vector<State> Request::states() {
  return impl_->states();
}
std::vector<LayerProfile> Request::profile() const {
  return impl_->profile();
}
std::uint64_t Request::inference_time_ns() const {
  return impl_->inference_time_ns();
}
std::uint64_t Request::copies() const {
  return impl_->copies();
}

}  // namespace npu
