// SPDX-License-Identifier: Apache-2.0
#include "routes.hpp"

#include <array>
#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/operate/prometheus.hpp>
#include <strid/program/report_log.hpp>

#include "graph_json.hpp"
#include "page.hpp"
#include "run_json.hpp"

namespace strid::operate {

namespace {

HttpResponse document(std::string body, std::string_view content_type) {
    return {.body = std::move(body), .content_type = std::string(content_type)};
}

constexpr std::string_view json_type = "application/json";

HttpResponse not_started() {
    HttpResponse response = plain(503, "the run is being started");
    response.headers = "Retry-After: 1\r\n";
    return response;
}

bool is_action(std::string_view path) noexcept {
    return path == "/stop" || path == "/snapshot";
}

constexpr std::array<std::string_view, 8> documents = {
    "/metrics", "/healthz", "/readyz", "/report", "/graph", "/events", "/snapshots", "/refused"};

bool is_document(std::string_view path) noexcept {
    for (const std::string_view one : documents) {
        if (one == path) return true;
    }
    return page_file(path) != nullptr;
}

}  // namespace

Routes::Routes(Access access, const CompanionContext& context)
    : access_(std::move(access)),
      graph_(graph_json(context.graph.description(context.options))),
      snapshots_(context.options.snapshots.folder),
      stop_run_(context.stop),
      is_stopping_(context.is_stopping) {}

void Routes::begin(Running& running) noexcept {
    running_.store(&running, std::memory_order_release);  // pairs with each acquire below
}

void Routes::end() noexcept {
    stop_is_asked_.store(true, std::memory_order_relaxed);
}

HttpResponse Routes::respond(const HttpRequest& request) {
    const bool acts = is_action(request.path);
    if (HttpResponse refused = refusal(access_, request, acts); refused.status != 0) return refused;
    if (!acts && !is_document(request.path)) return plain(404, "no such document");
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (acts ? request.method != "POST" : !is_read) {
        HttpResponse response = plain(405, acts ? "POST acts on the run" : "this is for GET");
        response.headers = acts ? "Allow: POST\r\n" : "Allow: GET, HEAD\r\n";
        return response;
    }
    try {
        return answer(request);
    } catch (const std::exception& error) {
        return plain(500, error.what());
    }
}

HttpResponse Routes::answer(const HttpRequest& request) {
    const std::string_view path = request.path;
    if (path == "/healthz") return plain(200, "ok");
    if (path == "/readyz") return ready();
    if (path == "/metrics") return metrics();
    if (path == "/report") return report();
    if (path == "/graph") return document(graph_, json_type);
    if (path == "/snapshots") return document(snapshots_json(snapshots_), json_type);
    if (path == "/refused") return refused();
    if (path == "/events") return EventStreams::head();
    if (path == "/stop") return stop();
    if (path == "/snapshot") return snapshot();
    const PageFile& file = *page_file(path);
    return document(std::string(file.text), file.content_type);
}

HttpResponse Routes::ready() const {
    const Running* const running = running_.load(std::memory_order_acquire);  // pairs with begin()
    if (running == nullptr) return not_started();
    if (running->finished()) return plain(503, "the run is over");
    const bool stops =
        stop_is_asked_.load(std::memory_order_relaxed) || (is_stopping_ && is_stopping_());
    if (stops) return plain(503, "the run is stopping");
    for (const ConnectionReport& one : running->report().connections) {
        if (!one.is_up) {
            return plain(503, fmt::format("not reached for {:.0f} s: {}", one.seconds, one.reason));
        }
    }
    return plain(200, "ready");
}

HttpResponse Routes::metrics() const {
    const Running* const running = running_.load(std::memory_order_acquire);  // pairs with begin()
    std::string text = prometheus_text_of_process();
    if (running != nullptr) {
        const bool is_over = running->finished();
        text += prometheus_text(running->report(), !is_over);
    }
    return document(std::move(text), prometheus_content_type);
}

HttpResponse Routes::report() const {
    const Running* const running = running_.load(std::memory_order_acquire);  // pairs with begin()
    if (running == nullptr) return not_started();
    return document(json_status(*running) + '\n', json_type);
}

HttpResponse Routes::refused() const {
    const Running* const running = running_.load(std::memory_order_acquire);  // pairs with begin()
    if (running == nullptr) return not_started();
    return document(refused_json(running->refused_lines()), json_type);
}

EventStreams::Event Routes::event() const {
    const Running* const running = running_.load(std::memory_order_acquire);  // pairs with begin()
    if (running == nullptr) return {};
    const bool is_over = running->finished();  // first: then the report is that of the end
    return {.data = json_status(*running), .is_last = is_over};
}

HttpResponse Routes::stop() {
    Running* const running = running_.load(std::memory_order_acquire);  // pairs with begin()
    if (!stop_run_ && running == nullptr) return not_started();
    if (!stop_is_asked_.exchange(true, std::memory_order_relaxed)) {
        stop_run_ ? stop_run_() : running->stop();
    }
    return plain(202, "the run stops");
}

HttpResponse Routes::snapshot() const {
    Running* const running = running_.load(std::memory_order_acquire);  // pairs with begin()
    if (running == nullptr) return not_started();
    try {
        return running->snapshot() ? plain(200, "the snapshot is stored")
                                   : plain(409, "the run is over");
    } catch (const GraphError&) {
        return plain(409, "the run takes no snapshots (--snapshots FOLDER)");
    }
}

}  // namespace strid::operate
