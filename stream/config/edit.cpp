#include "edit.hpp"

#include <glib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "check.hpp"
#include "yaml.hpp"

namespace npustream {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool has_content(const std::string& line) {
  const std::size_t at = line.find_first_not_of(" \t\r");
  return at != std::string::npos && line[at] != '#';
}

/// Where a line's comment begins, with the blanks before it; npos: it has none.
std::size_t comment_of(const std::string& line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_escaped = quote == '"' && line[i] == '\\';
    if (is_escaped) {
      ++i;
    } else if (quote) {
      quote = line[i] == quote ? '\0' : quote;
    } else if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      const std::size_t last = line.find_last_not_of(" \t", i == 0 ? 0 : i - 1);
      return last == std::string::npos || last >= i ? 0 : last + 1;
    } else if ((line[i] == '"' || line[i] == '\'') &&
               (i == 0 || std::strchr(" [{,:", line[i - 1]))) {
      quote = line[i];
    }
  }
  return std::string::npos;
}

/// Lines from `begin` to before `end`.
struct Extent {
  std::size_t begin = 0, end = 0;
};

/// The lines of what begins at `begin` and is indented deeper than `indent`. Comments and blanks
/// behind it are the next one's.
Extent extent_of(const Lines& lines, std::size_t begin, std::size_t indent,
                 bool has_items_at_indent) {
  std::size_t end = begin + 1, at = begin + 1;
  for (; at < lines.size(); ++at) {
    if (!has_content(lines[at])) continue;
    const std::size_t here = indent_of(lines[at]);
    const bool is_item =
        has_items_at_indent && here == indent && lines[at].compare(here, 1, "-") == 0;
    if (here <= indent && !is_item) break;
    end = at + 1;
  }
  return {begin, end};
}

void replace(Lines* lines, const Extent& extent, const std::string& text) {
  const Lines with = text.empty() ? Lines() : lines_of(text);
  lines->erase(lines->begin() + static_cast<std::ptrdiff_t>(extent.begin),
               lines->begin() + static_cast<std::ptrdiff_t>(extent.end));
  lines->insert(lines->begin() + static_cast<std::ptrdiff_t>(extent.begin), with.begin(),
                with.end());
}

/// A key with its value, behind `indent` blanks.
std::string entry(const std::string& key, const Json& value, std::size_t indent) {
  const Json one = {{key, value}};
  return std::string(indent, ' ') + to_yaml(one, static_cast<int>(indent));
}

std::string item(const Json& stream, std::size_t indent) {
  return std::string(indent, ' ') + "- " + to_yaml(stream, static_cast<int>(indent) + 2);
}

class Editor {
 public:
  Editor(const std::string& yaml, const std::string& file) : lines_(lines_of(yaml)) {
    document_ = parse_yaml(yaml, file, &marks_);
    check(&document_, marks_);
  }

  /// False: the list of streams is not one item below the other.
  bool add(const Json& stream);
  bool change(std::size_t index, const Json& changes);
  bool remove(std::size_t index);
  /// False: comments would be lost.
  bool rewrite_streams(const Json& streams);
  std::string text() const { return text_of(lines_); }
  const Json& document() const { return document_; }

 private:
  bool is_block() const;
  std::size_t line_of(const std::string& path) const {
    return static_cast<std::size_t>(marks_.at(path).line - 1);
  }
  std::size_t column_of(const std::string& path) const {
    return static_cast<std::size_t>(marks_.at(path).column - 1);
  }
  Extent item_extent(std::size_t index) const;
  bool replace_item(std::size_t index, const Extent& whole, const Json& changes);

  Lines lines_;
  Json document_;
  Marks marks_;
};

bool Editor::is_block() const {
  if (document_["streams"].empty()) return false;
  for (std::size_t i = 0; i < document_["streams"].size(); ++i) {
    const std::string& line = lines_[line_of(child("streams", i))];
    if (line.compare(indent_of(line), 2, "- ") != 0) return false;
  }
  return true;
}

Extent Editor::item_extent(std::size_t index) const {
  const std::size_t begin = line_of(child("streams", index));
  return extent_of(lines_, begin, indent_of(lines_[begin]), false);
}

bool Editor::add(const Json& stream) {
  if (!is_block()) return false;
  const Extent last = item_extent(document_["streams"].size() - 1);
  replace(&lines_, {last.end, last.end}, item(stream, indent_of(lines_[last.begin])));
  return true;
}

bool Editor::remove(std::size_t index) {
  if (!is_block() || document_["streams"].size() == 1) return false;
  replace(&lines_, item_extent(index), "");
  return true;
}

/// A comment behind an item of one line goes above it.
bool Editor::replace_item(std::size_t index, const Extent& whole, const Json& changes) {
  const std::string& line = lines_[whole.begin];
  const std::size_t indent = indent_of(line), comment = comment_of(line);
  for (std::size_t i = whole.begin + 1; i < whole.end; ++i) {
    if (comment_of(lines_[i]) != std::string::npos) return false;
  }
  std::string text;
  if (comment != std::string::npos) {
    if (whole.end > whole.begin + 1) return false;
    text = std::string(indent, ' ') + line.substr(line.find('#', comment)) + "\n";
  }
  text += item(with_changed(document_, index, changes)["streams"][index], indent);
  replace(&lines_, whole, text);
  return true;
}

bool Editor::change(std::size_t index, const Json& changes) {
  if (!is_block()) return false;
  const Extent whole = item_extent(index);
  const std::string path = child("streams", index);
  const Json& stream = document_["streams"][index];
  const std::string first = stream.begin().key();
  const std::size_t column = column_of(child(path, first));
  const bool is_flow = lines_[whole.begin].find('{') < column;
  if (is_flow || changes.contains(first)) return replace_item(index, whole, changes);
  std::vector<std::pair<Extent, std::string>> edits;
  for (const auto& [key, value] : changes.items()) {
    const std::string text = value.is_null() ? "" : entry(key, value, column);
    if (stream.contains(key)) {
      const Extent extent = extent_of(lines_, line_of(child(path, key)), column, true);
      const std::string& old = lines_[extent.begin];
      const std::size_t comment = comment_of(old);
      const bool keeps = extent.end == extent.begin + 1 && comment != std::string::npos &&
                         !text.empty() && text.find('\n') == std::string::npos;
      edits.push_back({extent, keeps ? text + old.substr(comment) : text});
    } else if (!text.empty()) {
      edits.push_back({{whole.end, whole.end}, text});
    }
  }
  std::stable_sort(edits.begin(), edits.end(), [](const auto& one, const auto& other) {
    return one.first.begin > other.first.begin;
  });
  for (const auto& [extent, text] : edits) replace(&lines_, extent, text);
  return true;
}

bool Editor::rewrite_streams(const Json& streams) {
  const bool is_there = marks_.contains("streams");
  const std::size_t begin = is_there ? line_of("streams") : lines_.size();
  const Extent extent = is_there ? extent_of(lines_, begin, 0, true) : Extent{begin, begin};
  for (std::size_t i = extent.begin; i < extent.end; ++i) {
    if (comment_of(lines_[i]) != std::string::npos) return false;
  }
  replace(&lines_, extent, entry("streams", streams, 0));
  return true;
}

/// Regardless of the order of keys.
bool is_same(const Json& one, const Json& other) {
  return nlohmann::json::parse(one.dump()) == nlohmann::json::parse(other.dump());
}

bool says(const std::string& yaml, const std::string& file, const Json& wanted) {
  try {
    Marks marks;
    Json document = parse_yaml(yaml, file, &marks);
    return check(&document, marks).empty() && is_same(document, wanted);
  } catch (const ConfigError&) {
    return false;
  }
}

/// The smallest edit that gives the wanted document.
template <typename Edit>
std::string edited(const std::string& yaml, const std::string& file, const Json& wanted,
                   Edit&& edit) {
  Editor small(yaml, file);
  if (edit(small) && says(small.text(), file, wanted)) return small.text();
  Editor large(yaml, file);
  const bool is_large_good =
      large.rewrite_streams(wanted["streams"]) && says(large.text(), file, wanted);
  if (is_large_good) return large.text();
  throw std::runtime_error(file +
                           " has a form that cannot be edited here without the loss of comments: "
                           "change it in an editor, then reload");
}

Json document_of(const std::string& yaml, const std::string& file) {
  return Editor(yaml, file).document();
}

}  // namespace

Json with_changed(Json document, std::size_t index, const Json& changes) {
  Json& stream = document["streams"][index];
  for (const auto& [key, value] : changes.items()) {
    if (value.is_null()) {
      stream.erase(key);
    } else {
      stream[key] = value;
    }
  }
  return document;
}

std::string yaml_with_added(const std::string& yaml, const std::string& file, const Json& stream) {
  Json wanted = document_of(yaml, file);
  wanted["streams"].push_back(stream);
  check(&wanted, {});
  return edited(yaml, file, wanted, [&](Editor& editor) { return editor.add(stream); });
}

std::string yaml_with_changed(const std::string& yaml, const std::string& file, std::size_t index,
                              const Json& changes) {
  Json wanted = with_changed(document_of(yaml, file), index, changes);
  check(&wanted, {});
  return edited(yaml, file, wanted, [&](Editor& editor) { return editor.change(index, changes); });
}

std::string yaml_with_removed(const std::string& yaml, const std::string& file, std::size_t index) {
  Json wanted = document_of(yaml, file);
  wanted["streams"].erase(index);
  return edited(yaml, file, wanted, [&](Editor& editor) { return editor.remove(index); });
}

void replace_file(const std::string& path, const std::string& text) {
  // A link stays one: what it points at is replaced.
  char* const resolved = ::realpath(path.c_str(), nullptr);
  const std::string target = resolved ? resolved : path;
  std::free(resolved);
  constexpr mode_t kOwner = 0600;  // until it has the mode of the file before
  struct stat status = {};
  const bool is_there = ::stat(target.c_str(), &status) == 0;
  constexpr auto kWhole = static_cast<GFileSetContentsFlags>(G_FILE_SET_CONTENTS_CONSISTENT |
                                                             G_FILE_SET_CONTENTS_DURABLE);
  GError* error = nullptr;
  if (!g_file_set_contents_full(target.c_str(), text.data(), static_cast<gssize>(text.size()),
                                kWhole, kOwner, &error)) {
    const std::string why = error->message;
    g_error_free(error);
    throw std::runtime_error(target + " cannot be written: " + why);
  }
  if (is_there && ::chmod(target.c_str(), status.st_mode & 07777) != 0) {
    throw std::runtime_error(target + " cannot have its mode back: " + std::strerror(errno));
  }
}

}  // namespace npustream
