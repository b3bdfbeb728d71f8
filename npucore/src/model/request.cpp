#include <utility>

#include <npucore/request.hpp>

#include "base/api.hpp"

#include "request_impl.hpp"

namespace npu {
namespace {

Request::Impl& live(const std::unique_ptr<Request::Impl>& impl) {
  return base::live(impl, "Request");
}

}  // namespace

Request::Request(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

void Request::set_input(std::size_t index, HostMemory memory) try {
  live(impl_).bind_input(index, memory);
} catch (...) {
  base::rethrow_as_error();
}
void Request::set_output(std::size_t index, HostMemory memory) try {
  live(impl_).bind_output(index, memory);
} catch (...) {
  base::rethrow_as_error();
}
void Request::set_input(std::size_t index, const Tensor& tensor, Strides strides_bytes) try {
  live(impl_).bind_input(index, tensor, strides_bytes);
} catch (...) {
  base::rethrow_as_error();
}
void Request::set_output(std::size_t index, const Tensor& tensor, Strides strides_bytes) try {
  live(impl_).bind_output(index, tensor, strides_bytes);
} catch (...) {
  base::rethrow_as_error();
}
Tensor Request::input(std::size_t index) try { return live(impl_).input(index); } catch (...) {
  base::rethrow_as_error();
}
Tensor Request::output(std::size_t index) try { return live(impl_).output(index); } catch (...) {
  base::rethrow_as_error();
}
std::size_t Request::batch() const {
  return live(impl_).batch();
}
void Request::set_callback(std::function<void(std::exception_ptr)> callback) try {
  live(impl_).set_callback(std::move(callback));
} catch (...) {
  base::rethrow_as_error();
}
void Request::submit() try { live(impl_).submit(); } catch (...) {
  base::rethrow_as_error();
}
std::uint64_t Request::submit(const Bindings& bindings) try {
  live(impl_).bind(bindings);
  const std::uint64_t copies_before = copies();
  submit();
  return copies() - copies_before;
} catch (...) {
  base::rethrow_as_error();
}
bool Request::wait(std::chrono::nanoseconds timeout) try {
  return live(impl_).wait(timeout);
} catch (...) {
  base::rethrow_as_error();
}

void Request::infer() {
  submit();
  wait();
}

std::vector<State> Request::states() try { return live(impl_).states(); } catch (...) {
  base::rethrow_as_error();
}
std::vector<LayerProfile> Request::profile() const try {
  return live(impl_).profile();
} catch (...) {
  base::rethrow_as_error();
}
std::uint64_t Request::inference_time_ns() const try {
  return live(impl_).inference_time_ns();
} catch (...) {
  base::rethrow_as_error();
}
std::uint64_t Request::copies() const {
  return live(impl_).copies();
}

}  // namespace npu
