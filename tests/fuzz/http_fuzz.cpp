// SPDX-License-Identifier: Apache-2.0
//
// Heads of requests to the HTTP server of a run: any bytes are read or refused. A request that is
// read has a path, values without line ends, and is answered without the token only under a name of
// this machine.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <strid/engine/http/http_text.hpp>

#include "src/operate/access.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace strid::operate;
    using strid::http::read_head;
    const std::string_view head(reinterpret_cast<const char*>(data), size);
    HttpRequest request;
    if (read_head(head, request) != 0) return 0;
    if (!request.path.starts_with('/') || request.method.empty()) std::abort();
    for (const auto& [name, value] : request.headers) {
        if (name.empty() || value.find_first_of("\r\n") != std::string::npos) std::abort();
    }
    const Access access{
        .host = "127.0.0.1", .machine = "box", .token = std::string(64, '0'), .is_local = true};
    const std::string_view host = request.header("host");
    const bool is_answered = refusal(access, request, false).status == 0;
    if (is_answered && (host.empty() || host.find("evil") != std::string_view::npos)) std::abort();
    const bool has_token =
        request.header("authorization").find(access.token) != std::string_view::npos;
    if (refusal(access, request, true).status == 0 && !has_token) std::abort();
    return 0;
}
