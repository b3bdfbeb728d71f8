#pragma once

#include <string>
#include <vector>

#include <npucore/model.hpp>

/// Applies repeated --reshape NAME=1,3,224,224. NAME may be left out for a model with one input;
/// the numbers behind NAME= may stand in brackets. Throws npu::Error for other words and for shapes
/// that the model does not take.
void reshape(npu::Model& model, const std::vector<std::string>& entries);
