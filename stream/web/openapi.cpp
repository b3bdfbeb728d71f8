// The description of REST: made from the table of routes and the schema of the file.
#include "routes.hpp"

namespace npustream::web {
namespace {

/// Of {id} and {number}, in a path.
Json path_parameters(const std::string& path) {
  Json list = Json::array();
  for (std::size_t at = path.find('{'); at != std::string::npos; at = path.find('{', at + 1)) {
    const std::string name = path.substr(at + 1, path.find('}', at) - at - 1);
    list.push_back({{"name", name},
                    {"in", "path"},
                    {"required", true},
                    {"schema", {{"type", name == "number" ? "integer" : "string"}}}});
  }
  return list;
}

Json content(const std::string& type, const Json& schema) {
  return {{type.substr(0, type.find(';')), {{"schema", schema}}}};
}

Json reference(const std::string& schema) {
  return {{"$ref", "#/components/schemas/" + schema}};
}

Json schema_of(const Route& route) {
  if (std::string(route.type) != "application/json") return {{"type", "string"}};
  if (!route.gives) return {{"type", "object"}};
  if (!route.list) return reference(route.gives);
  const Json list = {{"type", "array"}, {"items", reference(route.gives)}};
  return {{"type", "object"},
          {"properties", {{route.list, list}}},
          {"required", Json::array({route.list})}};
}

Json failure(const char* why) {
  return {{"description", why}, {"content", content("application/json", reference("Error"))}};
}

Json operation(const Route& route) {
  Json value = {{"summary", route.summary}};
  Json parameters = path_parameters(route.path);
  for (const auto& [name, meaning] : route.query) {
    parameters.push_back({{"name", name},
                          {"in", "query"},
                          {"description", meaning},
                          {"schema", {{"type", "integer"}, {"minimum", 0}}}});
  }
  if (!parameters.empty()) {
    value["parameters"] = parameters;
  }
  if (route.schema) {
    value["requestBody"] = {{"required", true},
                            {"content", content("application/json", reference(route.schema))}};
  }
  Json good = {{"description", "done"}};
  if (*route.type) {
    good["content"] = content(route.type, schema_of(route));
  }
  Json responses = {{std::to_string(route.status), good}};
  if (route.guard != Guard::kPublic) {
    responses["403"] = failure("the Host is unknown, or another site's page asked");
  }
  if (route.guard == Guard::kToken) {
    responses["401"] = failure("the token is missing or wrong");
  }
  if (route.guard == Guard::kPublic) {
    value["security"] = Json::array();
  }
  if (route.schema || !route.query.empty()) {
    responses["400"] = failure("what was sent is wrong; path says where");
  }
  if (std::string(route.path).find('{') != std::string::npos) {
    responses["404"] = failure("there is none of that name");
  }
  if (route.is_edit) {
    responses["409"] = failure("the file has changed since it was read: reload it first");
  }
  value["responses"] = responses;
  return value;
}

}  // namespace

Json openapi() {
  Json stream = config_schema().at("$defs").at("stream");
  Json changes = stream;
  changes.erase("required");
  // null removes a key.
  for (auto& property : changes["properties"])
    property = {{"anyOf", Json::array({property, {{"type", "null"}}})}};
  Json paths = Json::object();
  for (const Route& route : routes()) {
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(c + ('a' - 'A'));
    paths[route.path][method] = operation(route);
  }
  const Json error = {
      {"type", "object"},
      {"properties", {{"error", {{"type", "string"}}}, {"path", {{"type", "string"}}}}},
      {"required", Json::array({"error"})}};
  const Json login = {{"type", "object"},
                      {"properties", {{"token", {{"type", "string"}}}}},
                      {"required", Json::array({"token"})}};
  Json schemas = {{"Stream", stream}, {"Changes", changes}, {"Login", login}, {"Error", error}};
  schemas.update(snapshot_schemas());
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "npu-stream"}, {"version", "1"}}},
          {"security", Json::array({{{"token", Json::array()}}, Json::object()})},
          {"paths", paths},
          {"components",
           {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}},
            {"schemas", schemas}}}};
}

}  // namespace npustream::web
