#include "request.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "model.hpp"
#include "tensor.hpp"

namespace pynpu {
namespace {

using namespace nb::literals;

/// How often a wait looks for Ctrl-C.
constexpr std::chrono::milliseconds kWaitSlice{100};
/// Memory that no array shows any more is kept for so many results.
constexpr std::size_t kMostSlots = 4;

bool is_mapping(nb::handle object) {
  return nb::isinstance<nb::dict>(object) ||
         (nb::hasattr(object, "items") && nb::hasattr(object, "keys"));
}

[[noreturn]] void refuse_copy(const std::string& what, const std::string& why) {
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   what + " would be copied, and allow_copies is False: " + why +
                       ". Fill request.input(name), or an array of Tensor.allocate()");
}

}  // namespace

Request::Use::Use(Request& request) : lock_(request.mutex_, std::try_to_lock) {
  if (!lock_.owns_lock()) {
    refuse("the request is used by another thread: create one for each thread");
  }
}

Request::Request(npu::CompiledModel model, std::size_t batch, bool copies_allowed)
    : allow_copies(copies_allowed), model_(std::move(model)), batch_(batch) {
  request_.emplace(without_gil([&] { return model_.create_request(batch); }));
  for (const npu::Port& port : model_.inputs()) inputs_.emplace_back().shape = shape_of(port);
  for (const npu::Port& port : model_.outputs()) outputs_.emplace_back().shape = shape_of(port);
}

Request::~Request() {
  // It waits for an inference in flight. Only then may the arrays go that are bound to it.
  const nb::gil_scoped_release released;
  request_.reset();
}

npu::Request& Request::idle() {
  if (is_in_flight_) {
    refuse("the request is in flight: call wait() first");
  }
  return *request_;
}

npu::Shape Request::shape_of(const npu::Port& port) const {
  return array_shape(port.type, port.shape, batch_);
}

void Request::set_input(nb::handle name, nb::handle array) {
  const Use use(*this);
  idle();
  bind_input(index_of(model_.inputs(), name, "input"), array);
}

void Request::set_output(nb::handle name, nb::handle array) {
  const Use use(*this);
  idle();
  bind_output_array(index_of(model_.outputs(), name, "output"), array);
}

nb::object Request::input(nb::handle name) {
  const Use use(*this);
  idle();
  const std::size_t index = index_of(model_.inputs(), name, "input");
  bind_own(index);
  const npu::Port& port = model_.inputs()[index];
  return to_numpy(inputs_[index].own, port.type, inputs_[index].shape);
}

void Request::bind_own(std::size_t index) {
  Input& input = inputs_[index];
  if (!input.own || !input.own.is_reachable()) {
    const std::size_t bytes = model_.inputs()[index].size_bytes() * batch_;
    input.own = without_gil([&] {
      return npu::Tensor::allocate(model_.device(), std::max<std::size_t>(bytes, 1),
                                   npu::MemoryUse::kInput);
    });
    input.is_own_bound = false;
  }
  if (input.is_own_bound) return;
  request_->set_input(index, input.own);
  input.is_own_bound = true;
  input.bound.reset();
}

void Request::bind_inputs(nb::handle inputs, bool needs_all) {
  const auto& ports = model_.inputs();
  if (inputs.is_none()) {
    refuse(
        "the inputs are None, as cv2.imread() and VideoCapture.read() give where they cannot read "
        "a picture");
  }
  if (is_mapping(inputs)) {
    std::set<std::size_t> given;
    for (nb::handle item : nb::iter(inputs.attr("items")())) {
      const std::size_t index = index_of(ports, item[0], "input");
      bind_input(index, item[1]);
      given.insert(index);
    }
    if (needs_all && given.size() < ports.size()) {
      refuse("a frame gives " + std::to_string(given.size()) + " of the model's " +
             std::to_string(ports.size()) +
             " inputs: in a pool the others would be another frame's");
    }
    return;
  }
  if (nb::isinstance<nb::list>(inputs) || nb::isinstance<nb::tuple>(inputs)) {
    if (nb::len(inputs) != ports.size()) {
      refuse("the model has " + std::to_string(ports.size()) + " inputs, not " +
             std::to_string(nb::len(inputs)));
    }
    for (std::size_t i = 0; i < ports.size(); ++i) bind_input(i, inputs[i]);
    return;
  }
  if (ports.size() != 1) {
    refuse("the model has " + std::to_string(ports.size()) +
           " inputs: give infer() a dict of names to arrays, or a list");
  }
  bind_input(0, inputs);
}

void Request::bind_input(std::size_t index, nb::handle array) {
  const npu::Port& port = model_.inputs()[index];
  if (nb::isinstance<Tensor>(array)) {
    request_->set_input(index, nb::cast<const Tensor&>(array).memory);
    inputs_[index].is_own_bound = false;
    inputs_[index].bound = nb::borrow(array);
    return;
  }
  const ArrayIn in = array_in("input", key_of(port), array, port.type, inputs_[index].shape);
  std::string why_not = "its memory has strides";
  if (in.is_dense && bind_in_place(index, in, why_not)) return;
  if (!allow_copies) {
    refuse_copy(quoted("input", port), why_not);
  }
  bind_copy(index, in);
}

/// Binds the array's own memory, if it is a tensor's, or the driver can import it.
bool Request::bind_in_place(std::size_t index, const ArrayIn& array, std::string& why_not) {
  Input& input = inputs_[index];
  if (input.is_own_bound && array.data == input.own.data()) return true;
  npu::Tensor tensor = tensor_at(array.data, array.size_bytes);
  constexpr std::size_t kPage = 4096;
  const std::size_t behind = reinterpret_cast<std::uintptr_t>(array.data) % kPage;
  if (!tensor && behind != 0) {
    if (!allow_copies) {
      why_not = "its memory begins " + std::to_string(behind) + " bytes behind a page's start";
    }
    return false;
  }
  if (!tensor) {
    try {
      tensor = without_gil([&] {
        return npu::Tensor::import_host(model_.device(), {array.data, array.size_bytes},
                                        npu::MemoryUse::kInput);
      });
    } catch (const npu::Error& error) {
      if (error.code() != npu::ErrorCode::kUnsupported) throw;
      why_not = error.what();
      return false;
    }
  }
  request_->set_input(index, tensor);
  input.is_own_bound = false;
  input.bound = nb::cast(array.array);
  return true;
}

void Request::bind_copy(std::size_t index, const ArrayIn& array) {
  bind_own(index);
  without_gil([&] { copy_dense(array, inputs_[index].own.data()); });
  ++copies_;
}

void Request::bind_output_array(std::size_t index, nb::handle array) {
  const npu::Port& port = model_.outputs()[index];
  Output& output = outputs_[index];
  if (array.is_none()) {
    output.bound.reset();
    return;
  }
  if (nb::isinstance<Tensor>(array)) {
    request_->set_output(index, nb::cast<const Tensor&>(array).memory);
  } else {
    const ArrayIn in = array_in("output", key_of(port), array, port.type, output.shape, true);
    if (npu::Tensor tensor = tensor_at(in.data, in.size_bytes)) {
      request_->set_output(index, tensor);
    } else {
      const npu::HostMemory memory(in.data, in.size_bytes);
      if (!allow_copies) {  // throws where the driver cannot import it
        (void)npu::Tensor::import_host(model_.device(), memory, npu::MemoryUse::kOutput);
      }
      request_->set_output(index, memory);
    }
  }
  output.bound = nb::borrow(array);
  output.current.reset();
  output.slots.clear();
}

void Request::choose_outputs() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].bound.is_valid()) {
      choose_output(i);
    }
  }
}

/// Binds memory that no array shows, so that earlier results stay as they are.
void Request::choose_output(std::size_t index) {
  Output& output = outputs_[index];
  const auto is_free = [](const std::shared_ptr<Slot>& slot) {
    return slot.use_count() == 1 && slot->tensor.is_reachable();
  };
  const std::shared_ptr<Slot> last = std::move(output.current);
  if (last && last.use_count() == 2 && last->tensor.is_reachable()) {
    output.current = last;
    return;  // bound already
  }
  auto& slots = output.slots;
  auto found = std::find_if(slots.begin(), slots.end(), is_free);
  if (found == slots.end()) {
    // Arrays keep the memory of those that are dropped here.
    if (slots.size() >= kMostSlots) {
      slots.erase(slots.begin());
    }
    auto slot = std::make_shared<Slot>();
    const std::size_t bytes = model_.outputs()[index].size_bytes() * batch_;
    slot->tensor = without_gil([&] {
      return npu::Tensor::allocate(model_.device(), std::max<std::size_t>(bytes, 1),
                                   npu::MemoryUse::kOutput);
    });
    found = slots.insert(slots.end(), std::move(slot));
  }
  request_->set_output(index, (*found)->tensor);
  output.current = *found;
}

void Request::submit(nb::handle inputs, bool needs_all) {
  const Use use(*this);
  idle();
  bind_inputs(inputs, needs_all);
  choose_outputs();
  without_gil([&] { request_->submit(); });
  is_in_flight_ = true;
}

bool Request::wait_for(std::chrono::nanoseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (;;) {
    const auto left = timeout == std::chrono::nanoseconds::max()
                          ? timeout
                          : std::max(timeout - (Clock::now() - begin), std::chrono::nanoseconds(0));
    try {
      if (without_gil([&] {
            return request_->wait(std::min<std::chrono::nanoseconds>(left, kWaitSlice));
          })) {
        is_in_flight_ = false;
        return true;
      }
    } catch (...) {
      is_in_flight_ = false;
      throw;
    }
    if (left <= kWaitSlice) return false;
    check_signals();
  }
}

bool Request::wait(double seconds) {
  const Use use(*this);
  constexpr double kLongest = 1e9;
  if (std::isnan(seconds)) {
    refuse("the timeout is not a number");
  }
  const bool forever = seconds < 0 || seconds > kLongest;
  return wait_for(forever ? std::chrono::nanoseconds::max()
                          : std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

nb::dict Request::result() {
  nb::dict found;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const npu::Port& port = model_.outputs()[i];
    Output& output = outputs_[i];
    nb::object array = output.bound;
    if (!array.is_valid()) {
      if (!output.current) {
        refuse("there are no outputs before the first inference");
      }
      array = to_numpy(output.current->tensor, port.type, output.shape, output.current);
    }
    found[key_of(port).c_str()] = array;
  }
  return found;
}

nb::dict Request::outputs() {
  const Use use(*this);
  idle();
  return result();
}

nb::dict Request::infer(nb::handle inputs) {
  submit(inputs, false);
  const Use use(*this);
  wait_for(std::chrono::nanoseconds::max());
  return result();
}

void Request::tell(npu::Completions& completions, std::uint64_t key) {
  const Use use(*this);
  npu::Request& request = idle();
  without_gil([&] { completions.watch(request, key); });
}

std::vector<npu::LayerProfile> Request::profile() {
  const Use use(*this);
  npu::Request& request = idle();
  return without_gil([&] { return request.profile(); });
}

std::uint64_t Request::inference_time_ns() {
  const Use use(*this);
  return idle().inference_time_ns();
}

std::uint64_t Request::copies() {
  const Use use(*this);
  return request_->copies() + copies_;
}

namespace {

const char* status_text(npu::LayerStatus status) {
  switch (status) {
    case npu::LayerStatus::kExecuted:
      return "executed";
    case npu::LayerStatus::kOptimizedOut:
      return "optimized out";
    case npu::LayerStatus::kNotRun:
      break;
  }
  return "not run";
}

void bind_profile(nb::module_& module) {
  using npu::LayerProfile;
  nb::class_<LayerProfile>(module, "LayerProfile",
                           "How long one layer took, by the device's clock.")
      .def_ro("name", &LayerProfile::name)
      .def_ro("type", &LayerProfile::type, "As the compiler calls it.")
      .def_prop_ro(
          "status", [](const LayerProfile& layer) { return status_text(layer.status); },
          "'executed', 'optimized out' or 'not run'")
      .def_ro("start_ns", &LayerProfile::start_ns, "Since the inference began on the device.")
      .def_ro("duration_ns", &LayerProfile::duration_ns)
      .def_ro("dpu_ns", &LayerProfile::dpu_ns, "In the matrix units.")
      .def_ro("software_ns", &LayerProfile::software_ns, "In the vector processors.")
      .def_ro("dma_ns", &LayerProfile::dma_ns, "Moving data.")
      .def("__repr__", [](const LayerProfile& layer) {
        return "<npucore.LayerProfile " + layer.name + " " + std::to_string(layer.duration_ns) +
               " ns>";
      });
}

std::vector<std::uint64_t> keys_of(const std::vector<npu::Completions::Done>& ended) {
  std::vector<std::uint64_t> keys;
  keys.reserve(ended.size());
  for (const npu::Completions::Done& done : ended) keys.push_back(done.key);
  return keys;
}

void bind_completions(nb::module_& module) {
  using npu::Completions;
  nb::class_<Completions>(
      module, "Completions",
      "The ends of inferences, behind a descriptor for select(), epoll or an event loop. "
      "AsyncPool does this for asyncio.")
      .def(nb::init<>())
      .def("fileno", &Completions::fd,
           "An eventfd, readable while there is something to take. Only watch it.")
      .def(
          "watch",
          [](Completions& completions, Request& request, std::uint64_t key) {
            request.tell(completions, key);
          },
          "request"_a, "key"_a,
          "Adds `key`, a number from 0, at the end of each further inference of the request.")
      .def(
          "take", [](Completions& completions) { return keys_of(completions.take()); },
          "The keys of the inferences that ended since the last call, in that order. wait() of "
          "their requests returns at once, or raises what the inference failed with.");
}

}  // namespace

void bind_request(nb::module_& module) {
  bind_profile(module);
  nb::class_<Request>(
      module, "Request",
      "One inference in flight, for one thread at a time. CompiledModel.create_request()")
      .def("infer", &Request::infer, "inputs"_a.none() = nb::dict(),
           "Runs the model once. inputs: a dict of names to arrays or Tensors, a list of all, or "
           "the "
           "only one; what is left out keeps what was bound last. Returns a dict of names to "
           "arrays. "
           "They show the NPU's memory without a copy, live as long as somebody has them, and no "
           "later inference changes them.")
      .def(
          "submit", [](Request& request, nb::handle inputs) { request.submit(inputs, false); },
          "inputs"_a.none() = nb::dict(),
          "As infer(), but returns at once: wait(), then outputs().")
      .def(
          "_submit_all", [](Request& request, nb::handle inputs) { request.submit(inputs, true); },
          "inputs"_a.none(), "As submit(), for a pool: an input that is left out is an error.")
      .def(
          "wait",
          [](Request& request, nb::handle timeout) {
            const double seconds = timeout.is_none() ? -1 : nb::cast<double>(timeout);
            return request.wait(timeout.is_none() || std::isnan(seconds) ? seconds
                                                                         : std::max(0.0, seconds));
          },
          "timeout"_a = nb::none(),
          "False when `timeout` seconds passed first. Raises what the inference failed with. "
          "Ctrl-C "
          "ends the wait, not the inference.")
      .def("outputs", &Request::outputs, "The arrays of the last inference, by name.")
      .def(
          "input", &Request::input, "name"_a = 0,
          "A writable array on the memory that the NPU reads, which is bound from now on: fill it, "
          "then infer(). Nothing is copied.")
      .def("set_input", &Request::set_input, "name"_a, "array"_a,
           "Binds an array or a Tensor for all inferences from now on.")
      .def("set_output", &Request::set_output, "name"_a, "array"_a.none(),
           "Lets the NPU write to this array or Tensor from now on; each inference overwrites it. "
           "None: "
           "to memory of the request's own again.")
      .def_rw("allow_copies", &Request::allow_copies,
              "False: an input that the NPU cannot read in place is an error that says why.")
      .def_prop_ro(
          "copies", &Request::copies,
          "How many inputs and outputs were copied so far because the NPU cannot reach them: "
          "memory in place begins on a page or is npucore's.")
      .def_prop_ro("batch", &Request::batch)
      .def("profile", &Request::profile,
           "The last inference layer by layer; the model needs the property PERF_COUNT.")
      .def_prop_ro("inference_time_ns", &Request::inference_time_ns,
                   "Time on the device of the last inference; the model needs PERF_COUNT.");
  bind_completions(module);
}

}  // namespace pynpu
