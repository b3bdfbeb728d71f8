#include <utility>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "base/api.hpp"
#include "ir/graph/constant.hpp"
#include "ir/graph/layers.hpp"
#include "ir/graph/model_impl.hpp"
#include "ir/graph/ports.hpp"
#include "ir/repair/repair.hpp"

#include "fuse_guard.hpp"
#include "hints.hpp"
#include "preprocess.hpp"
#include "reader.hpp"
#include "reshape.hpp"
#include "support.hpp"

namespace npu {

namespace {

/// Runs the work of a call on the model's parts.
template <class Work>
decltype(auto) with(const std::shared_ptr<Model::Impl>& impl, const Work& work) {
  return base::only_errors([&]() -> decltype(auto) { return work(base::live(impl, "Model")); });
}

}  // namespace

Model Model::read(const std::filesystem::path& path, const std::filesystem::path& weights) {
  return base::only_errors([&] { return Model(ir::read_ir(path, weights)); });
}

Model Model::read(std::string_view xml, std::span<const std::byte> weights,
                  std::shared_ptr<const void> owner) {
  return base::only_errors([&] { return Model(ir::read_ir(xml, weights, std::move(owner))); });
}

Model::Model(const Model& other)
    : impl_(with(other.impl_, [](const Impl& impl) { return std::make_shared<Impl>(impl); })) {}
Model& Model::operator=(const Model& other) {
  if (this != &other) {
    *this = Model(other);
  }
  return *this;
}

const std::filesystem::path& Model::path() const {
  return base::live(impl_, "Model").path;
}

const std::string& Model::name() const {
  return base::live(impl_, "Model").name;
}

const std::vector<Port>& Model::inputs() const {
  return base::live(impl_, "Model").inputs;
}

const std::vector<Port>& Model::outputs() const {
  return base::live(impl_, "Model").outputs;
}

const std::map<std::string, std::string>& Model::model_info() const {
  return base::live(impl_, "Model").model_info;
}

void Model::set_model_info(const std::string& key, const std::string& value) {
  with(impl_, [&](Impl& impl) {
    // A blob's description ends its texts with a zero byte.
    if (key.empty() || key.find('\0') != key.npos || value.find('\0') != value.npos) {
      throw Error(ErrorCode::kInvalidArgument,
                  "an entry of model_info needs a key, and no zero byte in it or in its value");
    }
    impl.model_info[key] = value;
  });
}

std::vector<Layer> Model::layers() const {
  return with(impl_, [](const Impl& impl) { return ir::read_layers(impl.document); });
}

void Model::add_output(const std::string& layer_name) {
  with(impl_, [&](Impl& impl) {
    ir::add_output(impl.document, layer_name);
    impl.outputs = ir::read_outputs(impl.document);
  });
}

void Model::keep_first(std::size_t count) {
  with(impl_, [&](Impl& impl) {
    ir::keep_first(impl.document, count);
    impl.outputs = ir::read_outputs(impl.document);
    impl.frozen_sizes.reset();  // the constant may be gone
  });
}

void Model::reshape(const std::map<std::string, Shape>& shapes) {
  with(impl_, [&](Impl& impl) { ir::reshape(impl, shapes); });
}

std::vector<std::string> Model::repair() {
  return with(impl_, [](Impl& impl) { return ir::repair(impl); });
}

Preprocess Model::default_preprocess(const FrameLayout& frame) const {
  return with(impl_,
              [&](const Impl& impl) { return ir::preprocess_from_hints(impl.model_info, frame); });
}

std::vector<std::string> Model::leave_out_own_steps(
    Preprocess* preprocess, std::map<std::string, std::string>* doubts) const {
  return with(impl_,
              [&](const Impl& impl) { return ir::leave_out_own_steps(impl, preprocess, doubts); });
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> Model::own_picture_size() const {
  return with(impl_, [](const Impl& impl) { return ir::own_picture_size(impl); });
}

void Model::add_preprocess(const Preprocess& preprocess) {
  with(impl_, [&](Impl& impl) { ir::add_preprocess(impl, preprocess); });
}

const std::optional<FrameInput>& Model::frame_input() const {
  return base::live(impl_, "Model").frame_input;
}

std::vector<std::string> Model::warnings() const {
  return with(impl_, [](const Impl& impl) {
    auto warnings = ir::color_fusion_warnings(impl.document, impl.weights);
    for (const auto& more : {ir::hint_warnings(impl.model_info),
                             ir::wide_number_warnings(impl.document, impl.weights)}) {
      warnings.insert(warnings.end(), more.begin(), more.end());
    }
    return warnings;
  });
}

void Model::check_supported() const {
  with(impl_, [](const Impl& impl) { ir::check_supported(impl); });
}

}  // namespace npu
