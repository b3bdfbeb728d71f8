#include "certificates.hpp"

#include <vector>

#include "child_process.hpp"

namespace gstnpu_test {
namespace {

void openssl(const TempFolder& folder, std::vector<std::string> command) {
  command.insert(command.begin(), find_program("openssl"));
  ASSERT_EQ(ChildProcess(command, folder.file("said")).wait(), 0) << folder.read("said");
}

std::vector<std::string> request(const TempFolder& folder, const std::string& name) {
  return {"req",
          "-newkey",
          "ec",
          "-pkeyopt",
          "ec_paramgen_curve:P-256",
          "-nodes",
          "-keyout",
          folder.file(name + ".key"),
          "-subj",
          "/CN=" + name};
}

void make_authority(const TempFolder& folder, const std::string& name) {
  std::vector<std::string> command = request(folder, name);
  command.insert(command.end(), {"-x509", "-out", folder.file(name + ".pem"), "-days", "2"});
  openssl(folder, command);
}

void make_signed(const TempFolder& folder, const std::string& name) {
  std::vector<std::string> command = request(folder, name);
  command.insert(command.end(), {"-out", folder.file(name + ".csr")});
  openssl(folder, command);
  folder.write(name + ".ext", "subjectAltName=DNS:localhost\n");
  openssl(folder,
          {"x509", "-req", "-in", folder.file(name + ".csr"), "-CA", folder.file("ca.pem"),
           "-CAkey", folder.file("ca.key"), "-CAcreateserial", "-out", folder.file(name + ".pem"),
           "-days", "2", "-extfile", folder.file(name + ".ext")});
}

}  // namespace

Certificates::Certificates() {
  if (find_program("openssl").empty()) return;
  make_authority(folder_, "ca");
  make_authority(folder_, "other");
  make_signed(folder_, "broker");
  make_signed(folder_, "client");
}

void Certificates::make_other_key(const std::string& name) const {
  openssl(folder_, {"genpkey", "-algorithm", "ED25519", "-out", file(name)});
}

void Certificates::encrypt_key(const std::string& name, const std::string& pass_phrase) const {
  openssl(folder_, {"pkey", "-in", file("client.key"), "-aes256", "-passout", "pass:" + pass_phrase,
                    "-out", file(name)});
}

std::string Certificates::properties(const std::string& protocol, const std::string& authority,
                                     const std::string& client) const {
  std::string properties = protocol + "-ca-file=" + file(authority + ".pem");
  if (!client.empty()) {
    properties += " " + protocol + "-certificate-file=" + file(client + ".pem") + " " + protocol +
                  "-key-file=" + file(client + ".key");
  }
  return properties;
}

}  // namespace gstnpu_test
