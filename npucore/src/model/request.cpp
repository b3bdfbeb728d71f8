#include <utility>

#include <npucore/error.hpp>
#include <npucore/request.hpp>

#include "base/text.hpp"

#include "request_impl.hpp"

namespace npu {
namespace {

Tensor part_of(const PortBinding& port) {
  if (!port.tensor) {
    throw Error(ErrorCode::kInvalidArgument,
                base::text("the binding of port ", port.index, " names no tensor"));
  }
  const std::size_t rest = port.tensor->size_bytes() - port.offset_bytes;
  return port.tensor->slice(port.offset_bytes, port.size_bytes ? port.size_bytes : rest);
}

}  // namespace

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
/// Looks at everything before it binds anything: a refused frame leaves no trace.
std::uint64_t Request::submit(const Bindings& bindings) {
  for (const PortBinding& input : bindings.inputs) {
    impl_->check_input(input.index, part_of(input), input.strides_bytes);
  }
  for (const PortBinding& output : bindings.outputs) {
    impl_->check_output(output.index, part_of(output), output.strides_bytes);
  }
  for (const PortBinding& input : bindings.inputs) {
    set_input(input.index, part_of(input), input.strides_bytes);
  }
  for (const PortBinding& output : bindings.outputs) {
    set_output(output.index, part_of(output), output.strides_bytes);
  }
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
