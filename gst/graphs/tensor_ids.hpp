#pragma once

#include <meta/npumeta.h>

#include <string>
#include <vector>

#include <npucore/types.hpp>
#include <npuvision/model_card.hpp>
#include <npuvision/tensor_group.hpp>

#include "frames/tensor_caps.hpp"

namespace gstnpu {

/// Describes an output, without memory. A size that is still open is 0. Throws npu::Error for an
/// output that no buffer can carry.
GstNpuTensor describe_output(const npu::Port& port);

/// The outputs' registered names, which other projects' decoders know: those in the model's
/// .modelinfo unless its end was cut off, else those that card and shapes suggest.
npu::vision::TensorGroup ids_of(const std::string& file, const npu::vision::ModelCard& card,
                                const std::vector<npu::Port>& outputs,
                                npu::vision::InputSize input);

/// npu::vision::doubt_about_pixels() for these outputs.
std::string pixel_doubt_of(const npu::vision::ModelCard& card,
                           const std::vector<npu::Port>& outputs, npu::vision::InputSize input);

/// Sets the names of the outputs, which are in the model's order.
void set_ids(const npu::vision::TensorGroup& ids, std::vector<GstNpuTensor>* outputs);

/// The group that the elements' caps describe; empty while a size is open.
TensorGroup caps_group_of(const npu::vision::TensorGroup& ids,
                          const std::vector<npu::Port>& outputs, npu::vision::InputSize input);

}  // namespace gstnpu
