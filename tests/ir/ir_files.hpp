#pragma once

#include <string>
#include <vector>

#include <npucore/model.hpp>

#include "support/bare/ir_writer.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace npu::test {

/// For texts that no writer makes.
std::string parameter_layer(int id, const std::string& name, const std::string& type,
                            const std::vector<int>& shape, const std::string& layout = {});
std::string result_layer(int id, const std::string& name, const std::vector<int>& shape);

/// A model of these files; they are gone, as the model has them mapped.
inline Model read_ir(const std::string& xml, const std::string& weights = {}) {
  const TempDir dir;
  dir.write("model.bin", weights);
  return Model::read(dir.write("model.xml", xml));
}

/// Parameter "picture" (tensor name "image") -> Result.
std::string identity_ir(const std::string& type, const std::vector<int>& shape,
                        const std::string& layout = {}, const std::string& version = "11",
                        const std::string& rt_info = {});

/// Parameter "numbers" -> Multiply "double" (tensor name "twice") by a constant "two" of 4 bytes in
/// the .bin -> Result.
std::string multiply_ir();

}  // namespace npu::test
