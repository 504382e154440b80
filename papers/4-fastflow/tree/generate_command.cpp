// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/destination.hpp>
#include <strid/base/error.hpp>
#include <strid/connector/random.hpp>
#include <strid/program/arguments.hpp>
#include <strid/program/session.hpp>

#include "commands.hpp"

namespace strid::tree {

namespace {

struct GenerateArguments {
    std::string output = "-";
    std::uint64_t rows = 1000;
    std::uint32_t attributes = 9;
    double noise = 0.05;
    double missing = 0;
    std::uint64_t seed = 1;
};

constexpr std::uint32_t quest_attributes = 9;

/// A person of the QUEST generator (Agrawal, Imielinski, Swami 1993, table 1).
struct Person {
    double salary, commission, age, hvalue, hyears, loan;
    std::uint64_t elevel, car, zipcode;
};

Person draw_person(Random& random) {
    const auto between = [&random](double low, double high) {
        return std::floor(low + random.uniform() * (high - low));
    };
    Person person{};
    person.salary = between(20'000, 150'001);
    person.commission = person.salary >= 75'000 ? 0 : between(10'000, 75'001);
    person.age = between(20, 81);
    person.elevel = random.below(5);
    person.car = random.below(20);
    person.zipcode = random.below(9);
    const double region = 100'000.0 * static_cast<double>(person.zipcode + 1);
    person.hvalue = between(0.5 * region, 1.5 * region);
    person.hyears = between(1, 31);
    person.loan = between(0, 500'001);
    return person;
}

/// Function 5 of the same paper: the class by age, salary and loan.
bool is_of_group_a(const Person& person) {
    const auto within = [](double value, double low, double high) {
        return low <= value && value <= high;
    };
    const auto by_loan = [&](double low, double salary_low, double salary_high) {
        const double loan_low =
            within(person.salary, salary_low, salary_high) ? low : low + 100'000;
        return within(person.loan, loan_low, loan_low + 200'000);
    };
    if (person.age < 40) return by_loan(100'000, 50'000, 100'000);
    if (person.age < 60) return by_loan(200'000, 75'000, 125'000);
    return by_loan(300'000, 25'000, 75'000);
}

/// Columns beside the nine say nothing of the class: numbers and names by turns.
void append_row(std::string& out, Random& random, const GenerateArguments& arguments) {
    const Person person = draw_person(random);
    const bool is_flipped = random.uniform() < arguments.noise;
    const auto end = std::back_inserter(out);
    const auto add = [&](const auto& value) {
        if (arguments.missing == 0 || random.uniform() >= arguments.missing) {
            fmt::format_to(end, "{},", value);
        } else {
            out += "?,";
        }
    };
    add(person.salary);
    add(person.commission);
    add(person.age);
    add(fmt::format("e{}", person.elevel));
    add(fmt::format("make{}", person.car));
    add(fmt::format("zip{}", person.zipcode));
    add(person.hvalue);
    add(person.hyears);
    add(person.loan);
    for (std::uint32_t i = quest_attributes; i < arguments.attributes; ++i) {
        if (i % 2 == 1) {
            add(std::round(random.uniform() * 1e6) / 1e3);
        } else {
            add(fmt::format("v{}", random.below(12)));
        }
    }
    out += is_of_group_a(person) != is_flipped ? "A\n" : "B\n";
}

std::string header(std::uint32_t attributes) {
    std::string text = "salary,commission,age,elevel,car,zipcode,hvalue,hyears,loan,";
    for (std::uint32_t i = quest_attributes; i < attributes; ++i) {
        text += fmt::format("{}{},", i % 2 == 1 ? "number" : "name", i + 1);
    }
    return text + "group\n";
}

int run_generate(const GenerateArguments& arguments, const tool::Interruption& interruption) {
    constexpr std::size_t part_bytes = std::size_t{1} << 18;
    Destination file(arguments.output, Writing::whole);
    file.open();
    std::string text = header(arguments.attributes);
    for (std::uint64_t row = 0; row < arguments.rows; ++row) {
        Random random(arguments.seed, row);
        append_row(text, random, arguments);
        if (text.size() < part_bytes) continue;
        interruption.check();
        file.write(text, interruption.requested());
        text.clear();
    }
    file.write(text, interruption.requested());
    file.commit(interruption.requested());
    return ExitCode::done;
}

void check_share(const char* name, double share) {
    if (!(share >= 0 && share < 1)) {
        throw GraphError(fmt::format("{}: not a share from 0 to less than 1", name));
    }
}

constexpr const char* generate_footer =
    "The nine attributes of the generator QUEST (Agrawal, Imielinski, Swami 1993) and the groups\n"
    "of its function 5. Further attributes say nothing of the group.\n"
    "\n"
    "Example:\n"
    "  strid tree generate --rows 200000 --attributes 20 --output people.csv\n"
    "  strid tree learn --input people.csv --target group";

}  // namespace

void add_generate_command(CLI::App& app, Action& action) {
    auto arguments = std::make_shared<GenerateArguments>();
    CLI::App& command = *app.add_subcommand("generate", "Makes a table to learn from.");
    command.footer(generate_footer);
    command.add_option("--output", arguments->output, "The table; -: standard output (default)")
        ->type_name("FILE");
    add_number_option(command, "--rows", arguments->rows, 0, UINT64_MAX,
                      "So many of them (default: 1000)");
    add_number_option(command, "--attributes", arguments->attributes, quest_attributes, 10'000,
                      "Columns beside the group (default: 9)");
    add_decimal_option(command, "--noise", arguments->noise,
                       "Share of rows that get the wrong group");
    add_decimal_option(command, "--missing", arguments->missing,
                       "Share of values that are missing");
    add_number_option(command, "--seed", arguments->seed, 0, UINT64_MAX,
                      "For drawing the rows (default: 1)");
    command.callback([&action, arguments] {
        action = [arguments](const tool::Interruption& interruption) {
            check_share("--noise", arguments->noise);
            check_share("--missing", arguments->missing);
            return run_generate(*arguments, interruption);
        };
    });
}

}  // namespace strid::tree
