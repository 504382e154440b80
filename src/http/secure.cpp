// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/http/secure.hpp>

namespace strid::http {

namespace {

using MakeServer = std::function<SecureServer(const TlsFiles&)>;

std::mutex mutex;

MakeServer& maker() {  // under the mutex
    static MakeServer made;
    return made;
}

}  // namespace

void serve_tls_by(MakeServer make) {
    const std::lock_guard lock(mutex);
    maker() = std::move(make);
}

SecureServer tls_server(const TlsFiles& files, const std::string& name) {
    if (files.certificate.empty() != files.key.empty()) {
        throw GraphError(name + ": TLS needs both, a certificate and its key");
    }
    if (files.certificate.empty()) return nullptr;
    MakeServer make;
    {
        const std::lock_guard lock(mutex);
        make = maker();
    }
    if (!make) {
        throw GraphError(name +
                         ": this program was built without TLS: strid::tls needs libssl-dev");
    }
    return make(files);
}

}  // namespace strid::http
