#include <utility>

#include <npucore/request.hpp>

#include "base/api.hpp"
#include "base/log.hpp"

#include "request_impl.hpp"

namespace npu {
namespace {

template <class Work>
decltype(auto) with(const std::unique_ptr<Request::Impl>& impl, const Work& work) {
  const base::LogsAfterwards logs;  // a sink may use the same request
  return base::call(impl, "Request", work);
}

}  // namespace

Request::Request(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

void Request::set_input(std::size_t index, HostMemory memory) {
  with(impl_, [&](Impl& impl) { impl.bind_input(index, memory); });
}
void Request::set_output(std::size_t index, HostMemory memory) {
  with(impl_, [&](Impl& impl) { impl.bind_output(index, memory); });
}
void Request::set_input(std::size_t index, const Tensor& tensor, Strides strides_bytes) {
  with(impl_, [&](Impl& impl) { impl.bind_input(index, tensor, strides_bytes); });
}
void Request::set_output(std::size_t index, const Tensor& tensor, Strides strides_bytes) {
  with(impl_, [&](Impl& impl) { impl.bind_output(index, tensor, strides_bytes); });
}
Tensor Request::input(std::size_t index) {
  return with(impl_, [&](Impl& impl) { return impl.input(index); });
}
Tensor Request::output(std::size_t index) {
  return with(impl_, [&](Impl& impl) { return impl.output(index); });
}
void Request::set_input(const std::string& name, const Tensor& tensor, Strides strides_bytes) {
  with(impl_, [&](Impl& impl) { impl.bind_input(impl.input_index(name), tensor, strides_bytes); });
}
void Request::set_output(const std::string& name, const Tensor& tensor, Strides strides_bytes) {
  with(impl_,
       [&](Impl& impl) { impl.bind_output(impl.output_index(name), tensor, strides_bytes); });
}
Tensor Request::input(const std::string& name) {
  return with(impl_, [&](Impl& impl) { return impl.input(impl.input_index(name)); });
}
Tensor Request::output(const std::string& name) {
  return with(impl_, [&](Impl& impl) { return impl.output(impl.output_index(name)); });
}
std::size_t Request::batch() const {
  return with(impl_, [](const Impl& impl) { return impl.batch(); });
}
void Request::set_callback(std::function<void(std::exception_ptr)> callback) {
  with(impl_, [&](Impl& impl) { impl.set_callback(std::move(callback)); });
}
void Request::submit() {
  with(impl_, [](Impl& impl) { impl.submit(); });
}
std::uint64_t Request::submit(const Bindings& bindings) {
  return with(impl_, [&](Impl& impl) {
    impl.bind(bindings);
    return impl.submit();
  });
}
bool Request::wait(std::chrono::nanoseconds timeout) {
  return with(impl_, [&](Impl& impl) { return impl.wait(timeout); });
}

void Request::infer() {
  submit();
  wait();
}

std::vector<State> Request::states() {
  return with(impl_, [](Impl& impl) { return impl.states(); });
}
std::vector<LayerProfile> Request::profile() const {
  return with(impl_, [](const Impl& impl) { return impl.profile(); });
}
std::uint64_t Request::inference_time_ns() const {
  return with(impl_, [](const Impl& impl) { return impl.inference_time_ns(); });
}
std::uint64_t Request::copies() const {
  return with(impl_, [](const Impl& impl) { return impl.copies(); });
}

}  // namespace npu
