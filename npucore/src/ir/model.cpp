#include <utility>

#include <npucore/model.hpp>

#include "fuse_guard.hpp"
#include "hints.hpp"
#include "model_impl.hpp"
#include "preprocess.hpp"
#include "reader.hpp"
#include "reshape.hpp"
#include "support.hpp"

namespace npu {

Model Model::read(const std::filesystem::path& xml, const std::filesystem::path& weights) {
  return Model(ir::read_ir(xml, weights));
}

Model::Model(const Model& other) : impl_(std::make_shared<Impl>(*other.impl_)) {}
Model& Model::operator=(const Model& other) {
  if (this != &other) {
    impl_ = std::make_shared<Impl>(*other.impl_);
  }
  return *this;
}

const std::filesystem::path& Model::path() const {
  return impl_->path;
}

const std::string& Model::name() const {
  return impl_->name;
}

const std::vector<Port>& Model::inputs() const {
  return impl_->inputs;
}

const std::vector<Port>& Model::outputs() const {
  return impl_->outputs;
}

const std::map<std::string, std::string>& Model::model_info() const {
  return impl_->model_info;
}

void Model::reshape(const std::map<std::string, Shape>& shapes) {
  ir::reshape(*impl_, shapes);
}

Preprocess Model::default_preprocess(const FrameLayout& frame) const {
  return ir::preprocess_from_hints(impl_->model_info, frame);
}

void Model::add_preprocess(const Preprocess& preprocess) {
  ir::add_preprocess(*impl_, preprocess);
}

const std::optional<FrameInput>& Model::frame_input() const {
  return impl_->frame_input;
}

std::vector<std::string> Model::warnings() const {
  auto warnings = ir::color_fusion_warnings(impl_->document, impl_->weights);
  for (auto& warning : ir::hint_warnings(impl_->model_info)) {
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

void Model::check_supported() const {
  ir::check_supported(*impl_);
}

}  // namespace npu
