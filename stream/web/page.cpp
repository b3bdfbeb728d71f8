// The page, and the policy under which browsers run its script and style and nothing else.
#include <glib.h>

#include <array>

#include "routes.hpp"

namespace npustream::web {
namespace {

constexpr unsigned char kPage[] = {
#include "page.inc"
};

/// "'sha256-...'" of what is between two tags.
std::string hash_between(const std::string& text, const std::string& open,
                         const std::string& close) {
  const std::size_t begin = text.find(open) + open.size();
  const std::size_t size = text.find(close, begin) - begin;
  std::array<guint8, 32> digest = {};
  gsize length = digest.size();
  GChecksum* const checksum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(checksum, reinterpret_cast<const guchar*>(text.data() + begin),
                    static_cast<gssize>(size));
  g_checksum_get_digest(checksum, digest.data(), &length);
  g_checksum_free(checksum);
  gchar* const base64 = g_base64_encode(digest.data(), length);
  std::string hash = std::string("'sha256-") + base64 + "'";
  g_free(base64);
  return hash;
}

}  // namespace

const std::string& page() {
  static const std::string text(reinterpret_cast<const char*>(kPage), sizeof(kPage));
  return text;
}

const std::string& page_policy() {
  static const std::string policy = "default-src 'none'; script-src " +
                                    hash_between(page(), "<script>", "</script>") + "; style-src " +
                                    hash_between(page(), "<style>", "</style>") +
                                    "; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
                                    "form-action 'none'; frame-ancestors 'none'";
  return policy;
}

}  // namespace npustream::web
