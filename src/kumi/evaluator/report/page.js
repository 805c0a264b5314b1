// The page: sections in their order, and what its buttons do.

const root = document.documentElement;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let wish = "system";

function paint() {
  root.dataset.theme = wish === "system" ? (dark.matches ? "dark" : "light") : wish;
  document.getElementById("theme").textContent = { system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" }[wish];
}

function choice(words, options, act) {
  const box = el("select", { onchange: (event) => act(Number(event.target.value)) }, ...options.map((text, at) => el("option", { value: at }, text)));
  return el("label", {}, words, box);
}

function lead() {
  const one = RUNS[0];
  if (!one) return "No run was played.";
  const c = DATA.cluster;
  const has = Object.entries(c.capacity ?? {}).map(([resource, value]) => `${amount(resource, value)} ${resource === "cpu" ? "cores" : resource === "memory" ? "memory" : resource === "nvidia.com/gpu" ? "GPUs" : resource}`);
  const models = Object.keys(c.models ?? {}).length;
  const what = [`${number(one.summary.jobs)} jobs`, `${duration(SPAN)} of virtual time`, `${number(c.nodes)} nodes`, ...has, models ? `${models} GPU models` : null].filter(Boolean);
  return `${what.join(" \u00b7 ")}. ${POLICIES.length === 1 ? "One policy" : `${POLICIES.length} policies`}${SEEDS > 1 ? `, up to ${SEEDS} seeds each` : ""}.`;
}

function chips() {
  const host = document.getElementById("policies");
  for (const one of DRAWN) {
    host.append(el("button", { type: "button", class: "chip", "aria-pressed": "true", title: one.policy, onclick: (event) => {
      if (!shown.delete(one.number)) shown.add(one.number);
      event.currentTarget.setAttribute("aria-pressed", String(shown.has(one.number)));
      redraw();
    } }, line(one.number), el("span", {}, one.policy)));
  }
}

function clock() {
  document.getElementById("window").textContent = view.to - view.from >= SPAN ? `0 \u2013 ${duration(SPAN)}` : `${duration(view.from)} \u2013 ${duration(view.to)}`;
}

function summarySection() {
  const note = [SEEDS > 1
    ? "Each figure is the mean over the seeds, with the least and the most below it. Whether a difference is more than chance says "
    : "One seed each: small differences may be chance. Repeat the seeds, and see what stays with ", el("code", {}, "kumi evaluate --compare"), "."];
  section("summary", "Summary", POLICIES.length > 1 ? "The best figure of each row is marked." : "", glance(), el("div", { class: "card" }, summaryTable()),
    POLICIES.length > 1 ? el("p", { class: "note" }, ...note) : null,
    ...RUNS.filter((run) => run.summary.stopped).map((run) => el("p", { class: "note stopped" }, `${run.policy}, seed ${run.seed}, is not played to its end: ${run.summary.stopped}`)),
    ...[...new Set(RUNS.flatMap((run) => run.summary.notes ?? []))].map((text) => el("p", { class: "note" }, text)),
    DATA.policies > DRAWN.length ? el("p", { class: "note" }, `Charts have the first ${DRAWN.length} of ${DATA.policies} policies.`) : null);
}

function timeSection() {
  if (!DRAWN.length) return;
  const grid = el("div", { class: "grid" });
  const resources = RESOURCES.length ? RESOURCES : [];
  const first = Math.max(0, resources.indexOf("nvidia.com/gpu"));
  if (resources.length) {
    const order = [resources[first], ...resources.filter((_, at) => at !== first)];
    const pick = choice("Resource", order.map(resourceName), (at) => { chart.lines = linesOf("allocation_percent", order[at]); chart.draw(); });
    const chart = timeChart({ title: "Allocated", hint: "Percent of what ready nodes have.", at: timesOf("allocation_percent"),
      lines: linesOf("allocation_percent", order[0]), write: percent, tick: roundPercent, top: 104, controls: pick });
    grid.append(chart.card);
  }
  grid.append(timeChart({ title: "Queue length", hint: "Jobs that wait.", at: timesOf("queue_length"), lines: linesOf("queue_length"), write: number }).card);
  grid.append(timeChart({ title: "Running", hint: "Jobs that run.", at: timesOf("running"), lines: linesOf("running"), write: number }).card);
  if (linesOf("gpu_fragmentation").length) {
    const labels = [...new Set(DRAWN.flatMap((one) => one.series.gpu_fragmentation?.lines.map((found) => found.label) ?? []))];
    const pick = labels.length > 1 ? choice("GPU model", labels.map((name) => name || "all"), (at) => { chart.lines = linesOf("gpu_fragmentation", labels[at]); chart.draw(); }) : null;
    const chart = timeChart({ title: "GPU fragmentation", hint: "Percent of the free GPUs that is of no use to the jobs of this load.", at: timesOf("gpu_fragmentation"),
      lines: linesOf("gpu_fragmentation", ""), write: percent, tick: roundPercent, controls: pick });
    grid.append(chart.card);
  }
  section("time", "Over time", "Drag across a chart to zoom all of them, the nodes too; a double click shows everything again.", grid);
}

function spreadSection() {
  if (!DRAWN.length) return;
  section("spread", "Waiting and completion", "Which part of all jobs had started, and ended, within a time. Curves further left and higher are better; what is missing at the right never did.",
    el("div", { class: "grid" }, spreadChart("Waiting", "Percent of all jobs that started within this time.", "wait").card,
      spreadChart("Completion", "Percent of all jobs that ended within this time of their arrival.", "jct").card));
}

// Lines of one policy, one a tenant or a queue; which policy may be chosen.
function chartByGroup(title, hint, name, write, tick, factor = 1) {
  const scaled = (values) => values && values.map((v) => (v === null ? null : factor * v));
  const lines = (one) => (one.series[name]?.lines ?? []).map((found, at) => ({ words: found.label || "(none)", color: at, run: null, mean: scaled(found.mean), peak: scaled(found.peak) }));
  const pick = DRAWN.length > 1 ? choice("Policy", DRAWN.map((one) => one.policy), (at) => { chart.lines = lines(DRAWN[at]); chart.draw(); }) : null;
  const chart = timeChart({ title, hint, at: timesOf(name), lines: lines(DRAWN[0]), write, tick, controls: pick });
  return chart.card;
}

function fairSection() {
  if (!DRAWN.length) return;
  const grid = el("div", { class: "grid" });
  grid.append(timeChart({ title: "Fairness", hint: "Jain\u2019s index of what tenants were served of what they wanted.", at: timesOf("fairness"), lines: linesOf("fairness"), write: ratio, tick: number, top: 1.04 }).card);
  for (const [name, title, hint, ...how] of [
    ["dominant_share", "Dominant shares", "Of each tenant, in percent of the cluster.", percent, roundPercent, 100],
    ["tenant_waiting", "Waiting, by tenant", "Jobs of each tenant that wait.", number, number],
    ["queue_waiting", "Waiting, by queue", "Jobs of each queue that wait.", number, number],
  ]) if (DRAWN.some((one) => one.series[name])) grid.append(chartByGroup(title, hint, name, ...how));
  const groups = ["tenants", "queues"].filter((key) => DRAWN.some((one) => Object.keys(RUNS[one.run].summary.more[key]).length));
  const holder = el("div");
  const fill = (at) => holder.replaceChildren(...groups.filter((key) => Object.keys(RUNS[DRAWN[at].run].summary.more[key]).length)
    .map((key) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Figures by ${key}` }, groupsTable(key, DRAWN[at]))));
  fill(0);
  section("tenants", "Tenants and fairness", "", grid, groups.length ? el("div", { class: "card" }, el("div", { class: "head" }, el("h3", {}, groups.length > 1 ? "By tenant and queue" : "By tenant"),
    DRAWN.length > 1 ? choice("Policy", DRAWN.map((one) => one.policy), fill) : null), holder) : el("p", { class: "hint" }, "No job came."));
}

function nodesSection() {
  if (!DRAWN.some((one) => one.gantt.node.length)) return null;
  const made = ganttOf();
  const about = el("p", { class: "hint" }), legend = el("div"), list = el("div");
  function choose(at) {
    const g = DRAWN[at].gantt;
    about.textContent = `${number(g.node.length)} of ${number(g.bars)} bars (those that take the most), on ${number(g.nodes.length)} of the ${number(g.all_nodes)} nodes that were used. Ctrl and the wheel zoom, dragging moves.`;
    legend.replaceChildren(ganttLegend(DRAWN[at]));
    list.replaceChildren(figuresOf("jobs on nodes", () => ganttTable(DRAWN[at])));
    made.choose(at);
  }
  section("nodes", "Jobs on nodes", "", el("div", { class: "card" }, el("div", { class: "head" }, el("h3", {}, "Who had which node, and when"),
    DRAWN.length > 1 ? choice("Policy", DRAWN.map((one) => one.policy), choose) : null), about, made.box, legend, list));
  choose(0);
  return made;
}

function neverSection() {
  if (!DRAWN.length) return;
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Jobs that never ran to their end" });
  const fill = (at) => holder.replaceChildren(neverTable(DRAWN[at]));
  fill(0);
  section("never", "Never ran to their end", "Jobs that were still in the system when nothing could change any more, or when the run was cut short.",
    el("div", { class: "card" }, DRAWN.length > 1 ? el("div", { class: "head" }, choice("Policy", DRAWN.map((one) => `${one.policy} (${number(one.never.count)})`), fill)) : null, holder));
}

paint();
document.getElementById("lead").textContent = lead();
chips();
summarySection();
timeSection();
spreadSection();
fairSection();
const nodes = nodesSection();
neverSection();
section("meaning", "What the figures mean", "", el("div", { class: "card" }, meaning()));
if (!DRAWN.length) document.getElementById("bar").hidden = true;
followers.push(clock);
redraw();

document.getElementById("theme").addEventListener("click", () => {
  wish = { system: "light", light: "dark", dark: "system" }[wish];
  paint();
  redraw();
});
dark.addEventListener("change", () => { paint(); redraw(); });
const ACTS = { earlier: () => pan(-0.25), later: () => pan(0.25), in: () => zoom(0.5), out: () => zoom(2), all: () => look(0, SPAN) };
for (const [name, act] of Object.entries(ACTS)) document.querySelector(`[data-time="${name}"]`).addEventListener("click", act);
let settled = 0, wide = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === wide) return;
  wide = window.innerWidth;
  window.clearTimeout(settled);
  settled = window.setTimeout(() => { redraw(); nodes?.resize(); }, 120);
});
