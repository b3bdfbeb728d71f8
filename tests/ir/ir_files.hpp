#pragma once

#include <string>
#include <vector>

#include "support/temp_dir.hpp"

namespace npu::test {

/// Parts of IRs as OpenVINO writes them.
std::string dims(const std::vector<int>& shape);
std::string parameter_layer(int id, const std::string& name, const std::string& type,
                            const std::vector<int>& shape, const std::string& layout = {});
std::string result_layer(int id, const std::string& name, const std::vector<int>& shape);
std::string edge(int from_layer, int from_port, int to_layer, int to_port);
std::string net(const std::string& layers, const std::string& edges,
                const std::string& rt_info = {}, const std::string& version = "11");

/// Parameter "picture" (tensor name "image") -> Result.
std::string identity_ir(const std::string& type, const std::vector<int>& shape,
                        const std::string& layout = {});

/// Parameter -> Multiply by a constant of 4 bytes (at byte `offset` of the .bin) -> Result.
std::string multiply_ir(int offset = 0, int size = 4);

}  // namespace npu::test
