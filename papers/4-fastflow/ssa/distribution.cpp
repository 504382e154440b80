// SPDX-License-Identifier: Apache-2.0
#include "distribution.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <boost/math/distributions/bernoulli.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/cauchy.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/exponential.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/laplace.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <boost/math/distributions/rayleigh.hpp>
#include <boost/math/distributions/uniform.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::ssa {

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Without exceptions for arguments out of their domain; the least whole number for a quantile.
namespace policies = boost::math::policies;
using Policy = policies::policy<policies::domain_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>,
                                policies::discrete_quantile<policies::integer_round_up>>;

struct Form {
    std::string_view name;
    std::size_t arguments;
    bool has_location;  ///< which may be left out
    bool is_truncated;  ///< or may be
};

// In the order of the enumeration.
constexpr std::array<Form, 12> forms{{{"bernoulli", 1, false, false},
                                      {"binomial", 2, false, true},
                                      {"cauchy", 2, true, true},
                                      {"chisquare", 1, false, true},
                                      {"exponential", 1, false, true},
                                      {"gamma", 2, false, true},
                                      {"laplace", 2, true, true},
                                      {"lognormal", 2, false, true},
                                      {"normal", 2, false, true},
                                      {"poisson", 1, false, true},
                                      {"rayleigh", 1, false, true},
                                      {"uniform", 2, false, false}}};

const Form& form_of(Distribution distribution) {
    return forms[static_cast<std::size_t>(distribution)];
}

/// The part below `number`; a discrete distribution may stand at it.
template <class Of>
double part_below(const Of& of, double number, bool is_discrete) {
    const auto [least, greatest] = support(of);
    if (is_discrete) number = std::ceil(number) - 1;
    if (number < least) return 0;
    return number >= greatest ? 1 : cdf(of, number);
}

template <class Of>
double part_up_to(const Of& of, double number, bool is_discrete) {
    return part_below(of, is_discrete ? std::floor(number) + 1 : number, is_discrete);
}

/// `bounds`: empty, or two.
template <class Of>
double truncated(const Of& of, const std::vector<double>& bounds, double quantile_of_part,
                 bool is_discrete = false) {
    if (bounds.empty()) return quantile(of, quantile_of_part);
    const double low = part_below(of, bounds[0], is_discrete);
    const double high = part_up_to(of, bounds[1], is_discrete);
    if (!(low < high)) return no_number;
    const double found = quantile(of, low + quantile_of_part * (high - low));
    return std::fmin(std::fmax(found, bounds[0]), bounds[1]);
}

}  // namespace

std::optional<Distribution> distribution_named(std::string_view name) {
    for (std::size_t i = 0; i < forms.size(); ++i) {
        if (forms[i].name == name) return static_cast<Distribution>(i);
    }
    return std::nullopt;
}

std::string name_of(Distribution distribution) {
    return std::string(form_of(distribution).name);
}

void check_arguments(Distribution distribution, std::size_t count) {
    const Form& form = form_of(distribution);
    const bool is_whole = count == form.arguments || (form.has_location && count == 1);
    if (is_whole || (form.is_truncated && count == form.arguments + 2)) return;
    throw GraphError(fmt::format("'{}' takes {} arguments{}, not {}", form.name, form.arguments,
                                 form.is_truncated ? " and two bounds at most" : "", count));
}

double number_at(Distribution distribution, const std::vector<double>& arguments, double quantile) {
    namespace math = boost::math;
    const Form& form = form_of(distribution);
    std::vector<double> own = arguments;
    if (form.has_location && own.size() == 1) own.insert(own.begin(), 0);
    const std::vector<double> bounds(own.begin() + static_cast<std::ptrdiff_t>(form.arguments),
                                     own.end());
    const double first = own[0];
    const double second = form.arguments > 1 ? own[1] : 0;
    switch (distribution) {
        case Distribution::bernoulli:
            if (!(first >= 0 && first <= 1)) return no_number;
            return quantile > 1 - first ? 1 : 0;
        case Distribution::binomial:
            if (!(first >= 0 && second >= 0 && second <= 1)) return no_number;
            return truncated(math::binomial_distribution<double, Policy>(first, second), bounds,
                             quantile, true);
        case Distribution::cauchy:
            return truncated(math::cauchy_distribution<double, Policy>(first, second), bounds,
                             quantile);
        case Distribution::chisquare:
            return truncated(math::chi_squared_distribution<double, Policy>(first), bounds,
                             quantile);
        case Distribution::exponential:
            return truncated(math::exponential_distribution<double, Policy>(first), bounds,
                             quantile);
        case Distribution::gamma:
            return truncated(math::gamma_distribution<double, Policy>(first, second), bounds,
                             quantile);
        case Distribution::laplace:
            return truncated(math::laplace_distribution<double, Policy>(first, second), bounds,
                             quantile);
        case Distribution::lognormal:
            return truncated(math::lognormal_distribution<double, Policy>(first, second), bounds,
                             quantile);
        case Distribution::normal:
            return truncated(math::normal_distribution<double, Policy>(first, second), bounds,
                             quantile);
        case Distribution::poisson:
            if (first == 0) return 0;
            return truncated(math::poisson_distribution<double, Policy>(first), bounds, quantile,
                             true);
        case Distribution::rayleigh:
            return truncated(math::rayleigh_distribution<double, Policy>(first), bounds, quantile);
        case Distribution::uniform:
            if (first == second) return first;
            return truncated(math::uniform_distribution<double, Policy>(first, second), bounds,
                             quantile);
    }
    return no_number;
}

}  // namespace strid::ssa
