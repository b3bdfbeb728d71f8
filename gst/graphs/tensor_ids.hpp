#pragma once

#include <meta/npumeta.h>

#include <string>
#include <vector>

#include <npucore/types.hpp>
#include <npuvision/model_card.hpp>
#include <npuvision/tensor_group.hpp>

#include "frames/tensor_caps.hpp"

namespace gstnpu {

/// An output as a tensor without memory. Throws npu::Error for one that no buffer can carry; a size
/// that is still open is 0.
GstNpuTensor describe_output(const npu::Port& port);

/// By which names decoders of others know the outputs: what the model's .modelinfo says, unless its
/// end was cut off, else what card and shapes show.
npu::vision::TensorGroup ids_of(const std::string& file, const npu::vision::ModelCard& card,
                                const std::vector<npu::Port>& outputs,
                                npu::vision::InputSize input);

/// Gives the outputs, in the model's order, those names.
void set_ids(const npu::vision::TensorGroup& ids, std::vector<GstNpuTensor>* outputs);

/// The group that frames of the elements' caps have; none where a size is still open.
TensorGroup caps_group_of(const npu::vision::TensorGroup& ids,
                          const std::vector<npu::Port>& outputs, npu::vision::InputSize input);

}  // namespace gstnpu
