#include "taeda/distributed/grpc/credentials.h"

#include <string>

#include "taeda/base/error.h"
#include "taeda/io/file_bytes.h"

namespace taeda::inline v0_2::distributed::grpc_link {

namespace {

std::string contents_of(const std::string& path) {
  std::string out;
  try {
    out = io::read_file(path);  // a pipe, for which one would wait, is refused
  } catch (const Error&) {
  }
  TAEDA_CHECK_AS(DistributedError, !out.empty(), "TLS: the file '", path,
                 "' cannot be read or is empty");
  return out;
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> server_credentials(const Security& security) {
  if (!security.has_tls()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = contents_of(security.tls_authority);
  options.pem_key_cert_pairs = {
      {contents_of(security.tls_key), contents_of(security.tls_certificate)}};
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> client_credentials(const Security& security) {
  if (!security.has_tls()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({contents_of(security.tls_authority), contents_of(security.tls_key),
                               contents_of(security.tls_certificate)});
}

}  // namespace taeda::inline v0_2::distributed::grpc_link
