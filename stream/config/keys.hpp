// The table of all keys: what checks a file, fills in defaults and makes the JSON schema.
#pragma once

#include <string>
#include <vector>

namespace npustream {

enum class Kind {
  kText,
  kPath,     // relative ones count from the file's folder
  kAddress,  // npupublish's location: a path, or an address with "://" or "unix:" and so on
  kInteger,
  kNumber,
  kBoolean,
  kChoice,
  kTexts,  // a list of texts, or one text with commas
  kZones,
  kLines,
  kMap,           // keys of another scope
  kMapOrText,     // a text stands for the scope's first key
  kMapOrBoolean,  // true: the scope's defaults
};

enum class Scope {
  kFile,
  kServer,
  kModel,
  kStream,
  kDefaults,
  kSource,
  kCrop,
  kTrack,
  kCount,
  kOverlay,
  kRecord,
  kPublish
};

struct Key {
  const char* name;
  Kind kind;
  const char* help;
  double least = 0, most = 0;        // numbers
  std::vector<const char*> choices;  // kChoice
  Scope scope = Scope::kFile;        // maps
  /// The element whose property has this name: the launch line sets it as it stands.
  const char* element = nullptr;
  const char* value_if_missing =
      nullptr;  // JSON, for the schema and the help; null: the element's own
};

/// In the order of the documentation. kDefaults has the keys of kStream that several streams can
/// share.
const std::vector<Key>& keys_of(Scope scope);
/// Null: no such key.
const Key* find_key(Scope scope, const std::string& name);
/// The known key that is most like `name`; empty: none is.
std::string nearest_key(Scope scope, const std::string& name);
std::string nearest(const std::vector<std::string>& known, const std::string& name);

}  // namespace npustream
