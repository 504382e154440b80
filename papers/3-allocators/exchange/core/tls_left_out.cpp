// SPDX-License-Identifier: Apache-2.0
//
// In the place of tls.cpp where OpenSSL was not found: a context is refused, so there is no stream.
#include <strid/base/error.hpp>

#include "core/tls.hpp"

namespace strid::exchange {

void TlsStream::Free::operator()(ssl_st* /*connection*/) const noexcept {}
void TlsContext::Free::operator()(ssl_ctx_st* /*context*/) const noexcept {}

TlsContext::TlsContext(const std::string& /*certificate*/, const std::string& /*key*/) {
    throw InputOutputError("TLS is left out of this build: OpenSSL was not found");
}

std::unique_ptr<TlsStream> TlsContext::accept(int /*descriptor*/) const {
    return nullptr;
}

std::ptrdiff_t TlsStream::receive_some(std::string& /*bytes*/, std::size_t /*bytes_max*/) {
    return -1;
}

std::ptrdiff_t TlsStream::send_some(std::string_view /*bytes*/) {
    return -1;
}

void TlsStream::announce_end() noexcept {}

}  // namespace strid::exchange
