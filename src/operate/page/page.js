// SPDX-License-Identifier: Apache-2.0
//
// Shows a run: reads /graph once and /report every second, and shows the differences of two
// reports. All data reaches the page as text (textContent), never as markup.
"use strict";

const period_ms = 1000;
const points_max = 180;
const svg_space = "http://www.w3.org/2000/svg";

function made(tag, names, text) {
    const element = document.createElement(tag);
    if (names) element.className = names;
    if (text !== undefined) element.textContent = text;
    return element;
}

function drawn(tag, attributes) {
    const element = document.createElementNS(svg_space, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
}

// Figures as text: three digits, as the command line has them.

function digits(number) {
    return number >= 100 ? number.toFixed(0) : number >= 10 ? number.toFixed(1) : number.toFixed(2);
}

function scaled(number, units, step) {
    let unit = 0;
    while (number >= step * 0.9995 && unit + 1 < units.length) {
        number /= step;
        ++unit;
    }
    return (unit === 0 && Number.isInteger(number) ? String(number) : digits(number)) +
        (units[unit] ? " " + units[unit] : "");
}

const quantity = (number) => scaled(number, ["", "k", "M", "G", "T"], 1000);
const duration = (ns) => scaled(Math.round(ns), ["ns", "us", "ms", "s"], 1000);
const bytes = (number) => scaled(number, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
const percent = (part) => Math.round(100 * part) + " %";

function clock(seconds) {
    const whole = Math.floor(seconds);
    const two = (number) => String(number).padStart(2, "0");
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor(whole / 60) % 60;
    return (hours ? hours + ":" + two(minutes) : minutes) + ":" + two(whole % 60);
}

// The figures between two reports.

function clamped(part) {
    return Math.min(Math.max(part, 0), 1);
}

/** The latency that `share` of the records between two histograms did not exceed; null: none. */
function percentile(before, now, share) {
    const old = new Map(before.histogram_ns);
    const buckets = now.histogram_ns.map(([most, count]) => [most, count - (old.get(most) || 0)]);
    const all = buckets.reduce((sum, [, count]) => sum + count, 0);
    let below = 0;
    for (const [most, count] of buckets) {
        below += count;
        if (count > 0 && below >= share * all) return most;
    }
    return null;
}

function segmentBetween(before, now, seconds) {
    // Times are counted when a batch is done: those of a short while may be longer than it.
    const spent_ns = ["busy_ns", "idle_ns", "refused_ns"].reduce(
        (sum, name) => sum + now[name] - before[name], 0);
    const time_ns = Math.max(seconds * 1e9 * now.parallelism, spent_ns);
    return {
        parallelism: now.parallelism,
        fill: now.queue_fill,
        busy: clamped((now.busy_ns - before.busy_ns) / time_ns),
        idle: clamped((now.idle_ns - before.idle_ns) / time_ns),
        held: clamped((now.refused_ns - before.refused_ns) / time_ns),
        operators: now.operators.map((op, i) => ({
            name: op.name,
            into: (op.records_in - before.operators[i].records_in) / seconds,
            out: (op.records_out - before.operators[i].records_out) / seconds,
            late: op.records_late,
            malformed: op.records_malformed,
            skipped: op.records_skipped,
        })),
    };
}

function between(before, now) {
    const seconds = Math.max(now.seconds - before.seconds, 1e-3);
    return {
        into: (now.records_in - before.records_in) / seconds,
        out: (now.records_out - before.records_out) / seconds,
        p50: percentile(before.latency, now.latency, 0.5),
        p99: percentile(before.latency, now.latency, 0.99),
        memory: now.resident_bytes,
        segments: now.segments.map((one, i) => segmentBetween(before.segments[i], one, seconds)),
    };
}

/** What a segment does most of the time, for people. */
function reasonOf(segment) {
    const waits = clamped(1 - segment.busy - segment.idle - segment.held);
    const most = Math.max(segment.busy, segment.idle, segment.held, waits);
    if (most === segment.busy) return "busy " + percent(segment.busy) + " of the time";
    if (most === segment.held) return "held back " + percent(segment.held) + " of the time";
    if (most === segment.idle) return "starved: no input " + percent(segment.idle) + " of the time";
    return "waiting for a worker " + percent(waits) + " of the time";
}

/** The place of the segment that works most, and null where none does much. */
function slowestOf(segments) {
    let most = null;
    segments.forEach((segment, i) => {
        if (segment.busy >= 0.1 && (most === null || segment.busy > segments[most].busy)) most = i;
    });
    return most;
}

function slowestText(segments) {
    const place = slowestOf(segments);
    if (place === null) {
        return segments.some((segment) => segment.held > 0.5)
            ? "No operator is slow: what reads the results holds the graph back."
            : "No operator is slow: the graph waits for its input.";
    }
    const names = segments[place].operators.map((op) => op.name).join(" + ");
    const others = segments.filter((segment) => segment.held > 0.2).length;
    return "Slowest: " + names + ", " + reasonOf(segments[place]) +
        (others ? "; it holds back others" : "") + ".";
}

// Small plots.

class Plot {
    constructor(parent, title, colours, text) {
        this.series = colours.map(() => []);
        this.text = text;
        const box = parent.appendChild(made("div", "figure"));
        box.appendChild(made("h2", "", title));
        this.now = box.appendChild(made("div", "now", "–"));
        const picture = box.appendChild(drawn("svg", {
            viewBox: "0 0 " + (points_max - 1) + " 100", preserveAspectRatio: "none",
            "aria-hidden": "true"}));
        this.lines = colours.map((colour) =>
            picture.appendChild(drawn("polyline", {class: colour})));
    }

    /** `null` leaves a gap in what is shown now, and repeats nothing. */
    add(values) {
        this.now.textContent = this.text(values);
        values.forEach((value, i) => {
            this.series[i].push(value);
            if (this.series[i].length > points_max) this.series[i].shift();
        });
        const most = Math.max(1e-9, ...this.series.flat().filter((value) => value !== null));
        this.series.forEach((series, i) => {
            const first = points_max - series.length;
            this.lines[i].setAttribute("points", series
                .map((value, x) => value === null ? null : (first + x) + "," + (97 - 94 * value / most))
                .filter((point) => point !== null).join(" "));
        });
    }
}

// The graph: a row of boxes for each step away from the sources, and edges between them.

/** How many edges are before each segment, at most. */
function depthsOf(graph) {
    const depths = graph.segments.map(() => 0);
    const forward = graph.edges.filter((edge) => !edge.back);
    for (let round = 0; round < graph.segments.length; ++round) {
        for (const edge of forward) {
            depths[edge.to] = Math.max(depths[edge.to],
                Math.min(depths[edge.from] + 1, graph.segments.length - 1));
        }
    }
    return depths;
}

class Box {
    constructor(segment) {
        this.element = made("div", "segment");
        this.operators = segment.operators.map((op) => {
            const line = this.element.appendChild(made("div", "operator"));
            const name = line.appendChild(made("span", "name", op.name + " "));
            name.appendChild(made("span", "kind",
                op.kind + (op.parallelism > 1 ? " ×" + op.parallelism : "")));
            return line.appendChild(made("span", "rate"));
        });
        const bar = this.element.appendChild(made("div", "bar"));
        this.busy = bar.appendChild(made("div", "busy"));
        this.held = bar.appendChild(made("div", "held"));
        this.notes = this.element.appendChild(made("div", "notes"));
    }

    show(segment, is_slowest) {
        this.element.classList.toggle("slowest", is_slowest);
        segment.operators.forEach((op, i) => {
            this.operators[i].textContent = quantity(op.out || op.into) + "/s";
        });
        this.busy.style.width = 100 * segment.busy + "%";
        this.held.style.width = 100 * segment.held + "%";
        const sum = (name) => segment.operators.reduce((all, op) => all + op[name], 0);
        const notes = ["busy " + percent(segment.busy)];
        if (segment.held >= 0.005) notes.push("held back " + percent(segment.held));
        if (segment.idle >= 0.005) notes.push("without input " + percent(segment.idle));
        if (segment.fill > 0) notes.push("queue " + percent(segment.fill));
        for (const name of ["late", "malformed", "skipped"]) {
            if (sum(name) > 0) notes.push(quantity(sum(name)) + " " + name);
        }
        this.notes.textContent = notes.join(" · ");
    }
}

class GraphPicture {
    constructor(parent, graph) {
        this.parent = parent;
        this.graph = graph;
        this.rates = graph.edges.map(() => "");
        this.boxes = graph.segments.map((segment) => new Box(segment));
        const depths = depthsOf(graph);
        for (let depth = 0; depth <= Math.max(0, ...depths); ++depth) {
            const layer = made("div", "layer");
            this.boxes.forEach((box, i) => {
                if (depths[i] === depth) layer.appendChild(box.element);
            });
            if (layer.childElementCount > 0) parent.appendChild(layer);
        }
        this.lines = parent.appendChild(drawn("svg", {"aria-hidden": "true"}));
        new ResizeObserver(() => this.drawEdges()).observe(parent);
    }

    show(segments) {
        const slowest = slowestOf(segments);
        segments.forEach((segment, i) => this.boxes[i].show(segment, i === slowest));
        this.rates = this.graph.edges.map((edge) => {
            const alone = this.graph.edges.filter((other) => other.to === edge.to).length === 1;
            const rate = alone ? segments[edge.to].operators[0].into
                : segments[edge.from].operators.at(-1).out;
            return quantity(rate) + "/s";
        });
        this.drawEdges();
    }

    drawEdges() {
        const frame = this.parent.getBoundingClientRect();
        const shapes = this.graph.edges.flatMap((edge, i) => {
            const from = this.boxes[edge.from].element.getBoundingClientRect();
            const to = this.boxes[edge.to].element.getBoundingClientRect();
            const x1 = from.left + from.width / 2 - frame.left;
            const y1 = from.bottom - frame.top;
            const x2 = to.left + to.width / 2 - frame.left;
            const y2 = to.top - frame.top;
            const bend = edge.back ? 30 : Math.max((y2 - y1) / 2, 10);
            const label = drawn("text", {x: (x1 + x2) / 2, y: (y1 + y2) / 2 + 4});
            label.textContent = [edge.routing, this.rates[i]].filter(Boolean).join(" · ");
            return [
                drawn("path", {
                    class: edge.back ? "back" : "",
                    d: `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2 - 6}`}),
                drawn("path", {class: "arrow", d: `M${x2 - 5},${y2 - 8} h10 l-5,8 z`}),
                label];
        });
        this.lines.replaceChildren(...shapes);
    }
}

// Reading.

async function read(path) {
    const answer = await fetch(path, {cache: "no-store"});
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer.json();
}

function stateText(report) {
    if (!report.running) return "over after " + clock(report.seconds);
    return "running for " + clock(report.seconds) + ", " + quantity(report.records_in) +
        " records in, " + quantity(report.records_out) + " out";
}

function showState(text, is_lost) {
    const state = document.getElementById("state");
    if (state.textContent !== text) state.textContent = text;
    state.classList.toggle("lost", is_lost);
}

async function main() {
    const figures = document.getElementById("figures");
    const known = (value, text) => value === null ? "–" : text(value);
    const rates = new Plot(figures, "Records per second: in, out", ["first", "second"],
        ([into, out]) => quantity(into) + ", " + quantity(out));
    const latency = new Plot(figures, "Latency: p50, p99", ["first", "second"],
        (values) => values.map((value) => known(value, duration)).join(", "));
    const memory = new Plot(figures, "Memory", ["first"], ([value]) => bytes(value));
    let picture = null;
    let before = null;
    for (;;) {
        try {
            const report = await read("/report");
            if (picture === null) {
                const graph = await read("/graph");
                document.title = graph.name + " – Strid";
                document.getElementById("name").textContent = graph.name;
                picture = new GraphPicture(document.getElementById("graph"), graph);
            }
            showState(stateText(report), false);
            // Another run has the port now.
            if (report.segments.length !== picture.boxes.length) location.reload();
            if (before !== null && report.seconds > before.seconds) {
                const now = between(before, report);
                rates.add([now.into, now.out]);
                latency.add([now.p50, now.p99]);
                memory.add([now.memory]);
                picture.show(now.segments);
                document.getElementById("slowest").textContent = slowestText(now.segments);
            }
            before = report;
        } catch (error) {
            showState("no figures: " + (error instanceof TypeError
                ? "the run is over, or out of reach" : error.message), true);
        }
        await new Promise((resolve) => setTimeout(resolve, period_ms));
    }
}

main();
