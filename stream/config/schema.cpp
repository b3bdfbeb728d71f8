// The JSON schema of the file, for editors: made from the table of keys.
#include "config.hpp"
#include "keys.hpp"

namespace npustream {
namespace {

Json schema_of(Scope scope);

Json places(std::size_t fewest, std::size_t most) {
  const Json coordinate = {{"type", "number"}, {"minimum", 0}, {"maximum", 1}};
  const Json point = {{"type", "array"}, {"items", coordinate}, {"minItems", 2}, {"maxItems", 2}};
  const Json points = {
      {"type", "array"}, {"items", point}, {"minItems", fewest}, {"maxItems", most}};
  const Json place = {
      {"type", "object"},
      {"properties", {{"name", {{"type", "string"}, {"minLength", 1}}}, {"points", points}}},
      {"required", Json::array({"name", "points"})},
      {"additionalProperties", false}};
  return {{"type", "array"}, {"items", place}, {"maxItems", 256}};
}

Json number(const Key& key) {
  return {{"type", key.kind == Kind::kInteger ? "integer" : "number"},
          {"minimum", key.least},
          {"maximum", key.most}};
}

Json either(Json one, Json other) {
  return {{"anyOf", Json::array({std::move(one), std::move(other)})}};
}

Json type_of(const Key& key) {
  const Json text = {{"type", "string"}, {"minLength", 1}};
  const Json boolean = {{"type", "boolean"}};
  switch (key.kind) {
    case Kind::kText:
    case Kind::kPath:
    case Kind::kAddress:
      return text;
    case Kind::kInteger:
    case Kind::kNumber:
      return number(key);
    case Kind::kBoolean:
      return boolean;
    case Kind::kChoice:
      return {{"enum", key.choices}};
    case Kind::kTexts:
      return either({{"type", "array"}, {"items", text}}, text);
    case Kind::kZones:
      return places(3, 1024);
    case Kind::kLines:
      return places(2, 2);
    case Kind::kMap:
      return schema_of(key.scope);
    case Kind::kMapOrText:
      return either(text, schema_of(key.scope));
    case Kind::kMapOrBoolean:
      return either(boolean, schema_of(key.scope));
  }
  return Json::object();
}

Json schema_of(Scope scope) {
  Json properties = Json::object();
  for (const Key& key : keys_of(scope)) {
    Json property = type_of(key);
    property["description"] = key.help;
    if (key.value_if_missing) {
      property["default"] = Json::parse(key.value_if_missing);
    }
    properties[key.name] = std::move(property);
  }
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

}  // namespace

Json config_schema() {
  Json stream = schema_of(Scope::kStream), model = schema_of(Scope::kModel);
  stream["required"] = Json::array({"id", "source"});
  model["required"] = Json::array({"model"});
  Json definitions = {{"stream", stream},
                      {"model", model},
                      {"server", schema_of(Scope::kServer)},
                      {"defaults", schema_of(Scope::kDefaults)}};
  const auto reference = [](const char* name) {
    return Json{{"$ref", std::string("#/$defs/") + name}};
  };
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "npu-stream"},
          {"type", "object"},
          {"properties",
           {{"server", reference("server")},
            {"models", {{"type", "object"}, {"additionalProperties", reference("model")}}},
            {"defaults", reference("defaults")},
            {"streams", {{"type", "array"}, {"items", reference("stream")}}}}},
          {"additionalProperties", false},
          {"$defs", std::move(definitions)}};
}

}  // namespace npustream
