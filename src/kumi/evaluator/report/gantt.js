// The Gantt: which job had which node from when to when. Rows are nodes, lanes within a node where jobs share it.

const NAME_WIDTH = 108;
const LANE = 7;
const GAP = 5;

function ganttOf() {
  const pane = el("div", { class: "pane" });
  const canvas = el("canvas", { tabindex: "0", role: "img", "aria-label": "Jobs on nodes over time. Arrow keys move, plus and minus zoom. The table below lists the bars." });
  const spacer = el("div", { class: "spacer", "aria-hidden": "true" });
  const tip = el("div", { class: "tip", hidden: true, role: "status" });
  const box = el("div", { class: "gantt" }, pane, tip);
  pane.append(canvas, spacer);
  let drawn = DRAWN[0], tops = [], height = 0, boxes = [], palette = [];

  function choose(number) {
    drawn = DRAWN[number];
    tops = [];
    height = GAP;
    for (const many of drawn.gantt.lanes) {
      tops.push(height);
      height += Math.max(12, many * LANE) + GAP;
    }
    spacer.style.height = `${Math.max(0, height + 26 - pane.clientHeight)}px`;
    pane.scrollTop = 0;
    draw();
  }

  function hue(job) {
    const g = drawn.gantt;
    return palette[(g.tenants.length > 1 ? g.of[job] : job * 7) % 10];
  }

  function draw() {
    const g = drawn.gantt, width = pane.clientWidth, tall = pane.clientHeight;
    if (!width) return;
    const dense = window.devicePixelRatio || 1;
    canvas.width = width * dense;
    canvas.height = tall * dense;
    canvas.style.height = `${tall}px`;
    canvas.style.marginBottom = "0";
    const c = canvas.getContext("2d");
    c.scale(dense, dense);
    c.clearRect(0, 0, width, tall);
    const names = width < 520 ? 74 : NAME_WIDTH;
    const scale = (width - names) / (view.to - view.from);
    const x = (seconds) => names + (seconds - view.from) * scale;
    const up = pane.scrollTop, floor = tall - 26;
    palette = Array.from({ length: 10 }, (_, at) => color(at));
    boxes = [];
    grid(c, x, names, width, floor);
    c.save();
    c.beginPath();
    c.rect(names, 0, width - names, floor);
    c.clip();
    for (let i = 0; i < g.node.length; i += 1) {
      const node = g.node[i], y = tops[node] + g.lane[i] * LANE - up;
      if (y > floor || y + LANE < 0) continue;
      const from = g.at[i] / 1000, to = g.to[i] < 0 ? SPAN : g.to[i] / 1000;
      if (to < view.from || from > view.to) continue;
      const left = Math.max(x(from), names), right = Math.min(Math.max(x(to), x(from) + 1), width);
      const thick = Math.max(LANE, g.lanes[node] === 1 ? 12 : LANE) - 1;
      c.fillStyle = hue(g.job[i]);
      c.globalAlpha = 0.85;
      c.fillRect(left, y, Math.max(1, right - left - 0.5), thick);
      boxes.push([left, y, Math.max(left + 2, right), y + thick, i]);
    }
    c.restore();
    rows(c, names, width, floor, up);
    times(c, x, names, width, floor, tall);
  }

  function grid(c, x, names, width, floor) {
    c.strokeStyle = ink("line");
    for (const tick of ticks()) {
      c.beginPath();
      c.moveTo(Math.round(x(tick)) + 0.5, 0);
      c.lineTo(Math.round(x(tick)) + 0.5, floor);
      c.stroke();
    }
  }

  function ticks() {
    const wide = (view.to - view.from) / Math.max(2, Math.floor(pane.clientWidth / 130));
    const step = STEPS.find((one) => one >= wide) ?? STEPS[STEPS.length - 1];
    const found = [];
    for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) found.push(at);
    return found;
  }

  function rows(c, names, width, floor, up) {
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    drawn.gantt.nodes.forEach((name, node) => {
      const tall = Math.max(12, drawn.gantt.lanes[node] * LANE), y = tops[node] - up;
      if (y > floor || y + tall < 0) return;
      c.fillStyle = ink("soft");
      const fits = names < 100 ? 10 : 16;
      if (y + tall / 2 < floor) c.fillText(name.length > fits ? `\u2026${name.slice(1 - fits)}` : name, 8, y + tall / 2);
      c.strokeStyle = ink("faint");
      c.beginPath();
      c.moveTo(0, Math.round(y + tall + GAP / 2) + 0.5);
      c.lineTo(width, Math.round(y + tall + GAP / 2) + 0.5);
      if (y + tall + GAP / 2 < floor) c.stroke();
    });
  }

  function times(c, x, names, width, floor, tall) {
    c.fillStyle = ink("card");
    c.fillRect(0, floor, width, tall - floor);
    c.fillStyle = ink("soft");
    c.textAlign = "center";
    for (const tick of ticks()) {
      const at = x(tick);
      if (at > names + 20 && at < width - 20) c.fillText(duration(tick), at, floor + 13);
    }
    c.textAlign = "left";
  }

  function point(event) {
    const area = canvas.getBoundingClientRect();
    const px = event.clientX - area.left, py = event.clientY - area.top;
    const hit = boxes.find(([l, t, r, b]) => px >= l - 1 && px <= r + 1 && py >= t && py <= b + 1);
    if (!hit) { tip.hidden = true; return; }
    const g = drawn.gantt, i = hit[4], to = g.to[i] < 0 ? null : g.to[i] / 1000;
    tip.replaceChildren(el("strong", {}, g.jobs[g.job[i]]), el("div", {}, `${g.tenants[g.of[g.job[i]]]}, ${number(g.pods[i])} ${g.pods[i] === 1 ? "pod" : "pods"} on ${g.nodes[g.node[i]]}`),
      el("div", {}, `${duration(g.at[i] / 1000)} \u2013 ${to === null ? "still there" : duration(to)}${to === null ? "" : `, for ${duration(to - g.at[i] / 1000)}`}`));
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(px + 12, area.width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(4, Math.min(py + 14, area.height - tip.offsetHeight - 8))}px`;
  }

  let held = null;
  canvas.addEventListener("pointerdown", (event) => { held = { x: event.clientX, from: view.from, to: view.to }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) { point(event); return; }
    const moved = ((held.x - event.clientX) / Math.max(1, pane.clientWidth - NAME_WIDTH)) * (held.to - held.from);
    if (Math.abs(event.clientX - held.x) > 3) { tip.hidden = true; look(held.from + moved, held.to + moved); }
  });
  for (const over of ["pointerup", "pointercancel"]) canvas.addEventListener(over, (event) => { held = null; if (over === "pointerup") point(event); });
  canvas.addEventListener("pointerleave", () => { if (!held) tip.hidden = true; });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const area = canvas.getBoundingClientRect();
    const part = (event.clientX - area.left - NAME_WIDTH) / (area.width - NAME_WIDTH);
    zoom(event.deltaY > 0 ? 1.25 : 0.8, view.from + Math.max(0, Math.min(1, part)) * (view.to - view.from));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const act = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => look(0, SPAN),
      ArrowUp: () => { pane.scrollTop -= 60; }, ArrowDown: () => { pane.scrollTop += 60; } }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  pane.addEventListener("scroll", draw);
  followers.push(draw);
  return { box, choose, resize: () => choose(drawn.number) };
}

function ganttTable(drawn) {
  const g = drawn.gantt;
  const rows = g.node.slice(0, 400).map((node, i) => [g.nodes[node], g.jobs[g.job[i]], number(g.pods[i]), duration(g.at[i] / 1000),
    g.to[i] < 0 ? "still there" : duration(g.to[i] / 1000)]);
  return table(g.node.length > 400 ? `The first 400 of ${number(g.node.length)} bars, by node.` : "Every bar, by node.", ["Node", "Job", "Pods", "From", "To"], rows);
}

function ganttLegend(drawn) {
  const g = drawn.gantt;
  if (g.tenants.length < 2) return el("p", { class: "hint" }, "Colours tell neighbouring jobs apart.");
  if (g.tenants.length > 10) return el("p", { class: "hint" }, "Colours tell tenants apart, but there are more of them than colours.");
  return el("div", { class: "legend", role: "list", "aria-label": "Tenants" }, ...g.tenants.map((name, at) =>
    el("span", { role: "listitem" }, el("i", { mine: `var(--c${at % 10})`, "aria-hidden": "true" }), name)));
}
