// A client of the software NPU, and the small models that it compiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/bare/ir_writer.hpp"
#include "support/bare/npu.hpp"
#include "support/expect.hpp"

namespace softnpu_test {

using namespace bare;  // NOLINT(google-build-using-namespace): the tests are the client's, word for
                       // word
using npu::test::IrWriter;
using npu::test::replaced;

// The compiler of the software NPU, unless it is told another.
inline constexpr ze_graph_compiler_version_info_t kCompiler{8, 4};

// One input and one output of shape [1,4], y = x + (1, 2, 3, 4); the weights may stay at an
// address.
IrWriter sample_ir(const float* weights = nullptr);
// The same input and output, y = s = s + x with a state s of the id "sum", which has this initial
// value; no weights unless there is one.
IrWriter stateful_ir(const std::vector<float>& initial = {});
std::string buffer_of(const IrWriter& ir);
// The sample as the driver takes it, and with its weights at an address.
std::string sample_buffer();
std::string weightless_sample(const float* weights);
inline constexpr const char* kByAddress =
    "--config NPU_MODEL_SERIALIZER_VERSION=\"NO_WEIGHTS_COPY\"";
// The sample's results for (10, 20, 30, 40).
inline const std::vector<float> kExpected = {11, 22, 33, 44};

class Client : public Npu {
 public:
  // An IR in its classic form.
  ze_result_t compile_ir(std::string_view buffer, Graph& made, const char* build_flags = "") {
    return create(buffer, ZE_GRAPH_FORMAT_NGRAPH_LITE, made, build_flags);
  }
  // These throw where the driver refuses.
  Graph sample(const char* build_flags = "", ze_graph_flags_t flags = 0);
  std::string sample_binary() { return native_binary(sample()); }
  Graph load(std::string_view binary, ze_graph_flags_t flags = 0);
  // The native binary where it lies.
  std::string_view binary_in_place(const Graph& made) const;
  // Executes `made` on (10, 20, 30, 40); the results, or nothing when a step fails.
  std::vector<float> run(const Graph& made) const;
  // The same with its input at `input`, memory of the context.
  std::vector<float> run_on(const Graph& made, float* input) const;
  Memory floats(size_t count) const { return host_memory(count * sizeof(float)); }
  // The buffer behind `fd`, imported; null when the driver refuses.
  Memory import(int fd, size_t bytes) const;
};

}  // namespace softnpu_test
