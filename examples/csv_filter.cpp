// SPDX-License-Identifier: Apache-2.0
//
// Keeps the readings of a CSV file that are too hot, with the temperature in Fahrenheit.
//
// The columns are found by their names and checked by their types. `bad.csv` gets the lines that
// are no readings, with the reason; without `on_malformed` the first of them would end the run.
// `hot.csv` is complete or absent: a run that fails leaves the file as it was.
#include <string_view>

#include <strid/strid.hpp>

struct Reading {
    std::string_view sensor;  // points into the batch: valid while an operator handles the record
    double celsius;
};

int main(int argc, char** argv) {
    strid::Graph graph{"csv-filter"};
    graph
        .source(strid::csv_file<Reading>("readings.csv",
                                         {.columns = {"sensor", "celsius"},
                                          .on_malformed = strid::OnMalformed::dead_letter,
                                          .dead_letter_path = "bad.csv"}))
        .filter([](const Reading& reading) { return reading.celsius > 30; })
        .map([](Reading& reading) { reading.celsius = reading.celsius * 1.8 + 32; })
        .sink(strid::csv_writer<Reading>("hot.csv", {.header = {"sensor", "fahrenheit"}}));
    return strid::run(graph, argc, argv);
}
