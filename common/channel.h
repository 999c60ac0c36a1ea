// gRPC set-up that both sides share: keepalive, limits, no proxy.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>

namespace benchfleet {

// A channel of its own: never shares a connection with another channel.
std::shared_ptr<grpc::Channel> DialCoordinator(const std::string& address);

// Keepalive that matches DialCoordinator's, and one owner per port.
void SetServerOptions(grpc::ServerBuilder& builder);

}  // namespace benchfleet
