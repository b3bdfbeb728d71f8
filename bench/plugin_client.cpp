#include "plugin_client.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace bench {
namespace {

std::span<std::byte> bytes_of(ov::Tensor tensor) {
  return {static_cast<std::byte*>(tensor.data()), tensor.get_byte_size()};
}

}  // namespace

std::string why_no_plugin() {
  void* loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
  if (loader == nullptr || dlsym(loader, "zeInitDrivers") == nullptr) {
    return "needs a Level Zero loader with zeInitDrivers (1.18 or newer)";
  }
  const auto devices = ov::Core().get_available_devices();
  if (std::find(devices.begin(), devices.end(), "NPU") == devices.end()) {
    return "finds no NPU: is ZE_ENABLE_ALT_DRIVERS set to the driver?";
  }
  return {};
}

PluginClient::PluginClient(const std::filesystem::path& model, std::size_t buffers)
    : compiled_(core_.compile_model(model.string(), "NPU")),
      request_(compiled_.create_infer_request()) {
  const auto port = compiled_.input();
  ov::RemoteContext context = compiled_.get_context();
  for (std::size_t i = 0; i < buffers; ++i) {
    inputs_.push_back(context.create_host_tensor(port.get_element_type(), port.get_shape()));
  }
  request_.set_input_tensor(inputs_.front());
}

std::span<std::byte> PluginClient::input(std::size_t buffer) {
  return bytes_of(inputs_[buffer]);
}

std::span<std::byte> PluginClient::output() {
  return bytes_of(request_.get_output_tensor());
}

}  // namespace bench
