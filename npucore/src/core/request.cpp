#include "npucore/request.hpp"

#include <utility>

#include "core/request_state.hpp"

namespace npu {

Request::Request(std::unique_ptr<internal::RequestState> state) : state_(std::move(state)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

void Request::set_input(std::size_t index, const Tensor& tensor) {
  state_->bind_input(index, tensor);
}
void Request::set_output(std::size_t index, const Tensor& tensor) {
  state_->bind_output(index, tensor);
}
Tensor Request::input(std::size_t index) {
  return state_->input(index);
}
Tensor Request::output(std::size_t index) {
  return state_->output(index);
}
void Request::submit() {
  state_->submit();
}
bool Request::wait(std::chrono::nanoseconds timeout) {
  return state_->wait(timeout);
}

void Request::infer() {
  submit();
  wait();
}

}  // namespace npu
