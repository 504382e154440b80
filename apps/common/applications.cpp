// SPDX-License-Identifier: Apache-2.0
#include "applications.hpp"

#include <algorithm>

namespace strid::apps {

namespace {

constexpr ApplicationFacts table[] = {
    {.name = "word-count",
     .summary = "counts the words of a text",
     .details = R"(
Input:   text; a word is what stands between spaces and is not empty.
Output:  word,count
Operators: lines, split, count, write

Examples:
  strid run word-count --input papers/2-windflow/word-count/data/opticks.txt --output counts.csv
  zcat access.log.gz | strid run word-count --emit updates | head
  strid run word-count --input book.txt --duration 10s --parallelism 2
)",
     .source_name = "lines"},
    {.name = "spike-detection",
     .summary = "reports sensor readings that are far from the recent mean of their device",
     .details = R"(
Input:   device,value
Output:  device,value,mean
Operators: readings, average, spikes, write

Examples:
  strid run spike-detection --input papers/2-windflow/spike-detection/data/readings.csv
  tail -f sensors.csv | strid run spike-detection --threshold 0.5
  strid run spike-detection --input readings.csv --duration 10s --rate 100k
  strid run spike-detection --generate 10M --seed 7 --output spikes.csv
)",
     .source_name = "readings",
     .generates = true},
    {.name = "fraud-detection",
     .summary = "reports transactions that end an unlikely sequence of states of their account",
     .details = R"(
Input:   account,transaction,state
Output:  account,transaction,score
Model:   the states in the first line, then a line of probabilities per state
Operators: transactions, predict, write

Examples (in papers/2-windflow/fraud-detection/data):
  strid run fraud-detection --model model.txt --input transactions.csv
  strid run fraud-detection --model model.txt --input transactions.csv --score miss-rate
  strid run fraud-detection --model model.txt --input transactions.csv --duration 10s
  strid run fraud-detection --model model.txt --generate 10M --rate 1M
)",
     .source_name = "transactions",
     .generates = true,
     .side_file = {.option = "--model",
                   .help = "States and probabilities of transitions; needed",
                   .example = "papers/2-windflow/fraud-detection/data/model.txt"}},
    {.name = "flights",
     .summary = "delays by airport, rotations of aircraft, and flights in their weather",
     .details = R"(
Input:     time,airport,aircraft,delay  (time in ms since 1970, delay in minutes)
Output:    airport,window_start,window_end,flights,mean_delay,max_delay
Rotations: aircraft,start,end,flights,max_delay
Weather:   time,airport,wind_speed,visibility, joined with the flights of the hour
           after it: time,airport,aircraft,delay,wind_speed,visibility
Operators: flights, time, delays, rotations, in-weather and their writers

Examples (in apps/flights/data):
  strid run flights --input flights.csv --output delays.csv
  strid run flights --input flights.csv --weather weather.csv --joined joined.csv
  strid run flights --input flights.csv --disorder 10m --late late.csv
)",
     .source_name = "flights"},
    {.name = "yahoo-benchmark",
     .summary = "counts the views of the ads of each campaign, in windows of event time",
     .details = R"(
Input:     user,page,ad,ad_type,event_type,event_time,ip  (ids are numbers, the time
           in ms since 1970); views are counted
Campaigns: ad,campaign
Output:    campaign,window_start,window_end,count
Operators: events, views, project, join, time, count, rows, write

Examples (in papers/2-windflow/yahoo-benchmark/data):
  strid run yahoo-benchmark --campaigns campaigns.csv --input events.csv
  strid run yahoo-benchmark --campaigns campaigns.csv --input events.csv --window 1m
  python3 prepare.py more.csv campaigns.csv --events 10000000 --rate 1000000
)",
     .source_name = "events",
     .side_file = {.option = "--campaigns",
                   .help = "The campaign of each ad; needed",
                   .example = "papers/2-windflow/yahoo-benchmark/data/campaigns.csv"}},
    {.name = "traffic-monitoring",
     .summary = "matches positions of vehicles to roads and keeps the mean speed of each road",
     .details = R"(
Input:   vehicle,latitude,longitude,speed,bearing,time  (degrees, km/h; the time is not
         looked at); see --columns
Roads:   a shapefile, GeoJSON, or CSV: road,one_way,latitude,longitude, a row a point
Output:  road,mean_speed,count
Operators: fixes, match, speed, rows, write

Examples (in papers/2-windflow/traffic-monitoring/data):
  strid run traffic-monitoring --roads roads.csv --input fixes.csv
  strid run traffic-monitoring --roads roads.csv --input fixes.csv --emit final
  strid run traffic-monitoring --roads city.shp --input fixes.csv --matcher hidden-markov
  strid run traffic-monitoring --roads roads.csv --input taxi-traces.csv --columns 2,4,5,6,7
)",
     .source_name = "fixes",
     .side_file = {.option = "--roads",
                   .help = "The network; needed",
                   .example = "papers/2-windflow/traffic-monitoring/data/roads.csv"}},
    {.name = "linear-road",
     .summary = "the Linear Road benchmark: tolls, accidents and accounts of expressways",
     .details = R"(
Input:   Type,Time,VID,Spd,XWay,Lane,Dir,Seg,Pos,QID,Sinit,Send,DOW,TOD,Day
History: VID,Day,XWay,Toll
Output:  0,VID,Time,Emit,LAV,Toll   1,Time,Emit,VID,Seg   (toll, accident)
         2,Time,Emit,ResultTime,QID,Balance   3,Time,Emit,QID,Expenditure
Operators: events, dispatch, time, roads, accounts, history, write, write-balances,
         write-expenditures; with --layout operators speeds, velocities, counts,
         accidents and tolls in the place of roads

Examples (in papers/2-windflow/linear-road/data):
  strid run linear-road --input cars.csv.gz --history history.csv
  strid run linear-road --minutes 180 --expressways 2 --pace 1 --output answers.csv
  strid run linear-road --minutes 10 --write-input --output cars.csv
)",
     .source_name = "events",
     .generates = true,
     .side_file = {.option = "--history",
                   .help = "What cars paid in the last ten weeks",
                   .example = ""}},
    {.name = "voip-stream",
     .summary = "scores calls: how much their caller behaves like a telemarketer",
     .details = R"(
Input:   calling,called,start,duration,established  (2026-03-02T08:15:30Z; seconds; true or false)
Output:  calling,called,start,fofir,url,acd,score  (0 to 1) of each established call
Operators: calls, parser, sides, features, score, write; with --form full calls, parser,
         dispatcher, ct24, ecr24, global_acd, pre_rcr, rcr, ecr_1, ecr_2, encr, acd, fofir, url,
         score, write

Examples (in papers/2-windflow/voip-stream/data):
  strid run voip-stream --input calls.csv --threshold 0.5
  strid run voip-stream --input calls.csv --filters exact --form full
  strid run voip-stream --generate 10M --numbers 500k --pairs 10M --output scores.csv
  strid run voip-stream --generate 100k --calls calls.csv --telemarketers-file telemarketers.csv
)",
     .source_name = "calls",
     .generates = true,
     .needs_order = true},
    {.name = "trading",
     .summary = "forecasts the price of each symbol from windows of its quotes",
     .details = R"(
Input:   CSV with a header, or NASDAQ TotalView-ITCH 5.0, whose best bids and asks are the
         quotes: symbol,time,bid,ask,bid_size,ask_size  (times as numbers, see --time-unit,
         or dates; a quote of one side is left out)
Output:  symbol,window,time,price,volume  of each window of quotes: the price that is
         expected at a time, an interval behind the last quote, and the sum of the sizes
Operators: quotes, two-sided, predict, write, write-quotes

Examples:
  strid run trading --input papers/1-stream-memory/trading/data/quotes.csv --window 100
  strid run trading --input 01302019.NASDAQ_ITCH50.gz --quotes quotes.csv --output prices.csv
  strid run trading --input quotes.csv --memory wrapper-slab --parallelism 4
  strid run trading --generate 3M --memory engine-keys
)",
     .source_name = "quotes",
     .generates = true,
     .needs_order = true},
};

}  // namespace

std::span<const ApplicationFacts> application_table() noexcept {
    return table;
}

const ApplicationFacts* find_application(std::string_view name) noexcept {
    const auto* const row = std::ranges::find(table, name, &ApplicationFacts::name);
    return row != std::end(table) ? row : nullptr;
}

}  // namespace strid::apps
