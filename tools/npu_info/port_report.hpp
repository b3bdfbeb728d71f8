#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include <npucore/types.hpp>

/// Inputs and outputs of a model or a blob.
nlohmann::ordered_json ports_json(const std::vector<npu::Port>& ports);
void print_ports(std::ostream& out, const char* kind, const std::vector<npu::Port>& ports);
