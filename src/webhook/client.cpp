// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/version.hpp>
#include <strid/engine/connector/address_options.hpp>

namespace strid::webhook {

namespace {

constexpr std::uint64_t rows_default = 1'000;
constexpr std::uint64_t rows_most = 1'000'000;
constexpr std::chrono::seconds retry_after_most{60};
constexpr std::chrono::milliseconds connecting_most{10'000};
constexpr std::size_t shown_bytes_max = 200;

/// Once in a process.
void begin_library() {
    static const ::CURLcode begun = ::curl_global_init(CURL_GLOBAL_DEFAULT);
    if (begun != CURLE_OK) throw InputOutputError("libcurl cannot be used");
}

/// With %XX for all but letters, digits and a few others.
std::string encoded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') ||
                              std::string_view("-._~").find(c) != std::string_view::npos;
        is_plain ? out += c : out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

/// Another attempt cannot end otherwise.
bool is_final(::CURLcode code) noexcept {
    constexpr std::array<::CURLcode, 7> final_codes = {
        CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT,   CURLE_PEER_FAILED_VERIFICATION,
        CURLE_SSL_CACERT_BADFILE,   CURLE_SSL_CERTPROBLEM, CURLE_OUT_OF_MEMORY,
        CURLE_FAILED_INIT};
    return std::find(final_codes.begin(), final_codes.end(), code) != final_codes.end();
}

std::size_t keep_beginning(const char* data, std::size_t /*one*/, std::size_t bytes, void* answer) {
    auto& text = *static_cast<std::string*>(answer);
    text.append(data, std::min(bytes, shown_bytes_max - text.size()));
    return bytes;
}

int is_to_end(void* client, ::curl_off_t, ::curl_off_t, ::curl_off_t, ::curl_off_t) {
    return static_cast<const Client*>(client)->is_interrupted() ? 1 : 0;
}

}  // namespace

Place::Place(TransportAddress& from)
    : address(detail::shown_address(from.text())),
      rows_max(detail::take_count(from, "rows", rows_default, rows_most)),
      within(detail::take_time(from, "within", std::chrono::seconds{30})),
      certificates(from.take("cafile")) {
    (void)from.take("sink");
    const std::string& place = from.place();
    if (!place.starts_with("//") || place.size() == 2 || place[2] == '/') {
        from.refuse("the address of a server is http://HOST:PORT/PATH");
    }
    if (!certificates.empty()) {
        if (from.scheme() != "https") from.refuse("cafile is for https");
        if (::access(certificates.c_str(), R_OK) != 0) {
            from.refuse("cafile: the file cannot be read");
        }
    }
    url = from.scheme() + ':' + place;
    char separator = '?';
    for (const auto& [name, value] : from.left()) {
        url += fmt::format("{}{}={}", separator, encoded(name), encoded(value));
        separator = '&';
    }
    const char* const given = std::getenv("STRID_HTTP_AUTHORIZATION");
    if (given != nullptr) authorization = given;
    if (authorization.find_first_of("\r\n") != std::string::npos) {
        from.refuse("STRID_HTTP_AUTHORIZATION has more than one line");
    }
}

Client::Client(const Place& place, std::string_view content_type)
    : place_(place), content_type_(content_type) {}

void Client::open() {
    begin_library();
    curl_.reset(::curl_easy_init());
    ::CURL* const curl = curl_.get();
    if (curl == nullptr) throw std::bad_alloc{};
    const std::chrono::milliseconds connecting = std::min(place_.within, connecting_most);
    check(::curl_easy_setopt(curl, CURLOPT_URL, place_.url.c_str()));
    check(::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https"));
    check(::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L));
    const std::string agent = "strid/" + std::string(version);  // libcurl copies it
    check(::curl_easy_setopt(curl, CURLOPT_USERAGENT, agent.c_str()));
    check(::curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(place_.within.count())));
    check(
        ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connecting.count())));
    check(::curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &keep_beginning));
    check(::curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer_));
    check(::curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L));
    check(::curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &is_to_end));
    check(::curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this));
    if (place_.certificates.empty()) return;
    check(::curl_easy_setopt(curl, CURLOPT_CAINFO, place_.certificates.c_str()));
    check(::curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr));  // of the system's authorities none
}

Client::Headers Client::headers(std::string_view key) const {
    Headers all;
    const auto add = [&all](const std::string& line) {
        ::curl_slist* const more = ::curl_slist_append(all.get(), line.c_str());
        if (more == nullptr) throw std::bad_alloc{};
        (void)all.release();
        all.reset(more);
    };
    add("Content-Type: " + content_type_);
    add(fmt::format("Idempotency-Key: {}", key));
    add("Expect:");  // a server that does not know it would be waited for
    if (!place_.authorization.empty()) add("Authorization: " + place_.authorization);
    return all;
}

void Client::post(std::string_view body, std::string_view key) {
    if (is_interrupted()) throw ConnectionLost(place_.address + ": interrupted");
    if (!curl_) open();
    ::CURL* const curl = curl_.get();
    const Headers lines = headers(key);
    answer_.clear();
    check(::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines.get()));
    check(::curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                             static_cast<::curl_off_t>(body.size())));
    check(::curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data()));
    const ::CURLcode code = ::curl_easy_perform(curl);
    check(::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, nullptr));
    check(code);
    check_answer();
}

void Client::check(::CURLcode code) const {
    if (code == CURLE_OK) return;
    const std::string text = fmt::format("{}: {}", place_.address, ::curl_easy_strerror(code));
    if (is_final(code)) throw InputOutputError(text);
    throw ConnectionLost(is_interrupted() ? place_.address + ": interrupted" : text);
}

void Client::check_answer() {
    long status = 0;
    ::curl_off_t retry_after_s = 0;
    check(::curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status));
    check(::curl_easy_getinfo(curl_.get(), CURLINFO_RETRY_AFTER, &retry_after_s));
    if (status >= 200 && status < 300) return;
    const bool may_pass = status >= 500 || status == 429 || status == 408;
    std::string text = fmt::format("{}: the server answers {}", place_.address, status);
    if (may_pass) {
        retry_at_ = std::chrono::steady_clock::now() +
                    std::min(std::chrono::seconds(retry_after_s), retry_after_most);
        throw ConnectionLost(text);
    }
    for (char& c : answer_) {
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    answer_.erase(answer_.find_last_not_of(' ') + 1);
    if (!answer_.empty()) text += ": " + answer_;
    throw InputOutputError(text);
}

void Client::wait_until(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    if (interrupted_.wait_until(lock, until, [this] { return is_interrupted(); })) {
        throw ConnectionLost(place_.address + ": interrupted");
    }
}

void Client::interrupt() noexcept {
    const std::lock_guard lock(mutex_);
    is_interrupted_.store(true, std::memory_order_relaxed);
    interrupted_.notify_all();
}

}  // namespace strid::webhook
