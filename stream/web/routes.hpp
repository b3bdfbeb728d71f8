// The table of what can be asked for, and the answers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "run/fleet.hpp"

#include "access.hpp"

namespace npustream::web {

struct Request {
  std::string method, path, body, content_type;
  std::map<std::string, std::string> query;
  Credentials credentials;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string file = {};  // instead of the body: a path
};

/// Needed to answer.
struct Context {
  Fleet& fleet;
  const Access& access;
  std::function<void()> on_reload;
};

/// kPublic answers everyone. kLogin needs the right site, kToken the token also where the Host is
/// unknown to us.
enum class Guard { kPublic, kLogin, kToken };
/// kPicture and kVideo go on after the first answer: the server sends them.
enum class Body { kWhole, kPicture, kVideo };

using Arguments = std::vector<std::string>;  // one for each {name} in the path

struct Route {
  const char* method;
  const char* path;
  const char* summary;
  Guard guard = Guard::kToken;
  Body body = Body::kWhole;
  const char* type = "application/json";  // of a good answer
  int status = 200;                       // likewise
  const char* schema = nullptr;           // of the request, in #/components/schemas
  const char* gives = nullptr;            // likewise of a good answer; null: some JSON
  const char* list = nullptr;             // the answer has a list of them under this key
  bool is_edit = false;                   // of the file
  std::vector<std::pair<const char*, const char*>> query =
      {};  // name, meaning; all are whole numbers
  std::function<Response(const Context&, const Request&, const Arguments&)> answer = {};
};

const std::vector<Route>& routes();

struct Match {
  const Route* route = nullptr;
  Arguments arguments;
  std::string allowed;  // methods of that path, if the method was wrong
};
Match find_route(const std::string& method, const std::string& path);

/// The guard's refusal; status 200: it lets the request through.
Response refusal(const Context& context, const Route& route, const Request& request);
Response answer(const Context& context, const Match& match, const Request& request);
Response error_response(int status, const std::string& text, const std::string& path = "");

/// A width that many viewers share: the next of 320, 640, 1280 and 1920; 0 for the frame's own.
/// Throws BadRequest where it is no number.
int width_of(const Request& request);
class BadRequest : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// OpenAPI 3.1 of the routes.
Json openapi();

/// The page, and what it may do.
const std::string& page();
const std::string& page_policy();

}  // namespace npustream::web
