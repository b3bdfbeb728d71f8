// Results of the NumPy programs of tests/npuvision/reference: tensors and their meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <npuvision/decoder.hpp>

#include "support/expect.hpp"

namespace npu::vision {

/// A tensor in a heap block of exactly its size, so that a sanitizer sees each byte read too far.
class TestTensor {
 public:
  /// Values row after row, as f16, f32, f64 or whole numbers of 8 bits or more; `row_padding`
  /// elements lie between rows.
  TestTensor(std::string name, npu::ElementType type, std::vector<std::size_t> dims,
             const std::vector<double>& values, std::size_t row_padding = 0);
  TestTensor(const TestTensor&) = delete;
  TestTensor(TestTensor&&) = default;

  TensorView view() const;
  /// As make_decoder() sees it.
  TensorView view_without_data() const;
  void set(std::size_t index, double value);  ///< of the values that were given

 private:
  std::size_t row_length() const { return dims_.empty() ? 1 : dims_.back(); }

  std::string name_;
  npu::ElementType type_;
  std::vector<std::size_t> dims_;
  std::size_t row_padding_;
  std::unique_ptr<std::byte[]> memory_;  // NOLINT(modernize-avoid-c-arrays): of no byte more
  std::size_t size_bytes_ = 0;
};

/// The nearest half; for tests, of values that halves have.
std::uint16_t half_bits(double value);

struct Reference {
  std::string name;
  ModelCard card;
  std::vector<TestTensor> tensors;
  InputSize input;
  FrameSize frame;
  npu::FrameGeometry geometry;
  DecodeOptions options;
  nlohmann::json answer;

  std::vector<TensorView> views() const;
  std::vector<TensorView> views_without_data() const;
  std::unique_ptr<Decoder> decoder() const;
};

/// The cases of tests/npuvision/reference/<file>.py; none where the build found no NumPy.
std::vector<Reference> references(const std::string& file);

/// Boxes and numbers within 1e-3 (of pixels, and of values), masks of IoU 0.99.
void expect_same(const Answer& answer, const nlohmann::json& expected);

/// Decodes each case of the file, and expects what NumPy found; again, and no memory is
/// allocated. Skips the test without NumPy.
void expect_references(const std::string& file);

}  // namespace npu::vision
