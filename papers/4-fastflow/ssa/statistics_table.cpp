// SPDX-License-Identifier: Apache-2.0
#include "statistics_table.hpp"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace strid::ssa {

namespace {

constexpr std::size_t text_bytes = 65'536;

}  // namespace

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char mark : text) {
        if (mark == '"') quoted += '"';
        quoted += mark;
    }
    return quoted + '"';
}

std::string quantile_name(double quantile) {
    if (quantile == 1) return "q100";
    // Shortest text that reads back, without exponent.
    std::string digits = fmt::format("{:.17f}", quantile);
    for (int precision = 2; precision < 17; ++precision) {
        std::string shorter = fmt::format("{:.{}f}", quantile, precision);
        if (std::stod(shorter) != quantile) continue;
        digits = std::move(shorter);
        break;
    }
    return "q" + digits.substr(2);
}

void write_statistics(const Statistics& statistics, const Network& network, const Plan& plan,
                      const std::vector<double>& quantiles,
                      const std::function<void(std::string_view)>& write) {
    std::string text = "time,species,mean,variance";
    for (const double quantile : quantiles) text += "," + quantile_name(quantile);
    text += '\n';
    const auto out = std::back_inserter(text);
    for (std::size_t sample = 0; sample < plan.samples(); ++sample) {
        for (std::size_t i = 0; i < network.species.size(); ++i) {
            fmt::format_to(out, "{},{},{},", plan.sample_time(sample),
                           csv_field(network.species[i].name), statistics.mean(sample, i));
            const double variance = statistics.variance(sample, i);
            if (!std::isnan(variance)) fmt::format_to(out, "{}", variance);
            for (const double quantile : quantiles) {
                fmt::format_to(out, ",{}", statistics.quantile(sample, i, quantile));
            }
            text += '\n';
            if (text.size() < text_bytes) continue;
            write(text);
            text.clear();
        }
    }
    write(text);
}

std::string trajectory_header(const Network& network) {
    std::string text = "trajectory,time";
    for (const Species& species : network.species) text += "," + csv_field(species.name);
    return text + '\n';
}

}  // namespace strid::ssa
