// SPDX-License-Identifier: Apache-2.0
//
// Figures of a run: their text, the differences of two reports, and what these mean. Pure functions.

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

export const quantity = (number) => scaled(number, ["", "k", "M", "G", "T"], 1000);
export const bytes = (number) => scaled(number, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
export const percent = (part) => Math.round(100 * part) + " %";
export const known = (value, text) => value === null ? "–" : text(value);

const minute_ns = 60e9;
const longer = [["years", 525960 * minute_ns], ["days", 1440 * minute_ns], ["h", 60 * minute_ns],
    ["min", minute_ns]];

export function duration(ns) {
    if (ns < 0) return "−" + duration(-ns);
    const unit = longer.find(([, length]) => ns >= 2 * length);
    if (unit) return digits(ns / unit[1]) + " " + unit[0];
    return scaled(Math.round(ns), ["ns", "µs", "ms", "s"], 1000);
}

export function clock(seconds) {
    const whole = Math.floor(seconds);
    const two = (number) => String(number).padStart(2, "0");
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor(whole / 60) % 60;
    return (hours ? hours + ":" + two(minutes) : minutes) + ":" + two(whole % 60);
}

/** A time in UTC; without the date where that is the one of `today_ms`. */
export function moment(ms, today_ms) {
    const text = new Date(ms).toISOString().replace("T", " ").replace("Z", "");
    const day = new Date(today_ms).toISOString().slice(0, 10);
    return text.startsWith(day + " ") ? text.slice(11) : text.replace(/\.000$/, "");
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

const end_of_time_ns = 9.2e18;

/** In ms since 1970; null where there is none, or the stream has ended. */
function watermarkOf(segment) {
    const ns = segment.watermark_ns;
    return ns === null || Math.abs(ns) > end_of_time_ns ? null : ns / 1e6;
}

function segmentBetween(before, now, seconds) {
    // Times are counted when a batch is done: those of a short while may be longer than it.
    const spent_ns = ["busy_ns", "idle_ns", "refused_ns"].reduce(
        (sum, name) => sum + now[name] - before[name], 0);
    const time_ns = Math.max(seconds * 1e9 * now.parallelism, spent_ns);
    const places = now.queued_batches_max - before.queued_batches_max;
    return {
        parallelism: now.parallelism,
        fill: places > 0 ? clamped((now.queued_batches - before.queued_batches) / places) : 0,
        watermark_ms: watermarkOf(now),
        busy: clamped((now.busy_ns - before.busy_ns) / time_ns),
        idle: clamped((now.idle_ns - before.idle_ns) / time_ns),
        held: clamped((now.refused_ns - before.refused_ns) / time_ns),
        p50: percentile(before.latency, now.latency, 0.5),
        p99: percentile(before.latency, now.latency, 0.99),
        refusals: (now.refusals - before.refusals) / seconds,
        operators: now.operators.map((op, i) => ({
            name: op.name,
            into: (op.records_in - before.operators[i].records_in) / seconds,
            out: (op.records_out - before.operators[i].records_out) / seconds,
            late: op.records_late,
            malformed: op.records_malformed,
            skipped: op.records_skipped,
            keys: op.state_keys,
            bytes: op.state_bytes,
            counters: Object.entries(op.counters),
        })),
    };
}

export function between(before, now) {
    const seconds = Math.max(now.seconds - before.seconds, 1e-3);
    const segments = now.segments.map((one, i) => segmentBetween(before.segments[i], one, seconds));
    const time_ms = Date.parse(now.time);
    const watermarks = segments.map((one) => one.watermark_ms).filter((ms) => ms !== null);
    return {
        time_ms,
        into: (now.records_in - before.records_in) / seconds,
        out: (now.records_out - before.records_out) / seconds,
        p50: percentile(before.latency, now.latency, 0.5),
        p99: percentile(before.latency, now.latency, 0.99),
        memory: now.resident_bytes,
        lag: watermarks.length ? (time_ms - Math.min(...watermarks)) * 1e6 : null,
        segments,
    };
}

/** Lines that sources refused, so far. */
export function refusedLines(report) {
    return report.segments.flatMap((segment) => segment.operators)
        .reduce((sum, op) => sum + op.records_malformed, 0);
}

// What the figures mean, for people.

/** The part of the time in which a segment has input and room: it works, or waits for a worker. */
function loadOf(segment) {
    return clamped(1 - segment.idle - segment.held);
}

/** The activity of a segment that takes most of its time. */
function reasonOf(segment) {
    const waits = clamped(loadOf(segment) - segment.busy);
    const most = Math.max(segment.busy, segment.idle, segment.held, waits);
    if (most === segment.busy) return "busy " + percent(segment.busy) + " of the time";
    if (most === segment.held) return "held back " + percent(segment.held) + " of the time";
    if (most === segment.idle) return "starved: no input " + percent(segment.idle) + " of the time";
    return "waiting for a worker " + percent(waits) + " of the time";
}

/** The place of the segment with the greatest load that nothing holds back; null where all are
    held back. */
function busiestOf(segments) {
    let most = null;
    segments.forEach((segment, i) => {
        if (loadOf(segment) < segment.held) return;
        if (most === null || loadOf(segment) > loadOf(segments[most])) most = i;
    });
    return most;
}

/** The same where it has input and room most of the time, else null. */
export function slowestOf(segments) {
    const place = busiestOf(segments);
    return place === null || loadOf(segments[place]) < 0.5 ? null : place;
}

export function slowestText(segments) {
    const place = busiestOf(segments);
    if (segments.some((segment) => segment.held > 0.5) && slowestOf(segments) === null) {
        return "No operator is slow: what reads the results holds the graph back.";
    }
    if (place === null) return "";
    const busiest = segments[place].operators.map((op) => op.name).join(" + ");
    if (slowestOf(segments) === null) {
        return "No operator is slow. The busiest, " + busiest + ", is " +
            reasonOf(segments[place]) + ".";
    }
    const others = segments.filter((segment) => segment.held > 0.2).length;
    return "Slowest: " + busiest + ", " + reasonOf(segments[place]) +
        (others ? "; it holds back others" : "") + ".";
}

/** How the run stands with a broker or a database. */
export function connectionText(one) {
    const seconds = duration(one.seconds * 1e9);
    const state = one.is_up ? "connected for " + seconds
        : "not reached for " + seconds + " (" + one.reason.replace(one.address + ": ", "") + ")";
    const times = one.times_lost === 1 ? "once" : one.times_lost + " times";
    return state + (one.times_lost && one.is_up ? ", lost " + times : "") +
        (one.bytes_held ? "; " + bytes(one.bytes_held) + " of rows wait" : "");
}
