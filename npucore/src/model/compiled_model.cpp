#include <array>
#include <utility>

#include <npucore/compiled_model.hpp>
#include <npucore/error.hpp>

#include "base/enum_names.hpp"
#include "base/text.hpp"
#include "device/device_properties.hpp"

#include "compiled_model_state.hpp"
#include "request_state.hpp"

namespace npu {
namespace {

using base::text;

constexpr std::array kLoadedFrom = {
    base::EnumName<LoadedFrom>{LoadedFrom::kCompiler, "compiler"},
    base::EnumName<LoadedFrom>{LoadedFrom::kDriverCache, "driver cache"},
    base::EnumName<LoadedFrom>{LoadedFrom::kCache, "cache"},
    base::EnumName<LoadedFrom>{LoadedFrom::kBlob, "blob"},
};

std::size_t index_of(const std::vector<Port>& ports, const std::string& name, const char* what) {
  std::vector<std::string> known;
  for (std::size_t index = 0; index < ports.size(); ++index) {
    if (ports[index].answers_to(name)) return index;
    known.push_back(ports[index].name);
    known.insert(known.end(), ports[index].tensor_names.begin(), ports[index].tensor_names.end());
  }
  throw Error(ErrorCode::kNotFound, text("no ", what, " is called ", base::quoted(name),
                                         "; there are: ", base::join(known, ", ")));
}

}  // namespace

const char* to_string(LoadedFrom from) {
  return base::name_of(kLoadedFrom, from);
}

CompiledModel::CompiledModel(std::shared_ptr<internal::CompiledModelState> state)
    : state_(std::move(state)) {}
CompiledModel::~CompiledModel() = default;
CompiledModel::CompiledModel(const CompiledModel&) = default;
CompiledModel::CompiledModel(CompiledModel&&) noexcept = default;
CompiledModel& CompiledModel::operator=(const CompiledModel&) = default;
CompiledModel& CompiledModel::operator=(CompiledModel&&) noexcept = default;

const Device& CompiledModel::device() const {
  return state_->public_device;
}

const std::vector<Port>& CompiledModel::inputs() const {
  return state_->inputs;
}
const std::vector<Port>& CompiledModel::outputs() const {
  return state_->outputs;
}

std::size_t CompiledModel::input_index(const std::string& name) const {
  return index_of(state_->inputs, name, "input");
}

std::size_t CompiledModel::output_index(const std::string& name) const {
  return index_of(state_->outputs, name, "output");
}

bool CompiledModel::input_takes_strides(std::size_t index) const {
  if (index >= state_->bound_inputs.size()) {
    throw Error(ErrorCode::kInvalidArgument, text("input ", index, " was requested, but there are ",
                                                  state_->bound_inputs.size()));
  }
  return state_->bound_inputs[index].takes_strides;
}

const std::optional<FrameInput>& CompiledModel::frame_input() const {
  return state_->frame_input;
}

const std::map<std::string, std::string>& CompiledModel::model_info() const {
  return state_->model_info;
}

LoadStats CompiledModel::load_stats() const {
  return state_->current_stats();
}

std::string CompiledModel::get_property(const std::string& name) const {
  return state_->get_property(name);
}

void CompiledModel::set_property(const std::string& name, const std::string& value) {
  state_->set_property(name, value);
}

std::vector<std::byte> CompiledModel::native_binary() const {
  std::vector<std::byte> copy;
  const auto session = state_->session();
  const auto view = session->graph.native_binary(copy);
  if (view.data() != copy.data()) {
    copy.assign(view.begin(), view.end());
  }
  return copy;
}

Request CompiledModel::create_request(std::size_t batch) const {
  if (batch == 0 || batch > ze::Queue::kPlaces) {
    throw Error(ErrorCode::kInvalidArgument,
                text("a request cannot have ", batch, " items: use 1 to ", ze::Queue::kPlaces));
  }
  return Request(
      std::make_unique<internal::RequestState>(state_, static_cast<std::uint32_t>(batch)));
}

std::size_t CompiledModel::optimal_number_of_requests() const {
  return internal::optimal_number_of_requests(state_->device->info, state_->properties.values());
}

}  // namespace npu
