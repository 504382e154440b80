// SPDX-License-Identifier: Apache-2.0
//
// TLS for the servers and the sockets of a program, by OpenSSL: that of `--http`, with
// `--http-certificate` and `--http-key`, inputs at http-listen://HOST:PORT/PATH and
// tcp-listen://HOST:PORT with `certificate=FILE&key=FILE`, and tls://HOST:PORT. The library is
// strid::tls, of the package libssl-dev.
#pragma once

namespace strid {

/// From now on servers may have a certificate, and clients verify that of theirs. Any thread, any
/// number of times; a program that includes this header need not call it.
void use_tls();

namespace detail {
inline const bool tls_is_used = (use_tls(), true);
}  // namespace detail

}  // namespace strid
