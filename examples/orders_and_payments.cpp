// SPDX-License-Identifier: Apache-2.0
//
// A join of two streams: orders with the payments that come within a minute. An order without a
// payment has 0 cents.
//
// Both streams need event time. An order is kept until no payment within its minute can follow,
// which the watermark of the payments says.
#include <chrono>
#include <cstdint>
#include <utility>

#include <strid/strid.hpp>

using namespace std::chrono_literals;

struct Order {
    std::int64_t second;
    std::uint64_t number;
};
struct Payment {
    std::int64_t second;
    std::uint64_t order;
    std::int64_t cents;
};
struct Paid {
    std::uint64_t order;
    std::int64_t cents;
};

constexpr auto time_of = [](const auto& record) {
    return strid::EventTime{std::chrono::seconds{record.second}};
};
/// Of a left join: the payment is null where an order has none.
constexpr auto paid = [](const Order* order, const Payment* payment) {
    return Paid{order->number, payment ? payment->cents : 0};
};

int main(int argc, char** argv) {
    strid::Graph graph{"orders-and-payments"};
    auto orders = graph.source(strid::csv_file<Order>("orders.csv"))
                      .event_time(time_of, strid::MonotonousTime{});
    auto payments = graph.source(strid::csv_file<Payment>("payments.csv"))
                        .event_time(time_of, strid::BoundedDisorder{5s});
    std::move(orders)
        .join(std::move(payments), strid::on<&Order::number, &Payment::order>(),
              strid::within(0s, 60s), paid, {.kind = strid::JoinKind::left})
        .sink(strid::csv_writer<Paid>("paid.csv"));
    return strid::run(graph, argc, argv);
}
