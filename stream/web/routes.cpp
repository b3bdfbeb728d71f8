#include "routes.hpp"

#include <charconv>
#include <filesystem>
#include <sstream>

#include "run/launch_line.hpp"

#include "allowed.hpp"
#include "metrics.hpp"

namespace npustream::web {
namespace {

Response json(const Json& value, int status = 200) {
  return {
      status, "application/json", value.dump(-1, ' ', false, Json::error_handler_t::replace), {}};
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream stream(path);
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  if (!path.empty() && path.back() == '/') {
    parts.emplace_back();
  }
  return parts;
}

bool matches(const char* pattern, const std::vector<std::string>& parts, Arguments& arguments) {
  const std::vector<std::string> wanted = parts_of(pattern);
  if (wanted.size() != parts.size()) return false;
  arguments.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].empty() && wanted[i].front() == '{') {
      arguments.push_back(parts[i]);
    } else if (wanted[i] != parts[i]) {
      return false;
    }
  }
  return true;
}

std::uint64_t whole_number(const std::string& text, const char* name) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    throw BadRequest(std::string(name) + ": '" + text + "' is not a whole number from 0");
  }
  return value;
}

std::uint64_t query_number(const Request& request, const char* name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? 0 : whole_number(found->second, name);
}

Json body_of(const Request& request) {
  if (request.content_type.rfind("application/json", 0) != 0) {
    throw BadRequest("send JSON with the header Content-Type: application/json");
  }
  // Nested deeper than any key of a stream: refused before the parser builds it.
  constexpr int kDeepest = 16;
  Json value = Json::parse(
      request.body,
      [](int depth, Json::parse_event_t, Json&) {
        if (depth > kDeepest) throw BadRequest("the JSON is nested more than 16 deep");
        return true;
      },
      false);
  if (value.is_discarded()) throw BadRequest("the body is not JSON");
  return value;
}

Json stream_json(const StreamSnapshot& stream) {
  Json value = to_json(stream);
  for (const char* key : {"error", "cure", "launch"})
    value[key] = without_passwords(value[key].get<std::string>());
  if (value["source"].is_object()) {
    for (auto& entry : value["source"]) {
      if (entry.is_string()) {
        entry = without_passwords(entry.get<std::string>());
      }
    }
  }
  return value;
}

Response get_streams(const Context& context, const Request&, const Arguments&) {
  Json list = Json::array();
  for (const StreamSnapshot& stream : context.fleet.streams()) list.push_back(stream_json(stream));
  return json({{"streams", std::move(list)}});
}

Response post_stream(const Context& context, const Request& request, const Arguments&) {
  const Json stream = body_of(request);
  check_allowed(stream, context.fleet.config().file);
  context.fleet.add(stream);
  const std::string id = stream.at("id").get<std::string>();
  Response response = json(stream_json(context.fleet.stream(id)), 201);
  response.headers.emplace_back("Location", "/api/streams/" + id);
  return response;
}

Response get_stream(const Context& context, const Request&, const Arguments& arguments) {
  return json(stream_json(context.fleet.stream(arguments[0])));
}

Response patch_stream(const Context& context, const Request& request, const Arguments& arguments) {
  const Json changes = body_of(request);
  check_allowed(changes, context.fleet.config().file);
  context.fleet.stream(arguments[0]);  // NotFound before other errors
  context.fleet.change(arguments[0], changes);
  const bool renamed = changes.contains("id") && changes["id"].is_string();
  return json(
      stream_json(context.fleet.stream(renamed ? changes["id"].get<std::string>() : arguments[0])));
}

Response delete_stream(const Context& context, const Request&, const Arguments& arguments) {
  context.fleet.remove(arguments[0]);
  return {204, "", "", {}};
}

Response get_objects(const Context& context, const Request&, const Arguments& arguments) {
  return json(context.fleet.objects(arguments[0]));
}

Response get_models(const Context& context, const Request&, const Arguments&) {
  Json names = Json::array();
  const Json& models = context.fleet.config().models;
  if (models.is_object()) {
    for (const auto& entry : models.items()) names.push_back({{"name", entry.key()}});
  }
  return json({{"models", names}});
}

Response get_device(const Context& context, const Request&, const Arguments&) {
  Json list = Json::array();
  for (const DeviceReading& device : context.fleet.devices()) list.push_back(to_json(device));
  return json({{"devices", list}});
}

Response get_events(const Context& context, const Request& request, const Arguments&) {
  Json list = Json::array();
  for (const Event& event : context.fleet.events(query_number(request, "after"))) {
    Json value = to_json(event);
    value["text"] = without_passwords(value["text"].get<std::string>());
    list.push_back(std::move(value));
  }
  return json({{"events", list}});
}

Event event_of(const Context& context, const std::string& text) {
  const std::uint64_t number = whole_number(text, "event");
  if (number == 0) throw NotFound("event 0: they count from 1");
  const std::vector<Event> events = context.fleet.events(number - 1);
  if (events.empty() || events.front().number != number) {
    throw NotFound("event " + text + ": the last 200 are kept");
  }
  return events.front();
}

Response get_event_picture(const Context& context, const Request&, const Arguments& arguments) {
  const Event event = event_of(context, arguments[0]);
  if (!event.picture) throw NotFound("event " + arguments[0] + " has no picture");
  return {200, "image/jpeg", event.picture->jpeg, {}};
}

Response get_event_clip(const Context& context, const Request&, const Arguments& arguments) {
  const Event event = event_of(context, arguments[0]);
  if (event.clip.empty()) throw NotFound("event " + arguments[0] + " has no clip");
  const auto folder = std::filesystem::path(context.fleet.config().file).parent_path();
  const std::filesystem::path file = folder / event.clip;
  if (!std::filesystem::is_regular_file(file)) {
    throw NotFound(event.clip + " is not kept any more");
  }
  return {.type = "video/x-matroska",
          .headers = {{"Content-Disposition", "inline; filename=" + file.filename().string()}},
          .file = file};
}

Response post_reload(const Context& context, const Request&, const Arguments&) {
  context.on_reload();
  return {204, "", "", {}};
}

Response post_login(const Context& context, const Request& request, const Arguments&) {
  const Json body = body_of(request);
  const bool is_right = body.is_object() && body.contains("token") && body["token"].is_string() &&
                        context.access.is_token(body["token"]);
  if (!is_right) return error_response(401, "This token is wrong.");
  return {204, "", "", {{"Set-Cookie", context.access.cookie()}}};
}

Response post_logout(const Context&, const Request&, const Arguments&) {
  return {204, "", "", {{"Set-Cookie", Access::no_cookie()}}};
}

Response get_openapi(const Context&, const Request&, const Arguments&) {
  return json(openapi());
}
Response get_schema(const Context&, const Request&, const Arguments&) {
  return json(config_schema());
}

Response get_metrics(const Context& context, const Request&, const Arguments&) {
  return {200, kMetricsType, metrics(context.fleet.streams(), context.fleet.devices()), {}};
}

Response get_healthz(const Context&, const Request&, const Arguments&) {
  return {200, "text/plain; charset=utf-8", "alive\n", {}};
}

Response get_readyz(const Context& context, const Request&, const Arguments&) {
  const bool ready = context.fleet.is_ready();
  return {ready ? 200 : 503,
          "text/plain; charset=utf-8",
          ready ? "ready\n" : "streams are starting\n",
          {}};
}

Response get_page(const Context&, const Request&, const Arguments&) {
  return {200, "text/html; charset=utf-8", page(), {{"Content-Security-Policy", page_policy()}}};
}

std::vector<Route> all_routes() {
  constexpr const char* kJpeg = "image/jpeg";
  constexpr const char* kText = "text/plain; charset=utf-8";
  const std::pair<const char*, const char*> width = {
      "width", "pixels, rounded up to 320, 640, 1280 or 1920; 0 or none: the frame's own"};
  return {
      {.method = "GET",
       .path = "/api/streams",
       .summary = "All streams, with what they are doing",
       .gives = "StreamState",
       .list = "streams",
       .answer = get_streams},
      {.method = "POST",
       .path = "/api/streams",
       .summary = "Add a stream, and write it to the file",
       .status = 201,
       .schema = "Stream",
       .gives = "StreamState",
       .is_edit = true,
       .answer = post_stream},
      {.method = "GET",
       .path = "/api/streams/{id}",
       .summary = "One stream",
       .gives = "StreamState",
       .answer = get_stream},
      {.method = "PATCH",
       .path = "/api/streams/{id}",
       .summary = "Change keys of a stream, at once and in the file; null removes a key",
       .schema = "Changes",
       .gives = "StreamState",
       .is_edit = true,
       .answer = patch_stream},
      {.method = "DELETE",
       .path = "/api/streams/{id}",
       .summary = "Remove a stream, at once and from the file",
       .type = "",
       .status = 204,
       .is_edit = true,
       .answer = delete_stream},
      {.method = "GET",
       .path = "/api/streams/{id}/picture.jpg",
       .summary = "The latest picture",
       .body = Body::kPicture,
       .type = kJpeg,
       .query = {width}},
      {.method = "GET",
       .path = "/api/streams/{id}/video.mjpeg",
       .summary = "Pictures as they come",
       .body = Body::kVideo,
       .type = "multipart/x-mixed-replace",
       .query = {width}},
      {.method = "GET",
       .path = "/api/streams/{id}/objects",
       .summary = "What was found in the latest frame",
       .answer = get_objects},
      {.method = "GET",
       .path = "/api/models",
       .summary = "The models of the file",
       .answer = get_models},
      {.method = "GET",
       .path = "/api/device",
       .summary = "Readings of the NPUs",
       .gives = "Device",
       .list = "devices",
       .answer = get_device},
      {.method = "GET",
       .path = "/api/events",
       .summary = "The last 200 events",
       .gives = "Event",
       .list = "events",
       .query = {{"after", "only events with a higher number"}},
       .answer = get_events},
      {.method = "GET",
       .path = "/api/events/{number}/picture.jpg",
       .summary = "The picture of an event",
       .type = kJpeg,
       .answer = get_event_picture},
      {.method = "GET",
       .path = "/api/events/{number}/clip.mkv",
       .summary = "The clip of an event of kind recorded",
       .type = "video/x-matroska",
       .answer = get_event_clip},
      {.method = "POST",
       .path = "/api/reload",
       .summary = "Read the file again",
       .type = "",
       .status = 204,
       .answer = post_reload},
      {.method = "POST",
       .path = "/api/login",
       .summary = "Exchange the token for a cookie",
       .guard = Guard::kLogin,
       .type = "",
       .status = 204,
       .schema = "Login",
       .answer = post_login},
      {.method = "POST",
       .path = "/api/logout",
       .summary = "Forget the cookie",
       .guard = Guard::kLogin,
       .type = "",
       .status = 204,
       .answer = post_logout},
      {.method = "GET",
       .path = "/api/openapi.json",
       .summary = "This description",
       .answer = get_openapi},
      {.method = "GET",
       .path = "/api/schema.json",
       .summary = "JSON schema of the file",
       .answer = get_schema},
      {.method = "GET",
       .path = "/metrics",
       .summary = "Counters for Prometheus",
       .type = "application/openmetrics-text",
       .answer = get_metrics},
      {.method = "GET",
       .path = "/healthz",
       .summary = "200 while the process answers",
       .guard = Guard::kPublic,
       .type = kText,
       .answer = get_healthz},
      {.method = "GET",
       .path = "/readyz",
       .summary = "200 once all streams were started, else 503",
       .guard = Guard::kPublic,
       .type = kText,
       .answer = get_readyz},
      {.method = "GET",
       .path = "/",
       .summary = "The page",
       .guard = Guard::kLogin,
       .type = "text/html; charset=utf-8",
       .answer = get_page},
  };
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> all = all_routes();
  return all;
}

Match find_route(const std::string& method, const std::string& path) {
  Match match;
  const std::vector<std::string> parts = parts_of(path);
  Arguments arguments;
  for (const Route& route : routes()) {
    if (!matches(route.path, parts, arguments)) continue;
    if (method == route.method) return {&route, arguments, ""};
    match.allowed += (match.allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return match;
}

Response error_response(int status, const std::string& text, const std::string& path) {
  Json value = {{"error", text}};
  if (!path.empty()) {
    value["path"] = path;
  }
  return json(value, status);
}

Response refusal(const Context& context, const Route& route, const Request& request) {
  if (route.guard == Guard::kPublic) return {};
  const Access& access = context.access;
  const Verdict verdict = route.guard == Guard::kToken ? access.judge(request.credentials)
                                                       : access.judge_site(request.credentials);
  switch (verdict) {
    case Verdict::kAllowed:
      return {};
    case Verdict::kWrongHost:
      return error_response(
          403, "The host '" + request.credentials.host +
                   "' is not this machine's loopback address. Ask 127.0.0.1 or localhost, or " +
                   "set server.token-file.");
    case Verdict::kOtherSite:
      return error_response(403, "A page of another site asked for this.");
    case Verdict::kNoToken:
      break;
  }
  Response response = error_response(401,
                                     "The token is missing or wrong. Send it as 'Authorization: "
                                     "Bearer TOKEN', or log in on the page.");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

Response answer(const Context& context, const Match& match, const Request& request) {
  try {
    return match.route->answer(context, request, match.arguments);
  } catch (const ConfigError& error) {
    const Problem& first = error.problems().front();
    Response response = error_response(400, without_passwords(first.message), first.path);
    return response;
  } catch (const NotFound& error) {
    return error_response(404, error.what());
  } catch (const Conflict& error) {
    return error_response(409, error.what());
  } catch (const BadRequest& error) {
    return error_response(400, error.what());
  } catch (const std::exception& error) {
    return error_response(500, without_passwords(error.what()));
  }
}

int width_of(const Request& request) {
  const std::uint64_t asked = query_number(request, "width");
  if (asked == 0) return 0;
  for (const int step : {320, 640, 1280, 1920}) {
    if (asked <= static_cast<std::uint64_t>(step)) return step;
  }
  return 0;
}

}  // namespace npustream::web
