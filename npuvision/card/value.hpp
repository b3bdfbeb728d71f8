#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <npucore/error.hpp>

#include "tree.hpp"

namespace npu::vision {

/// A value of a foreign file, and the place to name in errors. All readers throw
/// Error(kInvalidArgument) naming file and key where the value is something else. Borrows the tree
/// and the file's name.
class Value {
 public:
  /// kText: numbers and booleans are written as words, as in YAML and in an IR's model_info.
  enum class Scalars { kTyped, kText };

  Value(const Tree& tree, Scalars scalars, const std::string& place, std::string key = "")
      : tree_(&tree), scalars_(scalars), place_(&place), key_(std::move(key)) {}

  bool is_text() const { return tree_->is_string(); }
  bool is_map() const { return tree_->is_object(); }
  bool is_list() const { return tree_->is_array(); }

  /// A map's value; nullopt where the key is missing or has no value.
  std::optional<Value> find(const std::string& key) const;
  /// The same, also where the value is null: then its readers refuse it.
  std::optional<Value> find_even_null(const std::string& key) const;
  /// Looks up `inner` in the map at `key`.
  std::optional<Value> find(const std::string& key, const std::string& inner) const;
  std::vector<Value> items() const;                            ///< a list's
  std::vector<std::pair<std::string, Value>> entries() const;  ///< a map's

  std::string text() const;
  double number(double lowest, double highest) const;
  std::uint32_t whole(std::uint32_t lowest, std::uint32_t highest) const;
  bool flag() const;

  std::vector<std::string> texts(std::size_t most) const;
  /// Reads a list of numbers, or a single one.
  std::vector<float> numbers(double lowest, double highest, std::size_t most) const;
  /// Reads a list of lists of two whole numbers each.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(std::uint32_t lowest,
                                                             std::uint32_t highest) const;
  /// Reads numbers in one text, separated by blanks, commas or brackets: "[123.7, 116.3]".
  std::vector<float> numbers_in_text(double lowest, double highest, std::size_t most) const;
  /// Reads {0: "person", 1: "bicycle"}, or a list. Classes that the map leaves out get empty names.
  std::vector<std::string> labels() const;

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  Value inner(const Tree& tree, const std::string& key) const;
  double any_number() const;
  double number_of(const std::string& text) const;
  double checked(double value, double lowest, double highest) const;

  const Tree* tree_;
  Scalars scalars_;
  const std::string* place_;
  std::string key_;
};

/// Limits of a card's numbers.
struct CardLimits {
  static constexpr std::uint32_t kLabels = 65536;
  static constexpr std::uint32_t kObjects = 1000000;
  static constexpr std::uint32_t kKeyPoints = 1024;
  static constexpr std::uint32_t kPairs = 4096;    ///< in a list of pairs
  static constexpr std::uint32_t kPixels = 65536;  ///< a side of the input
  static constexpr std::size_t kChannels = 4;
  static constexpr std::size_t kAnchors = 256;  ///< numbers, two for each anchor
  static constexpr double kGreyLevels = 1e6;    ///< mean and scale
  static constexpr double kSmallScale = 1e-6;   ///< smallest divisor
  static constexpr double kLeastCropShare = 1e-3;
  static constexpr double kAnyNumber = 1e30;  ///< fits a float
};

/// In small letters.
std::string lower(std::string text);

}  // namespace npu::vision
