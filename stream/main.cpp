// npu-stream: plays the streams of a file through models, and serves a page about them.
#include <glib-unix.h>
#include <gst/gst.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "config/config.hpp"
#include "run/fleet.hpp"
#include "run/labels.hpp"
#include "run/launch_line.hpp"
#include "tools/common/console.hpp"
#ifdef NPU_STREAM_HAVE_WEB
#include "web/server.hpp"
#endif

#include "notify.hpp"

namespace npustream {
namespace {

struct Arguments {
  std::string file;
  bool check = false, dry_run = false, schema = false;
};

/// `is_kept`: in a journal, say, where no password belongs.
void print_lines(const Config& config, bool is_kept) {
  for (const StreamConfig& stream : config.streams) {
    const std::string line = shell_text(launch_line(stream, config));
    std::cout << "# " << stream.id << "\ngst-launch-1.0 "
              << (is_kept ? without_passwords(line) : line) << "\n";
  }
  std::cout << std::flush;
}

/// A file that is not there yet may come while streams play, and is a mistake for who checks.
void require_models(const Config& config) {
  std::vector<Problem> problems;
  const auto folder = std::filesystem::path(config.file).parent_path();
  for (const auto& [name, model] : config.models.items()) {
    const auto file = folder / model["model"].get<std::string>();
    if (!std::filesystem::exists(file)) {
      problems.push_back({"models." + name + ".model", "is not there: " + file.string()});
    }
  }
  if (!problems.empty()) throw ConfigError(config.file, std::move(problems));
}

/// The process from its first stream to its end.
class Service {
 public:
  explicit Service(Config config) : fleet_(std::move(config)) {
#ifdef NPU_STREAM_HAVE_WEB
    if (fleet_.config().server.is_enabled) {
      server_ = std::make_unique<web::Server>(fleet_, fleet_.config().server, [this] { reload(); });
    }
#endif
  }
  ~Service() {
    g_main_loop_unref(loop_);
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void run() {
    g_unix_signal_add(SIGTERM, on_end, this);
    g_unix_signal_add(SIGINT, on_end, this);
    g_unix_signal_add(SIGHUP, on_reload, this);
    if (const auto interval_us = watchdog_interval_us(); interval_us > 0) {
      g_timeout_add(
          static_cast<guint>(interval_us / 1000),
          [](gpointer) -> gboolean { return notify("WATCHDOG=1"), G_SOURCE_CONTINUE; }, nullptr);
    }
    g_timeout_add(50, tell_ready, this);
    fleet_.start();
    g_main_loop_run(loop_);
  }

  /// Throws ConfigError: the streams play on as they did.
  void reload() {
    notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(g_get_monotonic_time()));
    try {
      fleet_.reload();
      notify("READY=1");
    } catch (...) {
      notify("READY=1");
      throw;
    }
  }

 private:
  static gboolean on_end(gpointer self) {
    auto* const service = static_cast<Service*>(self);
    notify("STOPPING=1");
    service->fleet_.drain([service] { g_main_loop_quit(service->loop_); });
    return G_SOURCE_CONTINUE;
  }

  static gboolean on_reload(gpointer self) {
    try {
      static_cast<Service*>(self)->reload();
    } catch (const std::exception& error) {
      std::cerr << "npu-stream: not reloaded; the streams play on as before\n"
                << error.what() << std::endl;
    }
    return G_SOURCE_CONTINUE;
  }

  static gboolean tell_ready(gpointer self) {
    if (!static_cast<Service*>(self)->fleet_.is_ready()) return G_SOURCE_CONTINUE;
    notify("READY=1");
    return G_SOURCE_REMOVE;
  }

  GMainLoop* loop_ = g_main_loop_new(nullptr, FALSE);
  Fleet fleet_;
#ifdef NPU_STREAM_HAVE_WEB
  std::unique_ptr<web::Server> server_;
#endif
};

int run(const Arguments& arguments) {
  if (arguments.schema) {
    std::cout << config_schema().dump(2) << std::endl;
    return exit_code::kDone;
  }
  Config config = read_config(arguments.file);
  if (arguments.check) {
    for (const StreamConfig& stream : config.streams) launch_line(stream, config);
    require_models(config);
    for (const auto& [id, text] : label_warnings(config))
      std::cerr << arguments.file << ": stream " << id << ": " << text << std::endl;
    std::cout << arguments.file << ": " << config.streams.size() << " streams, "
              << config.models.size() << " models, no mistakes" << std::endl;
    return exit_code::kDone;
  }
  print_lines(config, !arguments.dry_run);
  if (arguments.dry_run) return exit_code::kDone;
  Service service(std::move(config));
  service.run();
  // Threads of streams that did not end in time must not keep the process.
  std::cout << std::flush;
  ::_exit(exit_code::kDone);
}

}  // namespace
}  // namespace npustream

int main(int argc, char** argv) {
  CLI::App app(
      "Plays many cameras through models that run on an NPU, as one file says, and serves a page "
      "about them.\n"
      "SIGHUP reads the file again; SIGTERM ends all streams.\nExit code: 0 done, 1 failed, 2 "
      "wrong usage.",
      "npu-stream");
  npustream::Arguments arguments;
  auto* const file = app.add_option("file", arguments.file, "a YAML file with models and streams");
  app.add_flag("--check", arguments.check, "look for mistakes in the file, and end");
  app.add_flag("--dry-run", arguments.dry_run, "print each stream's launch line, and end");
  auto* const schema = app.add_flag("--schema", arguments.schema,
                                    "print the file's JSON schema, for editors, and end");
  app.final_callback([&] {
    if (file->empty() && schema->empty()) throw CLI::RequiredError("file");
  });
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  gst_init(nullptr, nullptr);
  return run_tool("npu-stream", [&] { return npustream::run(arguments); });
}
