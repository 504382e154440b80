// SPDX-License-Identifier: Apache-2.0
//
// The picture of the graph: a layer of boxes for each step away from the sources, and edges between
// them. All data becomes text (textContent), never markup.

import {bytes, duration, known, moment, percent, quantity, slowestOf} from "./figures.js";

const svg_space = "http://www.w3.org/2000/svg";

export function made(tag, names, text) {
    const element = document.createElement(tag);
    if (names) element.className = names;
    if (text !== undefined) element.textContent = text;
    return element;
}

export function drawn(tag, attributes) {
    const element = document.createElementNS(svg_space, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
}

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
    /** `is_end`: its last operator is a sink, which emits nothing. */
    constructor(segment, is_end) {
        this.is_end = is_end;
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
        this.details = this.element.appendChild(made("details"));
        const names = segment.operators.map((op) => op.name).join(" + ");
        const summary = this.details.appendChild(made("summary", "", "more"));
        summary.setAttribute("aria-label", "more of " + names);
        this.list = this.details.appendChild(made("dl"));
        this.details.addEventListener("toggle", () => this.showDetails());
    }

    show(segment, is_slowest) {
        this.segment = segment;
        this.element.classList.toggle("slowest", is_slowest);
        segment.operators.forEach((op, i) => {
            const is_sink = this.is_end && i + 1 === segment.operators.length;
            this.operators[i].textContent = quantity(is_sink ? op.into : op.out) + "/s";
        });
        this.busy.style.width = 100 * segment.busy + "%";
        this.held.style.width = 100 * segment.held + "%";
        const sum = (name) => segment.operators.reduce((all, op) => all + op[name], 0);
        const notes = ["busy " + percent(segment.busy)];
        if (segment.held >= 0.005) notes.push("held back " + percent(segment.held));
        if (segment.idle >= 0.005) notes.push("without input " + percent(segment.idle));
        for (const [name, word] of [["late", "late"], ["malformed", "refused"],
            ["skipped", "skipped"]]) {
            if (sum(name) > 0) notes.push(quantity(sum(name)) + " " + word);
        }
        this.notes.textContent = notes.map((note) => note.replaceAll(" ", "\u00a0")).join(" · ");
        this.showDetails();
    }

    showDetails() {
        if (!this.details.open || !this.segment) return;
        const segment = this.segment;
        const rows = [
            ["replicas", String(segment.parallelism)],
            ["latency p50, p99",
                [segment.p50, segment.p99].map((ns) => known(ns, duration)).join(", ")],
            ["runs without room", quantity(segment.refusals) + "/s"]];
        for (const op of segment.operators) {
            rows.push([op.name, quantity(op.into) + "/s in, " + quantity(op.out) + "/s out"]);
            if (op.keys > 0 || op.bytes > 0) {
                rows.push([op.name + ": state", quantity(op.keys) + " keys, " + bytes(op.bytes)]);
            }
            for (const [name, count] of op.counters) {
                rows.push([op.name + ": " + name, quantity(count)]);
            }
        }
        this.list.replaceChildren(...rows.flatMap(([name, value]) =>
            [made("dt", "", name), made("dd", "", value)]));
    }
}

/** The edges into a box, with a label for all of them above it. */
class Inputs {
    /** `is_alone`: whether a segment is the only one of its layer. */
    constructor(graph, to, is_alone) {
        this.to = to;
        this.edges = graph.edges.filter((edge) => edge.to === to);
        this.names = this.edges.map((edge) => this.edges.length === 1 && is_alone(edge.from)
            ? "" : graph.segments[edge.from].operators.at(-1).name);
        this.label = made("div", "label");
        this.say(this.edges.map(() => []));
    }

    /** Lines of the label at most. */
    get lines() {
        return this.edges.length + 1;
    }

    say(figures, state = []) {
        const lines = this.edges.map((edge, i) =>
            [this.names[i], edge.routing, ...figures[i]].filter(Boolean).join(" · "));
        lines.push(state.join(" · "));
        this.label.replaceChildren(...lines.filter(Boolean).map((line) => made("div", "", line)));
    }

    show(segments, time_ms) {
        const to = segments[this.to];
        const is_alone = this.edges.length === 1;
        const state = [];
        if (to.fill >= 0.005) state.push("queue " + percent(to.fill));
        const watermarks = this.edges.map((edge) => segments[edge.from].watermark_ms)
            .filter((ms) => ms !== null);
        if (watermarks.length) state.push("up to " + moment(Math.min(...watermarks), time_ms));
        this.say(this.edges.map((edge) => [quantity(is_alone
            ? to.operators[0].into : segments[edge.from].operators.at(-1).out) + "/s"]), state);
        this.held = this.edges.map((edge) => segments[edge.from].held >= 0.05 && to.fill >= 0.3);
    }

    /** Shapes of the edges, in the coordinates of the frame; moves the label. */
    shapes(frame, places) {
        const to = places[this.to];
        const y2 = to.top - frame.top;
        this.label.style.left = to.left + to.width / 2 - frame.left + "px";
        this.label.style.top = y2 - 14 + "px";
        return this.edges.flatMap((edge, i) => {
            const from = places[edge.from];
            const x1 = from.left + from.width / 2 - frame.left;
            const y1 = from.bottom - frame.top;
            const x2 = to.left + to.width * (i + 1) / (this.edges.length + 1) - frame.left;
            const bend = edge.back ? 30 : Math.max((y2 - y1) / 2, 10);
            const names = (edge.back ? "back " : "") + (this.held && this.held[i] ? "held" : "");
            const path = `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2 - 6}`;
            return [drawn("path", {class: names, d: path}),
                drawn("path", {class: "arrow " + names, d: `M${x2 - 5},${y2 - 8} h10 l-5,8 z`})];
        });
    }
}

export class GraphPicture {
    constructor(parent, graph) {
        this.parent = parent;
        this.boxes = graph.segments.map((segment, i) =>
            new Box(segment, graph.edges.every((edge) => edge.from !== i)));
        const depths = depthsOf(graph);
        const is_alone = (place) =>
            depths.filter((depth) => depth === depths[place]).length === 1;
        this.inputs = graph.segments.map((_, i) => new Inputs(graph, i, is_alone))
            .filter((one) => one.edges.length > 0);
        this.picture = drawn("svg", {"aria-hidden": "true"});
        parent.replaceChildren(this.picture);
        for (let depth = 0; depth <= Math.max(0, ...depths); ++depth) {
            const layer = made("div", "layer");
            this.boxes.forEach((box, i) => {
                if (depths[i] === depth) layer.appendChild(box.element);
            });
            const lines = this.inputs.filter((one) => depths[one.to] === depth)
                .map((one) => one.lines);
            // Room for the labels of this layer.
            layer.style.setProperty("--lines", Math.max(0, ...lines));
            if (layer.childElementCount > 0) parent.appendChild(layer);
        }
        parent.append(...this.inputs.map((one) => one.label));
        this.resized = new ResizeObserver(() => this.drawEdges());
        this.resized.observe(parent);
    }

    show(segments, time_ms) {
        const slowest = slowestOf(segments);
        segments.forEach((segment, i) => this.boxes[i].show(segment, i === slowest));
        for (const one of this.inputs) one.show(segments, time_ms);
        this.drawEdges();
    }

    drawEdges() {
        const frame = this.parent.getBoundingClientRect();
        const places = this.boxes.map((box) => box.element.getBoundingClientRect());
        this.picture.replaceChildren(...this.inputs.flatMap((one) => one.shapes(frame, places)));
    }

    remove() {
        this.resized.disconnect();
        this.parent.replaceChildren();
    }
}
