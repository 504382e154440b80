// SPDX-License-Identifier: Apache-2.0
//
// Shows a run: reads the graph once and a report each second by server-sent events, and shows the
// differences of two reports. All data becomes text (textContent), never markup.

import {
    between, bytes, clock, connectionText, duration, known, moment, quantity, refusedLines, slowestText,
} from "./figures.js";
import {GraphPicture, drawn, made} from "./graph.js";

const points_min = 30;
const points_max = 180;
const refused_max = 5;
const retry_ms = 1000;
const retry_when_over_ms = 3000;
const silence_ms = 5000;
const list_period_ms = 2000;
const over = "The run is over. This page waits for the next one at its address.";

const element = (id) => document.getElementById(id);

async function read(path) {
    const answer = await fetch(path, {cache: "no-store"});
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer.json();
}

/** A small plot of one or more series; a gap where there is no value. */
class Plot {
    constructor(parent, title, series, text) {
        this.series = series.map(() => []);
        this.text = text;
        this.box = parent.appendChild(made("div", "figure"));
        this.box.appendChild(made("h2", "", title));
        const now = this.box.appendChild(made("p", "now"));
        this.now = series.map(([colour, name]) => {
            const one = now.appendChild(made("span", colour));
            const value = one.appendChild(made("span", "value", "–"));
            if (name) one.appendChild(made("span", "key", " " + name));
            return value;
        });
        this.picture = this.box.appendChild(drawn("svg", {
            preserveAspectRatio: "none", "aria-hidden": "true"}));
        this.lines = series.map(([colour]) =>
            this.picture.appendChild(drawn("path", {class: colour})));
        this.scale = this.box.appendChild(made("p", "scale", "\u00a0"));
    }

    add(values) {
        values.forEach((value, i) => {
            this.now[i].textContent = known(value, this.text);
            this.series[i].push(value);
            if (this.series[i].length > points_max) this.series[i].shift();
        });
        const points = this.series[0].length;
        this.first = Math.max(points_min - points, 0);
        this.picture.setAttribute("viewBox", `0 0 ${this.first + points - 1} 100`);
        const all = this.series.flat().filter((value) => value !== null);
        const most = Math.max(1e-9, ...all);
        this.series.forEach((series, i) =>
            this.lines[i].setAttribute("d", this.path(series, most)));
        this.scale.textContent = (all.length ? "0 to " + this.text(Math.max(0, ...all)) + ", " : "") +
            "last " + points + " s";
    }

    path(series, most) {
        let is_gap = true;
        return series.map((value, x) => {
            const command = is_gap ? "M" : "L";
            is_gap = value === null;
            return is_gap ? "" : command + (this.first + x) + "," +
                (97 - 94 * Math.max(value, 0) / most).toFixed(1);
        }).join("");
    }
}

/** Reports by server-sent events; opens the stream again when it is lost, after the milliseconds
    that `lost` returns. Hidden pages have none: a browser has few connections to a server. */
class Feed {
    constructor(take, lost) {
        this.take = take;
        this.lost = lost;
        document.addEventListener("visibilitychange",
            () => document.hidden ? this.close() : this.open());
        if (!document.hidden) this.open();
    }

    open() {
        this.close();
        this.source = new EventSource("/events");
        this.source.onmessage = (event) => {
            this.expect();
            this.take(JSON.parse(event.data));
        };
        this.source.onerror = () => this.again();
        this.expect();
    }

    /** Another event is due: a connection may be lost without an error. */
    expect() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.again(), silence_ms);
    }

    again() {
        this.close();
        this.timer = setTimeout(() => this.open(), this.lost());
    }

    close() {
        clearTimeout(this.timer);
        if (this.source) this.source.close();
        this.source = null;
    }
}

/** Lists that are no part of a report, read when they may have changed. */
class Lists {
    constructor() {
        this.forget();
    }

    forget() {
        this.refused = 0;
        this.read_at = {"/refused": -list_period_ms, "/snapshots": -list_period_ms};
        this.takes_snapshots = true;
        this.snapshots = [];
        element("refused").hidden = true;
        element("snapshots").hidden = true;
    }

    async update(report) {
        const refused = refusedLines(report);
        if (refused !== this.refused && this.isDue("/refused")) {
            this.refused = refused;
            this.showRefused((await read("/refused")).lines, refused);
        }
        if (this.takes_snapshots && this.isDue("/snapshots")) {
            const answer = await read("/snapshots");
            this.takes_snapshots = answer.taken;
            this.snapshots = answer.snapshots.reverse();
        }
        if (this.takes_snapshots) this.showSnapshots(Date.parse(report.time));
    }

    isDue(path) {
        const now = performance.now();
        if (now - this.read_at[path] < list_period_ms) return false;
        this.read_at[path] = now;
        return true;
    }

    showRefused(lines, count) {
        element("refused").hidden = false;
        element("refused-count").textContent = quantity(count) + " so far; the last ones:";
        const shown = lines.slice(-refused_max).reverse();
        element("refused-lines").replaceChildren(...shown.map((one) => {
            const item = made("li");
            item.appendChild(made("strong", "", one.file + ":" + one.line));
            item.appendChild(made("span", "", " " + one.reason));
            item.appendChild(made("code", "", one.text));
            return item;
        }));
    }

    showSnapshots(now_ms) {
        element("snapshots").hidden = false;
        const age = (one) => duration(Math.max(now_ms - one.taken_ms, 0) * 1e6);
        const items = this.snapshots.map((one) => made("li", "",
            "number " + one.number + ": " + age(one) + " ago (" + moment(one.taken_ms, now_ms) + " UTC), state of " + bytes(one.state_bytes) +
            " in a file of " + bytes(one.file_bytes)));
        element("snapshots-list").replaceChildren(
            ...(items.length ? items : [made("li", "", "none yet")]));
    }
}

class Page {
    constructor() {
        const figures = element("figures");
        const both = (first, second) => [["first", first], ["second", second]];
        this.rates = new Plot(figures, "Rate", both("in", "out"),
            (records) => quantity(records) + "/s");
        this.latency = new Plot(figures, "Latency", both("p50", "p99"), duration);
        this.memory = new Plot(figures, "Memory", [["first", ""]], bytes);
        this.lag = new Plot(figures, "Watermark lag", [["first", ""]], duration);
        this.lag.box.hidden = true;
        this.lists = new Lists();
        this.picture = null;
        this.graph_text = "";
        this.before = null;
        this.seconds = 0;
        this.is_over = false;
        this.is_reading = false;
        this.feed = new Feed((report) => this.take(report), () => this.lose());
    }

    /** A report has come; while one is being shown the next is passed over. */
    async take(report) {
        if (this.is_reading) return;
        this.is_reading = true;
        try {
            if (this.before === null) await this.readGraph(report);
            this.show(report);
            await this.lists.update(report);
        } catch (error) {
            // The stream is lost as well, or will be: its error is shown.
            this.before = null;
        } finally {
            this.is_reading = false;
        }
    }

    /** Behind a lost connection: it may be another run. */
    async readGraph(report) {
        const graph = await read("/graph");
        const text = JSON.stringify(graph);
        if (text !== this.graph_text || report.seconds < this.seconds) this.lists.forget();
        if (text === this.graph_text) return;
        this.graph_text = text;
        document.title = graph.name + " – Strid";
        element("name").textContent = graph.name;
        if (this.picture) this.picture.remove();
        this.picture = new GraphPicture(element("graph"), graph);
    }

    show(report) {
        this.seconds = report.seconds;
        this.is_over = !report.running;
        this.say(this.is_over ? over : "running", this.is_over);
        if (this.is_over) element("slowest").textContent = "";
        this.showConnections(report.connections);
        element("totals").textContent = clock(report.seconds) + " · " + quantity(report.records_in) + " records in · " +
            quantity(report.records_out) + " out";
        const last = this.before;
        // The rates of a moment that is too short mean nothing.
        if (last !== null && report.seconds - last.seconds < 0.3) return;
        this.before = report;
        if (last === null) return;
        const now = between(last, report);
        this.rates.add([now.into, now.out]);
        this.latency.add([now.p50, now.p99]);
        this.memory.add([now.memory]);
        this.lag.add([now.lag]);
        if (now.lag !== null) this.lag.box.hidden = false;
        this.picture.show(now.segments, now.time_ms);
        if (!this.is_over) element("slowest").textContent = slowestText(now.segments);
    }

    showConnections(connections) {
        element("connections").hidden = connections.length === 0;
        element("connections-list").replaceChildren(...connections.map((one) => {
            const item = made("li", one.is_up ? "" : "lost");
            item.appendChild(made("strong", "", one.address));
            item.appendChild(made("span", "", " " + connectionText(one)));
            return item;
        }));
    }

    /** Returns when to try again. */
    lose() {
        this.before = null;
        if (this.is_over) return retry_when_over_ms;
        for (const plot of [this.rates, this.latency, this.memory, this.lag]) {
            plot.add(plot.series.map(() => null));
        }
        this.say("The connection is lost. Trying again.", true);
        fetch("/readyz", {cache: "no-store"}).then((answer) => answer.text()).then((text) => {
            if (this.before !== null) return;
            this.say(text.trim() === "ready" ? "Too many pages are open. Trying again."
                : "No figures: " + text.trim() + ". Trying again.", true);
        }).catch(() => {});
        return retry_ms;
    }

    say(text, is_lost) {
        const state = element("state");
        if (state.textContent !== text) state.textContent = text;
        state.classList.toggle("lost", is_lost);
        document.body.classList.toggle("stale", is_lost);
    }
}

new Page();
