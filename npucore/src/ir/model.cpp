#include <utility>

#include <npucore/model.hpp>

#include "fuse_guard.hpp"
#include "hints.hpp"
#include "model_state.hpp"
#include "preprocess.hpp"
#include "reader.hpp"
#include "reshape.hpp"
#include "support.hpp"

namespace npu {

Model Model::read(const std::filesystem::path& xml, const std::filesystem::path& weights) {
  return Model(ir::read_ir(xml, weights));
}

Model::Model(std::shared_ptr<internal::ModelState> state) : state_(std::move(state)) {}
Model::~Model() = default;
Model::Model(const Model& other) : state_(std::make_shared<internal::ModelState>(*other.state_)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(const Model& other) {
  if (this != &other) {
    state_ = std::make_shared<internal::ModelState>(*other.state_);
  }
  return *this;
}
Model& Model::operator=(Model&&) noexcept = default;

const std::filesystem::path& Model::path() const {
  return state_->path;
}

const std::string& Model::name() const {
  return state_->name;
}

const std::vector<Port>& Model::inputs() const {
  return state_->inputs;
}

const std::vector<Port>& Model::outputs() const {
  return state_->outputs;
}

const std::map<std::string, std::string>& Model::model_info() const {
  return state_->model_info;
}

void Model::reshape(const std::map<std::string, Shape>& shapes) {
  ir::reshape(*state_, shapes);
}

Preprocess Model::default_preprocess(const FrameLayout& frame) const {
  return ir::preprocess_from_hints(state_->model_info, frame);
}

void Model::add_preprocess(const Preprocess& preprocess) {
  ir::add_preprocess(*state_, preprocess);
}

const std::optional<FrameInput>& Model::frame_input() const {
  return state_->frame_input;
}

std::vector<std::string> Model::warnings() const {
  auto warnings = ir::color_fusion_warnings(state_->document, state_->weights);
  for (auto& warning : ir::hint_warnings(state_->model_info)) {
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

void Model::check_supported() const {
  ir::check_supported(*state_);
}

}  // namespace npu
