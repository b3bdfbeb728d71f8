#include <chrono>
#include <mutex>

#include "buffer.hpp"
#include "device.hpp"
#include "model.hpp"
#include "properties.hpp"
#include "request.hpp"

namespace pynpu {
namespace {

using namespace nb::literals;
using npu::CompiledModel;

/// How often a wait looks for Ctrl-C and for phases that began.
constexpr std::chrono::milliseconds kSlice{20};

/// The phases of a compilation that Python has not been told of. The thread that compiles adds
/// them, the thread that waits tells them.
class Phases {
 public:
  void add(const npu::CompileProgress& progress) {
    const std::scoped_lock lock(mutex_);
    begun_.push_back(progress);
  }
  void tell(nb::handle callback) {
    std::vector<npu::CompileProgress> begun;
    {
      const std::scoped_lock lock(mutex_);
      begun.swap(begun_);
    }
    for (const npu::CompileProgress& progress : begun) {
      callback(npu::to_string(progress.phase),
               std::chrono::duration<double>(progress.elapsed).count());
    }
  }

 private:
  std::mutex mutex_;
  std::vector<npu::CompileProgress> begun_;
};

/// Waits for the compilation; whatever Python raises meanwhile ends it.
CompiledModel wait_for(npu::CompileJob job, const std::shared_ptr<Phases>& phases,
                       nb::handle progress) {
  try {
    for (bool done = false; !done;) {
      done = without_gil([&] { return job.wait(kSlice); });
      if (!progress.is_none()) {
        phases->tell(progress);
      }
      check_signals();
    }
  } catch (...) {
    without_gil([&] { job.cancel(); });
    throw;
  }
  return without_gil([&] { return job.get(); });
}

npu::CompileOptions options_from(nb::handle properties, nb::handle config,
                                 const std::optional<std::string>& cache_id = {}) {
  npu::CompileOptions options;
  options.properties = properties_from(properties);
  if (cache_id && cache_id->empty()) {
    refuse("cache_id is empty: it is the model's own name in the folder CACHE_DIR");
  }
  if (cache_id) {
    options.properties.set(npu::property::cache_id, *cache_id);
  }
  if (!config.is_none()) {
    for (nb::handle item : nb::iter(config.attr("items")())) {
      options.config[nb::cast<std::string>(item[0])] = property_text(item[1]);
    }
  }
  return options;
}

std::optional<CompiledModel> load_cached(const npu::Device& device,
                                         const npu::CompileOptions& options) {
  return without_gil([&] { return CompiledModel::load_cached(device, options); });
}

CompiledModel compile(nb::handle model, nb::handle device,
                      const std::optional<std::string>& cache_id, nb::handle properties,
                      nb::handle config, nb::handle progress) {
  const npu::Device on = device_from(device);
  npu::CompileOptions options = options_from(properties, config, cache_id);
  nb::object source = nb::borrow(model);
  if (PyCallable_Check(model.ptr()) != 0) {
    if (options.properties.is_set(npu::property::cache_id)) {
      if (auto found = load_cached(on, options)) return std::move(*found);
    }
    source = model();
  }
  const auto phases = std::make_shared<Phases>();
  if (!progress.is_none()) {
    options.progress = [phases](const npu::CompileProgress& began) { phases->add(began); };
  }
  return wait_for(npu::compile_async(on, read_model(source), options), phases, progress);
}

CompiledModel load(nb::handle blob, nb::handle device, nb::handle model, nb::handle properties) {
  const npu::Device on = device_from(device);
  const npu::CompileOptions options = options_from(properties, nb::none());
  if (has_bytes(blob)) {
    if (!model.is_none()) {
      refuse("a blob in memory takes no `model`: give its path, or catch IncompatibleError");
    }
    const Buffer bytes(blob);
    return without_gil([&] { return CompiledModel::import(on, bytes.bytes(), options); });
  }
  const auto path = nb::cast<std::filesystem::path>(blob);
  if (model.is_none()) return without_gil([&] { return CompiledModel::import(on, path, options); });
  const npu::Model fallback = read_model(model);
  return without_gil([&] { return CompiledModel::import(on, path, fallback, options); });
}

void bind_stats(nb::module_& module) {
  using npu::LoadStats;
  nb::class_<LoadStats>(module, "LoadStats", "How a model was compiled or loaded.")
      .def_prop_ro(
          "source", [](const LoadStats& stats) { return npu::to_string(stats.from); },
          "'compiler', 'driver cache', 'cache' or 'blob'")
      .def_ro("compile_ns", &LoadStats::compile_ns, "In the driver.")
      .def_ro("initialize_ns", &LoadStats::initialize_ns, "Weights into the device.")
      .def_ro("load_ns", &LoadStats::load_ns, "The whole call.")
      .def_ro("first_inference_ns", &LoadStats::first_inference_ns, "0 before it.")
      .def_prop_ro("first_latency_ns", &LoadStats::first_latency_ns)
      .def_ro("serialized_bytes", &LoadStats::serialized_bytes)
      .def_ro("warnings", &LoadStats::warnings);
}

nb::object input_frame(const CompiledModel& model) {
  const auto& input = model.frame_input();
  return input ? nb::cast(input->preprocess.frame) : nb::none();
}

void bind_functions(nb::module_& module) {
  module.def(
      "compile", &compile, "model"_a, "device"_a = nb::none(), nb::kw_only(),
      "cache_id"_a = nb::none(), "properties"_a = nb::none(), "config"_a = nb::none(),
      "progress"_a = nb::none(),
      "Compiles a Model, or what Model.read() takes, or takes it from the cache in CACHE_DIR. "
      "Ctrl-C ends it.\n\ndevice: a Device, 'auto', 'npu' or 'software'; None: 'auto'. "
      "cache_id: your own name for the model's entry in CACHE_DIR, a folder that `properties` must "
      "name; `model` may then be a function that makes the model, which is called only if there is "
      "no such entry. Change the name with the model: see docs/properties.md, CACHE_ID. "
      "properties: {'PERFORMANCE_HINT': 'LATENCY', ...}. config: options for the driver's "
      "compiler, unchecked. progress: called with a phase ('compiling', ...) and the seconds "
      "since the call as each phase begins, in this thread.");
  module.def(
      "load_cached",
      [](const std::string& cache_id, nb::handle device, nb::handle properties, nb::handle config) {
        const npu::Device on = device_from(device);
        return load_cached(on, options_from(properties, config, cache_id));
      },
      "cache_id"_a, "device"_a = nb::none(), nb::kw_only(), "properties"_a = nb::none(),
      "config"_a = nb::none(),
      "The model that compile() or `npu-compile --cache DIR --id NAME` left in the folder "
      "CACHE_DIR under this name, without any file of the model. None: there is none for this "
      "device, driver, compiler and these properties. An InvalidArgumentError without CACHE_DIR.");
  module.def(
      "load", &load, "blob"_a, "device"_a = nb::none(), nb::kw_only(), "model"_a = nb::none(),
      "properties"_a = nb::none(),
      "Loads a precompiled blob: a path or bytes. model: what to compile if the blob at that "
      "path does not fit; without it that is an IncompatibleError.");
}

}  // namespace

void bind_compiled(nb::module_& module) {
  bind_stats(module);
  nb::class_<CompiledModel>(module, "CompiledModel",
                            "A graph on a device: compile() and load() make it.")
      .def_prop_ro("device", &CompiledModel::device, nb::rv_policy::copy)
      .def_prop_ro("inputs", &CompiledModel::inputs, nb::rv_policy::copy)
      .def_prop_ro("outputs", &CompiledModel::outputs, nb::rv_policy::copy)
      .def_prop_ro("frame", &input_frame, "The Frame that its image input takes, or None.")
      .def_prop_ro("model_info", &CompiledModel::model_info, nb::rv_policy::copy)
      .def_prop_ro("load_stats", &CompiledModel::load_stats)
      .def_prop_ro("is_lost", &CompiledModel::is_lost,
                   "True from the loss of the device until a use has loaded the model again.")
      .def_prop_ro(
          "properties", [](const CompiledModel& model) { return PropertyMap(model); },
          "A mapping of names to values; few can be set on a compiled model.")
      .def_prop_ro(
          "optimal_number_of_requests",
          [](const CompiledModel& model) {
            return without_gil([&] { return model.optimal_number_of_requests(); });
          },
          "How many requests in flight keep the device busy.")
      .def(
          "create_request",
          [](const CompiledModel& model, std::size_t batch, bool allow_copies) {
            return std::make_shared<Request>(model, batch, allow_copies);
          },
          "batch"_a = 1, nb::kw_only(), "allow_copies"_a = true,
          "batch: items that one inference works on, 1 to 60; arrays then have so many in front. "
          "allow_copies=False: an input that the NPU cannot read in place is an error.")
      .def("save", &CompiledModel::export_blob, "path"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Writes a blob, with a description, that load() takes.")
      .def(
          "native_binary",
          [](const CompiledModel& model) {
            const auto bytes = without_gil([&] { return model.native_binary(); });
            return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          },
          "The driver's own blob alone.")
      .def("__repr__", [](const CompiledModel& model) {
        return "<npucore.CompiledModel on " + model.device().info().name + ">";
      });
  bind_functions(module);
}

}  // namespace pynpu
