// SPDX-License-Identifier: Apache-2.0
//
// A graph inside a service: threads of the service push requests into an inlet and pop answers
// from an outlet.
//
// Both are queues with a bound, so that a slow reader holds back the threads that push. When the
// run ends, for whatever reason, push() answers false and pop() nothing: every thread ends, and
// wait() then says how the run ended.
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <strid/strid.hpp>

struct Request {
    int client;
    int number;
};
struct Answer {
    int client;
    long value;
};

long triangular(int number) {
    if (number < 0) throw std::runtime_error("a number below 0");
    return long{number} * (number + 1) / 2;
}

int main() {
    strid::Graph graph{"service"};
    auto [inlet, requests] = graph.inlet<Request>(64);
    auto outlet = std::move(requests)
                      .map(
                          [](const Request& r) {
                              return Answer{r.client, triangular(r.number)};
                          },
                          {.name = "triangular", .on_exception = strid::OnException::skip})
                      .outlet(64);
    strid::Running running = strid::start(graph);

    std::vector<std::jthread> clients;
    for (int client = 0; client != 2; ++client) {
        clients.emplace_back([client, inlet = inlet]() mutable {
            for (int number = -1; number != 1'000; ++number) {
                if (!inlet.push(Request{client, number})) return;
            }
        });
    }
    std::jthread closing{[&clients, inlet = inlet]() mutable {
        for (std::jthread& client : clients) client.join();
        inlet.close();  // the stream ends behind the last request
    }};

    long sums[2] = {0, 0};
    while (const auto answer = outlet.pop()) sums[answer->client] += answer->value;
    const strid::RunReport report = running.wait();  // throws what ended the run early
    std::printf("sums %ld and %ld, %d requests skipped\n", sums[0], sums[1],
                static_cast<int>(report.find("triangular")->records_skipped));
}
