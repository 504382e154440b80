// SPDX-License-Identifier: Apache-2.0
//
// Heads of requests to the HTTP server of a run, and chunks of bodies: any bytes are read or
// refused, and chunks give the same in two pieces. A request that is
// read has a path, values without line ends, and is answered without the token only under a name of
// this machine.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <strid/engine/http/chunked_body.hpp>
#include <strid/engine/http/http_text.hpp>

#include "src/operate/access.hpp"

namespace {

/// The data of chunks, up to the end or a fault.
std::string data_of(std::string_view first, std::string_view second) {
    strid::http::ChunkedBody body;
    std::string data;
    for (std::string_view* const piece : {&first, &second}) {
        while (!piece->empty() && body.state() == strid::http::ChunkedBody::State::goes_on) {
            data += body.take(*piece);
        }
    }
    return data;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace strid::operate;
    using strid::http::read_head;
    const std::string_view head(reinterpret_cast<const char*>(data), size);
    const std::size_t middle = size == 0 ? 0 : data[0] % size;
    if (data_of(head, {}) != data_of(head.substr(0, middle), head.substr(middle))) std::abort();
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
