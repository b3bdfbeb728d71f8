// One C++ side of python_infer.py: infers as often as each line on stdin says, and prints the time
// of each call in us as a JSON array.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <openvino/openvino.hpp>

#include <npucore/npucore.hpp>

namespace {

struct Side {
  std::function<void()> infer;
  float* input;
  const float* output;
};

Side npucore_side(const std::string& model) {
  const auto compiled = npu::CompiledModel::compile(npu::Device::open(npu::DeviceKind::kSoftware),
                                                    npu::Model::read(model));
  const auto request = std::make_shared<npu::Request>(compiled.create_request());
  return {[request] { request->infer(); }, request->input(0).as<float>().data(),
          request->output(0).as<float>().data()};
}

Side openvino_side(const std::string& model, const std::string& device) {
  auto request = ov::Core().compile_model(model, device).create_infer_request();
  return {[request]() mutable { request.infer(); }, request.get_input_tensor().data<float>(),
          request.get_output_tensor().data<float>()};
}

// The caller's own numbers are copied before each call, as Python does.
void use(const Side& side, const std::vector<float>* values) {
  if (values != nullptr) {
    std::memcpy(side.input, values->data(), values->size() * sizeof(float));
  }
  side.infer();
}

nlohmann::json time_calls(const Side& side, const std::vector<float>* values, int calls) {
  std::vector<double> us;
  us.reserve(static_cast<std::size_t>(calls));
  for (int i = 0; i < calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    use(side, values);
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
                     .count());
  }
  return us;
}

}  // namespace

int main(int argc, char** argv) {
  std::string model, library;
  bool copies = false;
  CLI::App app("Infers as often as each line on stdin says", "infer_side");
  app.add_option("model", model, "IR: eight floats x, and their squares")->required();
  app.add_option("library", library, "npucore, or a device of OpenVINO's: CPU, NPU")->required();
  app.add_flag("--copies", copies, "copies the input before each call");
  CLI11_PARSE(app, argc, argv);
  try {
    const Side side = library == "npucore" ? npucore_side(model) : openvino_side(model, library);
    const std::vector<float> threes(8, 3.0F);
    use(side, &threes);
    std::cout << side.output[7] << std::endl;
    for (int calls = 0; std::cin >> calls;) {
      std::cout << time_calls(side, copies ? &threes : nullptr, calls) << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << "infer_side: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
