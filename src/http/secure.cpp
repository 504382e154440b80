// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/http/secure.hpp>

namespace strid::http {

namespace {

std::mutex mutex;

TlsLibrary& library() {  // under the mutex
    static TlsLibrary used;
    return used;
}

/// Throws GraphError where there is none, or the files are not all there.
TlsLibrary library_for(const TlsFiles& files, const std::string& name) {
    if (files.certificate.empty() != files.key.empty()) {
        throw GraphError(name + ": TLS needs both, a certificate and its key");
    }
    const std::lock_guard lock(mutex);
    if (!library().server) {
        throw GraphError(name +
                         ": this program was built without TLS: strid::tls needs libssl-dev");
    }
    return library();
}

}  // namespace

void use_tls_library(TlsLibrary used) {
    const std::lock_guard lock(mutex);
    library() = std::move(used);
}

SecureServer tls_server(const TlsFiles& files, const std::string& name) {
    if (files.certificate.empty() && files.key.empty()) return nullptr;
    return library_for(files, name).server(files);
}

SecureClient tls_client(const TlsFiles& files, const std::string& host, const std::string& name) {
    return library_for(files, name).client(files, host);
}

std::size_t reload_tls() {
    std::function<std::size_t()> reload;
    {
        const std::lock_guard lock(mutex);
        reload = library().reload;
    }
    return reload ? reload() : 0;
}

}  // namespace strid::http
