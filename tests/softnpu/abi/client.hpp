// A minimal application: reaches the driver through the real loader, as every application does.
#pragma once

#include <level_zero/ze_api.h>

#include <string>
#include <string_view>
#include <vector>

#include <ze_npu/ze_npu.h>

namespace softnpu_test {

// An IR v11 with one input and one output of shape [1,4], y = x + (1, 2, 3, 4), and its weights.
std::string sample_ir();
std::string sample_weights();
// The same input and output, y = s = s + x with a state s of the id "sum"; no weights.
std::string stateful_ir();
// An IR and its weights as the driver takes them, for compiler 8.4 or another.
std::string ir_buffer(const std::string& xml, const std::string& weights,
                      ze_graph_compiler_version_info_t compiler = {8, 4});
// The rest of a Const's <data>, whose bytes stay at `address`, and what follows it.
std::string pointer_to(const void* address, size_t bytes);
// An IR in the layout that the option below asks for.
std::string weightless_buffer(const std::string& xml);
// The sample whose weights stay at `address`, in that layout.
std::string weightless_sample(const void* address);
inline constexpr const char* kByAddress =
    "--config NPU_MODEL_SERIALIZER_VERSION=\"NO_WEIGHTS_COPY\"";
// `text` with its first `what` replaced; throws where there is none.
std::string replaced(std::string text, const std::string& what, const std::string& with);

class Client {
 public:
  Client();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  ze_graph_dditable_ext_t* graphs = nullptr;

  // The graph extension is 1.<minor> or newer.
  bool has(uint32_t minor) const;
  // Result of pfnCreate3 (before 1.12: pfnCreate2), with its log in `log`.
  ze_result_t create(std::string_view input, ze_graph_format_t format, ze_graph_handle_t* graph,
                     const char* build_flags = "", ze_graph_flags_t flags = 0,
                     void* next = nullptr);
  std::string log;

  // The layers of an IR that the compiler takes, as the driver lists them: "<a><b>".
  std::string supported_layers(std::string_view buffer, const char* build_flags = "");
  // The native binary of the sample.
  std::string sample_binary();
  // Executes `graph` on (10, 20, 30, 40); the results, or nothing when a step fails.
  std::vector<float> run(ze_graph_handle_t graph);
  // The same with its input at `input`, memory of the context.
  std::vector<float> run_on(ze_graph_handle_t graph, float* input);
  float* allocate(size_t count);
  // The buffer behind `fd`, imported; null when the driver refuses.
  std::byte* import(int fd, size_t bytes);
  uint32_t live_objects(std::string* names = nullptr);

 private:
  ze_result_t create_with_log(const ze_graph_desc_2_t& desc, ze_graph_handle_t* graph);
};

}  // namespace softnpu_test
