// Charts: lines over time that share one window of time, and curves of how times are spread.

const shown = new Set(DRAWN.map((one) => one.number));
const view = { from: 0, to: SPAN };
const charts = [];
const followers = [];

// The window of time that all charts and the Gantt show.
function look(from, to) {
  const width = Math.min(SPAN, Math.max(SPAN / 20000, to - from));
  view.from = Math.max(0, Math.min(from, SPAN - width));
  view.to = view.from + width;
  for (const chart of charts) if (chart.timed && chart.plot) chart.plot.setScale("x", { min: view.from, max: view.to });
  for (const follow of followers) follow();
}

function zoom(factor, at = (view.from + view.to) / 2) {
  const part = (at - view.from) / (view.to - view.from);
  const width = (view.to - view.from) * factor;
  look(at - part * width, at + (1 - part) * width);
}

function pan(part) {
  const step = (view.to - view.from) * part;
  look(view.from + step, view.to + step);
}

function axis(write, more = {}) {
  const soft = ink("soft");
  return { stroke: soft, grid: { stroke: ink("line"), width: 1 }, ticks: { stroke: ink("line"), width: 1, size: 5 }, font: "12px system-ui, sans-serif",
    values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : write(tick))), ...more };
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000, 1728000, 2592000,
  5184000, 8640000, 17280000, 31536000];

// `lines`: [{words, color index, run, mean, peak}], on the times `at`.
function timeChart({ title, hint, at, lines, write, tick = write, top = null, height = 210, controls = null }) {
  const card = el("figure", { class: "card" });
  const chart = { timed: true, plot: null, card, lines, draw };
  card.style.margin = "0";
  const host = el("div", { class: "plot", role: "img", "aria-label": `${title}. ${hint} The figures are in the table below.` });
  card.append(el("div", { class: "head" }, el("h3", {}, title), controls), el("p", { class: "hint" }, hint), host,
    figuresOf(title, () => figures(chart, at, write)));

  function draw() {
    chart.plot?.destroy();
    host.replaceChildren();
    const mine = chart.lines;
    const data = [at], series = [{ label: "after", value: (_, v) => (v === null ? "" : duration(v)) }], bands = [];
    for (const one of mine) {
      const hue = color(one.color);
      const show = one.run === null || shown.has(one.run);
      data.push(one.mean);
      series.push({ label: one.words, stroke: hue, width: 1.75, dash: one.color % 2 ? [7, 4] : [], points: { show: false }, show, value: (_, v) => (v === null || v === undefined ? "" : write(v)) });
      if (one.peak && mine.length <= 6) {
        data.push(one.peak);
        series.push({ label: `${one.words} (peak)`, stroke: "transparent", width: 0, points: { show: false }, show, class: "peak" });
        bands.push({ series: [data.length - 1, data.length - 2], fill: hue + "26" });
      }
    }
    const most = Math.max(0, ...mine.flatMap((one) => (one.peak && mine.length <= 6 ? one.peak : one.mean)).filter((v) => v !== null));
    chart.plot = new uPlot({
      width: Math.max(240, host.clientWidth), height, series, bands, padding: [8, 10, 0, 0],
      legend: { show: true, live: true, isolate: false },
      cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false }, points: { size: 6 } },
      scales: { x: { time: false, min: view.from, max: view.to }, y: { range: () => [0, top ?? (most > 0 ? most * 1.06 : 1)] } },
      axes: [axis(duration, { incrs: STEPS, space: 80, size: 34 }), axis(tick, { size: 56 })],
      hooks: {
        setSelect: [(u) => {
          if (u.select.width > 4) look(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        ready: [(u) => u.over.addEventListener("dblclick", () => look(0, SPAN))],
      },
    }, data, host);
    // shades have no line of their own in the legend
    host.querySelectorAll(".u-legend .peak, .u-legend .u-series").forEach((row) => {
      if (row.textContent.includes("(peak)")) row.remove();
    });
  }
  charts.push(chart);
  return chart;
}

function figures(chart, at, write) {
  const heads = ["After", ...chart.lines.map((one) => one.words)];
  return table("Means of equal buckets of time.", heads, at.map((time, row) => [duration(time), ...chart.lines.map((one) => write(one.mean[row]))]));
}

// The same series of every run that is drawn.
function linesOf(name, label = "") {
  return DRAWN.flatMap((one) => (one.series[name]?.lines ?? []).filter((found) => found.label === label)
    .map((found) => ({ words: one.policy, color: one.number, run: one.number, mean: found.mean, peak: found.peak })));
}

function timesOf(name) {
  return DRAWN.map((one) => one.series[name]?.at).find(Boolean) ?? [0];
}

const SHORTEST_S = 1;

// Curves: which part of all jobs has as much or less.
function spreadChart(title, hint, key) {
  const card = el("figure", { class: "card" });
  card.style.margin = "0";
  const host = el("div", { class: "plot", role: "img", "aria-label": `${title}. ${hint} The figures are in the table below.` });
  card.append(el("h3", {}, title), el("p", { class: "hint" }, hint), host, figuresOf(title, () => {
    const parts = [0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1];
    return table("Seconds at or under which so many of the jobs that have one lie.", ["Of the jobs", ...DRAWN.map((one) => one.policy)],
      parts.map((part) => [percent(100 * part), ...DRAWN.map((one) => {
        const seconds = one[key].seconds;
        return seconds.length ? duration(seconds[Math.round(part * (seconds.length - 1))]) : "\u2013";
      })]));
  }));
  const chart = { timed: false, plot: null, card, draw };
  function draw() {
    chart.plot?.destroy();
    host.replaceChildren();
    const most = Math.max(10, ...DRAWN.flatMap((one) => one[key].seconds)) * 1.05;
    const tables = DRAWN.map((one) => {
      if (!one[key].seconds.length) return [[SHORTEST_S], [null]];
      const points = new Map([[SHORTEST_S, 0]]);
      one[key].seconds.forEach((seconds, at) => points.set(Math.max(SHORTEST_S, seconds), one[key].percent[at]));
      points.set(most, one[key].percent[one[key].percent.length - 1]);
      return [[...points.keys()], [...points.values()]];
    });
    const joined = uPlot.join(tables);
    for (const y of joined.slice(1)) spanSteps(y);
    chart.plot = new uPlot({
      width: Math.max(240, host.clientWidth), height: 240, padding: [8, 14, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      series: [{ label: "within", value: (_, v) => (v === null ? "" : duration(v)) }, ...DRAWN.map((one) => ({
        label: one.policy, stroke: color(one.number), width: 2, dash: one.number % 2 ? [7, 4] : [], points: { show: false }, show: shown.has(one.number),
        paths: uPlot.paths.stepped({ align: 1 }), value: (_, v) => (v === null || v === undefined ? "" : percent(v)) }))],
      scales: { x: { time: false, distr: 3, min: SHORTEST_S, max: most }, y: { range: () => [0, 100] } },
      axes: [axis((v) => (v <= SHORTEST_S ? "\u2264 1 s" : duration(v)), { size: 34, space: 60,
        splits: (u) => (u.width < 440 ? [1, 60, 3600, 86400, 2592000] : [1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000, 15552000]).filter((v) => v <= most),
        filter: (_, splits) => splits }),
      axis((v) => `${v} %`, { size: 54 })],
    }, joined, host);
  }
  charts.push(chart);
  return chart;
}

// Where another run has a point and this one hasn't, this one is as it was.
function spanSteps(y) {
  let last = null;
  for (let at = 0; at < y.length; at += 1) {
    if (y[at] === undefined || y[at] === null) y[at] = last;
    else last = y[at];
  }
}

function redraw() {
  for (const chart of charts) chart.draw();
  for (const follow of followers) follow();
}
