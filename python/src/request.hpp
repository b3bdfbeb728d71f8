#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <npucore/compiled_model.hpp>
#include <npucore/request.hpp>

#include "arrays.hpp"

namespace pynpu {

/// One inference in flight, with the arrays that it is bound to. A thread that comes while another
/// one is inside gets an error: the library's requests are for one thread at a time.
class Request {
 public:
  Request(npu::CompiledModel model, std::size_t batch, bool allow_copies);
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  void set_input(nb::handle name, nb::handle array);
  void set_output(nb::handle name, nb::handle array);
  /// An array on the request's own input, which it is bound to.
  nb::object input(nb::handle name);
  /// `needs_all`: what is left out is an error, and does not keep what was bound last.
  void submit(nb::handle inputs, bool needs_all);
  /// False when `seconds` passed first; less than 0: waits for ever.
  bool wait(double seconds);
  nb::dict outputs();
  nb::dict infer(nb::handle inputs);
  /// Lets `completions` tell the end of each further inference.
  void tell(npu::Completions& completions, std::uint64_t key);
  std::vector<npu::LayerProfile> profile();
  std::uint64_t inference_time_ns();
  std::uint64_t copies();

  const npu::CompiledModel& model() const { return model_; }
  std::size_t batch() const { return batch_; }

  bool allow_copies = true;

  /// Holds the request for a call of one thread.
  class Use {
   public:
    explicit Use(Request& request);

   private:
    std::unique_lock<std::mutex> lock_;
  };
  npu::Request& idle();  ///< throws while in flight; within a Use

 private:
  /// Memory for one output. Arrays show it; the next inference takes memory that none shows.
  struct Slot : Kept {
    npu::Tensor tensor;
  };
  struct Input {
    npu::Shape shape;  ///< of arrays
    npu::Tensor own;
    bool is_own_bound = false;
    nb::object bound;  ///< keeps the memory that is bound
  };
  struct Output {
    npu::Shape shape;  ///< of arrays
    std::vector<std::shared_ptr<Slot>> slots;
    std::shared_ptr<Slot> current;
    nb::object bound;  ///< the caller's array, if he set one; then there are no slots
  };

  void bind_inputs(nb::handle inputs, bool needs_all);
  void bind_input(std::size_t index, nb::handle array);
  bool bind_in_place(std::size_t index, const ArrayIn& array, std::string& why_not);
  void bind_copy(std::size_t index, const ArrayIn& array);
  void bind_own(std::size_t index);
  void bind_output_array(std::size_t index, nb::handle array);
  void choose_outputs();
  void choose_output(std::size_t index);
  bool wait_for(std::chrono::nanoseconds timeout);
  nb::dict result();
  npu::Shape shape_of(const npu::Port& port) const;

  npu::CompiledModel model_;
  std::size_t batch_;
  std::optional<npu::Request> request_;
  std::mutex mutex_;
  bool is_in_flight_ = false;
  std::uint64_t copies_ = 0;  ///< by this class, besides the library's
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace pynpu
