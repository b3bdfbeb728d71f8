#include "shape_options.hpp"

#include <charconv>

#include <npucore/error.hpp>

namespace {

using npu::Error;
using npu::ErrorCode;

std::int64_t dimension(const std::string& entry, const std::string& number) {
  std::int64_t value = 0;
  const char* end = number.data() + number.size();
  const auto [stopped, failed] = std::from_chars(number.data(), end, value);
  if (failed == std::errc() && stopped == end && value > 0) return value;
  throw Error(ErrorCode::kInvalidArgument,
              "--reshape needs NAME=N,N,... with whole numbers above 0, not '" + entry + "'");
}

npu::Shape shape_from(const std::string& entry, std::string numbers) {
  if (numbers.size() > 1 && numbers.front() == '[' && numbers.back() == ']') {
    numbers = numbers.substr(1, numbers.size() - 2);
  }
  npu::Shape shape;
  std::size_t at = 0;
  do {
    const auto comma = std::min(numbers.find(',', at), numbers.size());
    shape.push_back(dimension(entry, numbers.substr(at, comma - at)));
    at = comma + 1;
  } while (at <= numbers.size());
  return shape;
}

}  // namespace

void reshape(npu::Model& model, const std::vector<std::string>& entries) {
  if (entries.empty()) return;
  std::map<std::string, npu::Shape> shapes;
  for (const auto& entry : entries) {
    const auto equals = entry.find('=');
    if (equals != std::string::npos) {
      shapes[entry.substr(0, equals)] = shape_from(entry, entry.substr(equals + 1));
    } else if (model.inputs().size() == 1) {
      shapes[model.inputs().front().name] = shape_from(entry, entry);
    } else {
      throw Error(ErrorCode::kInvalidArgument, "--reshape needs NAME=N,N,... for a model with " +
                                                   std::to_string(model.inputs().size()) +
                                                   " inputs, not '" + entry + "'");
    }
  }
  model.reshape(shapes);
}
