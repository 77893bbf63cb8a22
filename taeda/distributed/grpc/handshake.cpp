#include "taeda/distributed/grpc/handshake.h"

#include <utility>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::grpc_link {

namespace {

using grpc::Status;
using grpc::StatusCode;

std::string or_unnamed(const std::string& job) {
  return job.empty() ? "a job without a name" : "job '" + job + "'";
}

/// What the service is to who reads an error.
std::string called(const std::string& service) { return service.empty() ? "TCPStore" : service; }

Status no_client(const Admission& admission) {
  return {StatusCode::INVALID_ARGUMENT, "not a client of a " + called(admission.service)};
}

[[noreturn]] void distrust(const std::string& why) {
  taeda::detail::fail<DistributedError>("the server " + why);
}

}  // namespace

Status ServerHandshake::receive(const Admission& admission, const std::string& payload,
                                std::string* answer) {
  return greeted_ ? receive_proof(admission, payload, answer)
                  : receive_hello(admission, payload, answer);
}

Status ServerHandshake::receive_hello(const Admission& admission, const std::string& payload,
                                      std::string* answer) {
  if (!hello_.ParseFromString(payload) || hello_.nonce().size() < 16) return no_client(admission);
  Challenge challenge;
  challenge.set_version(kVersion);
  challenge.set_nonce(new_nonce());
  challenge.set_wants_secret(!admission.secret.empty());
  challenge.set_server(admission.server);
  *answer = challenge.SerializeAsString();
  greetings_ = {payload, *answer};
  greeted_ = true;
  return Status::OK;
}

Status ServerHandshake::receive_proof(const Admission& admission, const std::string& payload,
                                      std::string* answer) {
  Proof proof;
  if (!proof.ParseFromString(payload)) return no_client(admission);
  Welcome welcome;
  if (!admission.secret.empty()) {
    if (!same_code(proof.code(), greetings_.client_proof(admission.secret)))
      return {StatusCode::UNAUTHENTICATED, "this process does not know the job's secret"};
    welcome.set_code(greetings_.server_proof(admission.secret));
  }
  if (const Status status = refusal(admission); !status.ok()) return status;
  *answer = welcome.SerializeAsString();
  over_ = true;
  return Status::OK;
}

/// Why a process that may be believed does not belong here.
Status ServerHandshake::refusal(const Admission& admission) const {
  const auto refuse = [](const std::string& why) {
    return Status(StatusCode::FAILED_PRECONDITION, why);
  };
  if (hello_.version() != kVersion)
    return refuse("it speaks version " + std::to_string(kVersion) +
                  " of the protocol, this process version " + std::to_string(hello_.version()));
  if (hello_.service() != admission.service)
    return refuse("it is a " + called(admission.service) + ", but this process wants a " +
                  called(hello_.service()));
  if (hello_.job() != admission.job)
    return refuse("it serves " + or_unnamed(admission.job) + ", but this process belongs to " +
                  or_unnamed(hello_.job()));
  if (hello_.world_size() > 0 && admission.world_size > 0 &&
      hello_.world_size() != admission.world_size)
    return refuse("it serves a job of world size " + std::to_string(admission.world_size) +
                  ", but this process was told " + std::to_string(hello_.world_size()));
  return Status::OK;
}

ClientHandshake::ClientHandshake(Hello hello, std::string secret)
    : hello_(std::move(hello)), secret_(std::move(secret)) {
  hello_.set_version(kVersion);
  hello_.set_nonce(new_nonce());
}

std::string ClientHandshake::hello() { return greetings_.hello = hello_.SerializeAsString(); }

std::string ClientHandshake::prove(const std::string& payload) {
  Challenge challenge;
  if (!challenge.ParseFromString(payload)) distrust("is none of a " + called(hello_.service()));
  if (secret_.empty() && challenge.wants_secret())
    distrust(
        "asks for the job's secret, and this process was given none: set "
        "TAEDA_DISTRIBUTED_SECRET_FILE");
  if (!secret_.empty() && !challenge.wants_secret())
    distrust(
        "does not ask for the job's secret: it is another job's, or its process was started "
        "without TAEDA_DISTRIBUTED_SECRET_FILE");
  greetings_.challenge = payload;
  server_ = challenge.server();
  Proof proof;
  if (!secret_.empty()) proof.set_code(greetings_.client_proof(secret_));
  return proof.SerializeAsString();
}

void ClientHandshake::believe(const std::string& payload) const {
  Welcome welcome;
  const bool parsed = welcome.ParseFromString(payload);
  if (!parsed || (!secret_.empty() && !same_code(welcome.code(), greetings_.server_proof(secret_))))
    distrust("does not know the job's secret");
}

}  // namespace taeda::inline v0_2::distributed::grpc_link
