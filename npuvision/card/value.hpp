#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <npucore/error.hpp>

#include "tree.hpp"

namespace npu::vision {

/// One value of a file that others wrote, and the words for what is wrong with it. Everything that
/// reads it throws Error(kInvalidArgument) naming file and key where it is something else. The tree
/// and the name of the file are borrowed.
class Value {
 public:
  /// kText: numbers and yes or no are written out, as in YAML and in an IR's model_info.
  enum class Scalars { kTyped, kText };

  Value(const Tree& tree, Scalars scalars, const std::string& place, std::string key = "")
      : tree_(&tree), scalars_(scalars), place_(&place), key_(std::move(key)) {}

  bool is_text() const { return tree_->is_string(); }
  bool is_map() const { return tree_->is_object(); }
  bool is_list() const { return tree_->is_array(); }

  /// Of a map; nothing where it has no such key, or nobody gave it a value.
  std::optional<Value> find(const std::string& key) const;
  /// The same, key after key.
  std::optional<Value> find(const std::string& key, const std::string& inner) const;
  std::vector<Value> items() const;                            ///< of a list
  std::vector<std::pair<std::string, Value>> entries() const;  ///< of a map

  std::string text() const;
  double number(double lowest, double highest) const;
  std::uint32_t whole(std::uint32_t lowest, std::uint32_t highest) const;
  bool flag() const;

  std::vector<std::string> texts(std::size_t most) const;
  /// A list; a number alone is a list too.
  std::vector<float> numbers(double lowest, double highest, std::size_t most) const;
  /// A list of lists of two whole numbers each.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(std::uint32_t lowest,
                                                             std::uint32_t highest) const;
  /// Numbers in one text, with blanks, commas or brackets between them: "[123.7, 116.3]".
  std::vector<float> numbers_in_text(double lowest, double highest, std::size_t most) const;
  /// {0: "person", 1: "bicycle"}, or a list. Classes that the map leaves out have no name.
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

/// The numbers that a card may hold.
struct CardLimits {
  static constexpr std::uint32_t kLabels = 65536;
  static constexpr std::uint32_t kObjects = 1000000;
  static constexpr std::uint32_t kKeyPoints = 1024;
  static constexpr std::uint32_t kPairs = 4096;    ///< of a list of pairs
  static constexpr std::uint32_t kPixels = 65536;  ///< of a side of the input
  static constexpr std::size_t kChannels = 4;
  static constexpr std::size_t kAnchors = 256;  ///< numbers: two for each
  static constexpr double kGreyLevels = 1e6;    ///< mean and scale
  static constexpr double kSmallScale = 1e-6;   ///< what may be divided by
  static constexpr double kLeastCropShare = 1e-3;
  static constexpr double kAnyNumber = 1e30;  ///< a float has it
};

}  // namespace npu::vision
