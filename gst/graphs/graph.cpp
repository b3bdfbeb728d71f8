#include "graph.hpp"

#include <algorithm>

#include <npucore/error.hpp>

#include "frames/frame_description.hpp"

#include "tensor_ids.hpp"

namespace gstnpu {

Graph::Graph(npu::CompiledModel model, npu::FrameInput frame, std::string file,
             const std::string& card, const npu::vision::TensorGroup& ids)
    : model_(std::move(model)),
      frame_(std::move(frame)),
      file_(std::move(file)),
      card_(g_ref_string_new(card.c_str()), g_ref_string_release) {
  const auto& info = model_.model_info();
  if (const auto labels = info.find("labels"); labels != info.end()) {
    labels_ = labels->second;
  }
  for (const std::string& name : frame_.plane_inputs) {
    plane_inputs_.push_back(model_.input_index(name));
  }
  refuse_other_inputs();
  takes_any_strides_ =
      layout() == without_padding(layout()) &&
      std::all_of(plane_inputs_.begin(), plane_inputs_.end(),
                  [this](std::size_t index) { return model_.input_takes_strides(index); });
  for (const npu::Port& port : model_.outputs()) {
    outputs_.push_back(describe_output(port));
    output_bytes_.push_back(port.size_bytes());
  }
  set_ids(ids, &outputs_);
}

/// The planes of a frame are one input of the model that the user knows.
void Graph::refuse_other_inputs() const {
  std::string others;
  for (std::size_t i = 0; i < model_.inputs().size(); ++i) {
    if (std::find(plane_inputs_.begin(), plane_inputs_.end(), i) != plane_inputs_.end()) continue;
    const npu::Port& port = model_.inputs()[i];
    others += (others.empty() ? "" : ", ") + port.name + " " + npu::to_string(port.type) +
              npu::to_string(port.shape);
  }
  if (others.empty()) return;
  throw npu::Error(npu::ErrorCode::kUnsupported,
                   "the model has " +
                       std::to_string(model_.inputs().size() - plane_inputs_.size() + 1) +
                       " inputs, and a frame fills only the one that takes the picture, not " +
                       others + "; use a model whose only input is the picture");
}

Graph::RequestRef Graph::take_request(const MemoryKey& memory) {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      auto found = std::find_if(idle_.begin(), idle_.end(),
                                [&](const IdleRequest& idle) { return idle.memory == memory; });
      if (found == idle_.end()) {
        found = idle_.begin();
      }
      RequestRef request = std::move(found->request);
      idle_.erase(found);
      return request;
    }
  }
  return std::make_unique<TimedRequest>(model_.create_request());
}

void Graph::give_back(RequestRef request, const MemoryKey& memory) {
  const std::scoped_lock lock(mutex_);
  idle_.push_back({std::move(request), memory});
}

void Graph::drop_idle_requests() {
  std::vector<IdleRequest> dropped;  // freed outside the lock
  const std::scoped_lock lock(mutex_);
  dropped.swap(idle_);
}

}  // namespace gstnpu
