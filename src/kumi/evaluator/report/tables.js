// Tables: the summary side by side, tenants and queues, jobs that never ran to their end, and what the figures mean.

const get = (object, path) => path.split("|").reduce((at, key) => (at === null || at === undefined ? at : at[key]), object);
const POLICIES = [...new Set(RUNS.map((run) => run.policy))];
const RESOURCES = [...new Set(RUNS.flatMap((run) => Object.keys(run.summary.allocation_percent)))].sort();
const SEEDS = Math.max(0, ...POLICIES.map((policy) => RUNS.filter((run) => run.policy === policy).length));

for (const { summary } of RUNS) summary.rate = summary.run_s ? summary.decisions / summary.run_s : null;

// Figures of the summary: [words, path, how it is written, -1 less is better, 1 more is better, 0 neither].
function summaryRows() {
  const spread = (of, words) => ["mean", "p50", "p95", "p99", "max"].map((part) =>
    [`${words}, ${part === "p50" ? "median" : part}`, `${of}|${part}`, duration, -1]);
  const has = (path) => RUNS.some((run) => { const found = get(run.summary, path); return found !== null && found !== undefined && found !== 0; });
  const groups = [
    ["Jobs", [["Jobs", "jobs", number, 0], ["Finished", "finished", number, 1], ["Never started", "never_started", number, -1],
      ["Makespan", "makespan_s", duration, -1]]],
    ["Waiting until the first start", spread("wait_s", "Wait")],
    ["From arrival to end", [...spread("jct_s", "Completion"), ["Bounded slowdown, mean", "more|bounded_slowdown|mean", number, -1]]],
    ["Resources", RESOURCES.flatMap((resource) => [
      [`${resourceName(resource)} allocated, mean`, `allocation_percent|${resource}|mean`, percent, 1],
      [`${resourceName(resource)} allocated, peak`, `allocation_percent|${resource}|peak`, percent, 0],
      [`${resourceName(resource)} utilization`, `more|utilization_percent|${resource}`, percent, 1],
      [`${resourceName(resource)} goodput`, `more|goodput_percent|${resource}`, percent, 1]])],
    ["GPU fragmentation", has("more|gpu_fragmentation_percent") ? [
      ["Fragmentation, mean", "more|gpu_fragmentation_percent|mean", percent, -1],
      ["Fragmentation, peak", "more|gpu_fragmentation_percent|peak", percent, -1]] : []],
    ["Deadlines", has("deadlines_met") || has("deadlines_missed") ? [
      ["Met", "deadlines_met", number, 1], ["Missed", "deadlines_missed", number, -1],
      ["Tardiness, mean", "more|tardiness_s|mean", duration, -1]] : []],
    ["Fairness and disturbance", [["Jain's index of service", "jain_fairness", ratio, 1],
      ["Preemptions", "preemptions", number, -1], ["Runs lost with a node", "more|node_losses", number, -1],
      ["Work run again", "lost_work_s", duration, -1]]],
    ["The run itself", [["Decisions", "decisions", number, 0], ["Time it took", "run_s", duration, 0], ["Decisions a second", "rate", number, 0]]],
  ];
  return groups.filter(([, rows]) => rows.length);
}

function ofPolicies(path) {
  return POLICIES.map((policy) => {
    const values = RUNS.filter((run) => run.policy === policy).map((run) => get(run.summary, path)).filter((v) => typeof v === "number");
    if (!values.length) return null;
    return { mean: values.reduce((a, b) => a + b, 0) / values.length, least: Math.min(...values), most: Math.max(...values), many: values.length };
  });
}

function bestOf(cells, better) {
  const means = cells.filter(Boolean).map((cell) => cell.mean);
  if (!better || means.length < 2 || Math.min(...means) === Math.max(...means)) return null;
  return better > 0 ? Math.max(...means) : Math.min(...means);
}

function summaryTable() {
  const body = el("tbody");
  for (const [group, rows] of summaryRows()) {
    body.append(el("tr", { class: "group" }, el("th", { colspan: POLICIES.length + 1, scope: "rowgroup" }, group)));
    for (const [words, path, write, better] of rows) {
      const cells = ofPolicies(path);
      const best = bestOf(cells, better);
      body.append(el("tr", {}, el("th", { scope: "row" }, words), ...cells.map((cell) => {
        if (!cell) return el("td", {}, "\u2013");
        const wins = best !== null && cell.mean === best;
        return el("td", { class: wins ? "best" : "" }, el("span", { class: "value" }, write(cell.mean)),
          wins ? el("span", { class: "unseen" }, " (best)") : null,
          cell.many > 1 && cell.least !== cell.most ? el("small", {}, `${write(cell.least)} \u2026 ${write(cell.most)}`) : null);
      })));
    }
  }
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Figure"), ...POLICIES.map((policy) => el("th", { scope: "col" }, policy))));
  return el("div", { class: "scroll whole", tabindex: "0", role: "region", "aria-label": "Summary of all policies" }, el("table", {}, head, body));
}

// A few figures as bars.
function glance() {
  const gpu = RESOURCES.includes("nvidia.com/gpu") ? "nvidia.com/gpu" : RESOURCES[0];
  const picks = [
    ["Mean wait", "until the first start; less is better", "wait_s|mean", duration],
    ["Wait, 95th percentile", "less is better", "wait_s|p95", duration],
    ["Mean completion", "from arrival to end; less is better", "jct_s|mean", duration],
    gpu ? [`${resourceName(gpu)} allocated`, "mean over the run; more is better", `allocation_percent|${gpu}|mean`, percent, 100] : null,
    ["Never started", "jobs; less is better", "never_started", number],
    RUNS.some((run) => run.summary.deadlines_missed) ? ["Deadlines missed", "jobs; less is better", "deadlines_missed", number] : null,
    ["Fairness", "Jain's index of service; more is better", "jain_fairness", ratio, 1],
  ].filter(Boolean);
  return el("div", { class: "glance" }, ...picks.map(([title, hint, path, write, top]) => {
    const cells = ofPolicies(path);
    const most = top ?? Math.max(...cells.map((cell) => (cell ? cell.mean : 0)));
    return el("div", { class: "card" }, el("h3", {}, title), el("p", { class: "hint" }, hint), el("dl", {}, ...cells.map((cell, at) => {
      const fill = el("div", { class: "fill", hidden: !cell?.mean, mine: `var(--c${at % 10})` });
      fill.style.width = `${cell && most ? Math.min(100, (100 * cell.mean) / most) : 0}%`;
      return el("div", {}, el("dt", { title: POLICIES[at] }, POLICIES[at]), el("dd", {}, cell ? write(cell.mean) : "\u2013"),
        el("div", { class: "track", "aria-hidden": "true" }, fill));
    })));
  }));
}

// Tenants or queues of the chosen policy: [words, how it is written, its value], those that say something.
function groupColumns(key, groups) {
  const any = (value) => groups.some(([, of]) => value(of));
  const due = any((of) => of.deadlines_met + of.deadlines_missed > 0);
  return [
    ["Jobs", number, (of) => of.jobs], ["Finished", number, (of) => of.finished], ["Never started", number, (of) => of.never_started],
    ["Mean queue", number, (of) => of.queue_length.mean], ["Mean wait", duration, (of) => of.wait_s.mean], ["p95 wait", duration, (of) => of.wait_s.p95],
    ["Mean completion", duration, (of) => of.jct_s.mean], ["Makespan", duration, (of) => of.makespan_s],
    ["Bounded slowdown, mean", number, (of) => of.bounded_slowdown.mean], ["p95", number, (of) => of.bounded_slowdown.p95],
    ...(due ? [["Deadlines met", number, (of) => of.deadlines_met], ["missed", number, (of) => of.deadlines_missed], ["Tardiness, mean", duration, (of) => of.tardiness_s.mean]] : []),
    ...(any((of) => of.preemptions > 0) ? [["Preemptions", number, (of) => of.preemptions]] : []),
    ...(any((of) => of.lost_work_s > 0) ? [["Work run again", duration, (of) => of.lost_work_s]] : []),
    ...RESOURCES.flatMap((resource) => [[`${resourceName(resource)} allocated`, percent, (of) => of.allocation_percent[resource]],
      [`${resourceName(resource)} utilization`, percent, (of) => of.utilization_percent[resource]]]),
    ...(key === "tenants" ? [["Mean share", percent, (of) => 100 * of.mean_dominant_share], ["Served", percent, (of) => (of.served === null ? null : 100 * of.served)]] : []),
  ];
}

function groupsTable(key, drawn) {
  const groups = Object.entries(RUNS[drawn.run].summary.more[key]);
  const columns = groupColumns(key, groups);
  return table("", [key === "tenants" ? "Tenant" : "Queue", ...columns.map(([words]) => words)],
    groups.map(([name, of]) => [name || "(none)", ...columns.map(([, write, value]) => write(value(of)))]));
}

function neverTable(drawn) {
  const never = drawn.never;
  const heads = ["Job", "Arrived", "Pods", "Asks for", "Ran", { text: "Why it never ran to its end", words: true }];
  const rows = never.jobs.map((job) => [job.job, duration((job.arrival - DATA.begin) / 1000), number(job.pods),
    Object.entries(job.asks).map(([resource, value]) => `${amount(resource, value)} ${resourceName(resource)}`).join(", "),
    job.started ? "in part" : "never", job.why]);
  const caption = never.count > never.jobs.length
    ? `The first ${number(never.jobs.length)} of ${number(never.count)}; jobs.parquet has all.` : never.count === 1 ? "One job." : `${number(never.count)} jobs.`;
  return never.count ? table(caption, heads, rows) : el("p", { class: "hint" }, "Every job ran to its end.");
}

const MEANING = [
  ["Wait", "From arrival to the first start, of jobs that started. A policy that starves jobs looks quick to the rest: read it with \u201cnever started\u201d."],
  ["Completion (JCT)", "From arrival to end, of jobs that finished."],
  ["Bounded slowdown", "Completion over the work that the job needs, which counts as ten seconds at least; never below 1."],
  ["Makespan", "From the first arrival to the last end."],
  ["Allocated", "What pods hold, in percent of what ready nodes have. Mean: time-weighted over the run. Peak: once an instant is over, so a job that starts where another ends at the same time is not counted with it."],
  ["Utilization", "What pods of jobs that run hold: allocated without what gangs hold while they wait for their rest."],
  ["Tenants and queues", "Percents of the whole cluster over the whole run, so that those of all tenants add up to the run\u2019s; makespan from a group\u2019s first arrival to its last end."],
  ["Goodput", "Of what was allocated, what did good: without gangs that wait for their rest, and without work that is run again."],
  ["GPU fragmentation", "The part of the free GPUs that a pod drawn from the jobs of this load could not be given, for want of enough of it, or of something else, on the node."],
  ["Dominant share", "Of all resources, the greatest part that the tenant\u2019s pods hold."],
  ["Jain\u2019s index of service", "How equal the parts are of what each tenant wanted that it was served, moment by moment. 1: all alike; 1/n: one of n has all."],
  ["Work run again", "What jobs had run when they were cut short, and had not kept by a checkpoint."],
  ["Percentiles", "Linear between the two nearest values, as NumPy has them."],
  ["Charts over time", "Equal buckets, at most 600: the line is the exact mean of a bucket, the shade goes up to its peak."],
];

function meaning() {
  return el("dl", { class: "meaning" }, ...MEANING.flatMap(([word, text]) => [el("dt", {}, word), el("dd", {}, text)]));
}
