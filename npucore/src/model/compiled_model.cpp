#include <array>
#include <utility>

#include <npucore/compiled_model.hpp>
#include <npucore/error.hpp>

#include "base/api.hpp"
#include "base/enum_names.hpp"
#include "base/pimpl.hpp"
#include "base/text.hpp"
#include "device/device_properties.hpp"
#include "properties/property_values.hpp"

#include "compiled_model_impl.hpp"
#include "request_impl.hpp"

namespace npu {
namespace {

using base::text;

constexpr std::array kLoadedFrom = {
    base::EnumName<LoadedFrom>{LoadedFrom::kCompiler, "compiler"},
    base::EnumName<LoadedFrom>{LoadedFrom::kDriverCache, "driver cache"},
    base::EnumName<LoadedFrom>{LoadedFrom::kCache, "cache"},
    base::EnumName<LoadedFrom>{LoadedFrom::kBlob, "blob"},
};

/// Runs the work of a call on a loaded model.
template <class Work>
decltype(auto) with(const std::shared_ptr<CompiledModel::Impl>& impl, const Work& work) {
  return base::call(impl, "CompiledModel", work);
}

}  // namespace

const char* to_string(LoadedFrom from) {
  return base::name_of(kLoadedFrom, from);
}

std::uint64_t LoadStats::first_latency_ns() const {
  return first_inference_ns == 0 ? 0 : load_ns + first_inference_ns;
}

const Device& CompiledModel::device() const {
  return base::live(impl_, "CompiledModel").public_device;
}

const std::vector<Port>& CompiledModel::inputs() const {
  return base::live(impl_, "CompiledModel").inputs;
}
const std::vector<Port>& CompiledModel::outputs() const {
  return base::live(impl_, "CompiledModel").outputs;
}

std::size_t CompiledModel::input_index(const std::string& name) const {
  return internal::port_index(inputs(), name, "input");
}

std::size_t CompiledModel::output_index(const std::string& name) const {
  return internal::port_index(outputs(), name, "output");
}

bool CompiledModel::input_takes_strides(std::size_t index) const {
  const auto& bound = base::live(impl_, "CompiledModel").bound_inputs;
  if (index >= bound.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                text("input ", index, " was requested, but there are ", bound.size()));
  }
  return bound[index].takes_strides;
}

const std::optional<FrameInput>& CompiledModel::frame_input() const {
  return base::live(impl_, "CompiledModel").frame_input;
}

const std::map<std::string, std::string>& CompiledModel::model_info() const {
  return base::live(impl_, "CompiledModel").model_info;
}

LoadStats CompiledModel::load_stats() const {
  return with(impl_, [](Impl& impl) { return impl.current_stats(); });
}

bool CompiledModel::is_lost() const {
  return with(impl_, [](Impl& impl) { return impl.is_lost(); });
}

std::string CompiledModel::get_property(const std::string& name) const {
  return with(impl_, [&](Impl& impl) { return impl.get_property(name); });
}

void CompiledModel::set_property(const std::string& name, const std::string& value) {
  with(impl_, [&](Impl& impl) { impl.set_property(name, value); });
}

void CompiledModel::set_property(Property<bool> property, const char* value) {
  base::only_errors([&] { set_property(property.name, std::string(value)); });
}

template <class T>
T CompiledModel::get_property(Property<T> property) const {
  return base::only_errors(
      [&] { return internal::property_value<T>(get_property(std::string(property))); });
}

template <class T>
void CompiledModel::set_property(Property<T> property, const std::type_identity_t<T>& value) {
  base::only_errors([&] { set_property(property.name, internal::property_text(value)); });
}

#define INSTANTIATE(T)                                       \
  template T CompiledModel::get_property(Property<T>) const; \
  template void CompiledModel::set_property(Property<T>, const T&);
NPU_FOR_PROPERTY_TYPES(INSTANTIATE)
#undef INSTANTIATE

std::vector<std::byte> CompiledModel::native_binary() const {
  return with(impl_, [](Impl& impl) {
    std::vector<std::byte> copy;
    const auto session = impl.session();
    const auto view = session->graph.native_binary(copy);
    if (view.data() != copy.data()) {
      copy.assign(view.begin(), view.end());
    }
    return copy;
  });
}

Request CompiledModel::create_request(std::size_t batch) const {
  if (batch == 0 || batch > ze::Queue::kPlaces) {
    throw Error(ErrorCode::kInvalidArgument,
                text("a request cannot have ", batch, " items: use 1 to ", ze::Queue::kPlaces));
  }
  return with(impl_, [&](Impl&) {
    return internal::Pimpl::make<Request>(
        std::make_unique<Request::Impl>(impl_, static_cast<std::uint32_t>(batch)));
  });
}

std::size_t CompiledModel::optimal_number_of_requests() const {
  return with(impl_, [](const Impl& impl) {
    return internal::optimal_number_of_requests(impl.device->info, impl.properties.values());
  });
}

}  // namespace npu
