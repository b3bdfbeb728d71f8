#include "request.hpp"
#include "tensor.hpp"

namespace pynpu {
namespace {

/// A model's variable in one request, which it keeps alive.
struct State {
  std::shared_ptr<Request> request;
  npu::State state;
};

/// The state's memory, as an array: the newest value.
nb::object numpy_of_state(State& state) {
  const Request::Use use(*state.request);
  state.request->idle();
  const npu::State& variable = state.state;
  const npu::Tensor tensor = variable.get();
  return to_numpy(tensor.slice(0, variable.size_bytes()), variable.type(),
                  array_shape(variable.type(), variable.shape()));
}

void set(State& state, nb::handle value) {
  const Request::Use use(*state.request);
  state.request->idle();
  npu::State& variable = state.state;
  if (nb::isinstance<Tensor>(value)) return variable.set(nb::cast<const Tensor&>(value).memory);
  const ArrayIn in = array_in("state", variable.name(), value, variable.type(),
                              array_shape(variable.type(), variable.shape()));
  std::vector<std::byte> dense(variable.size_bytes());
  copy_dense(in, dense.data());
  variable.set(dense);
}

void reset(State& state) {
  const Request::Use use(*state.request);
  state.request->idle();
  state.state.reset();
}

nb::dict states_of(const std::shared_ptr<Request>& request) {
  const Request::Use use(*request);
  nb::dict found;
  for (npu::State& state : request->idle().states()) {
    found[state.name().c_str()] = nb::cast(State{request, std::move(state)});
  }
  return found;
}

}  // namespace

void bind_state(nb::module_& module) {
  auto request = nb::borrow<nb::class_<Request>>(module.attr("Request"));
  nb::class_<State>(
      module, "State",
      "A variable of the model in one request. Each inference reads it and leaves the "
      "value for the next. Request.states()")
      .def_prop_ro("name", [](const State& state) { return state.state.name(); })
      .def_prop_ro("dtype", [](const State& state) { return dtype_name(state.state.type()); })
      .def_prop_ro("shape", [](const State& state) { return tuple_of(state.state.shape()); })
      .def("numpy", &numpy_of_state,
           "An array on the memory that the NPU reads and writes: do not touch it in flight.")
      .def("set", &set, nb::arg("value"),
           "Copies an array's values, or uses a Tensor as the state from now on.")
      .def("reset", &reset, "Back to the initial value.")
      .def("__repr__",
           [](const State& state) { return "<npucore.State " + state.state.name() + ">"; });
  request.def("states", &states_of, "The model's variables, a dict of names to States.");
}

}  // namespace pynpu
