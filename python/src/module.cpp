#include "binding.hpp"

NB_MODULE(_core, module) {
  module.doc() = "npucore's classes in C++. Use them through the package npucore.";
  // Objects that live until the interpreter ends are no leak.
  nanobind::set_leak_warnings(false);
  pynpu::bind_errors(module);
  pynpu::bind_arrays(module);
  pynpu::bind_properties(module);
  pynpu::bind_device(module);
  pynpu::bind_model(module);
  pynpu::bind_tensor(module);
  pynpu::bind_request(module);
  pynpu::bind_state(module);
  pynpu::bind_compiled(module);
  pynpu::bind_blob_info(module);
  pynpu::bind_vision(module);
  pynpu::bind_track(module);
}
