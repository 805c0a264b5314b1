// Words: figures as people read them, and elements of the page.

const DATA = JSON.parse(document.getElementById("data").textContent);
const RUNS = DATA.runs;
const DRAWN = DATA.drawn.map((one, number) => ({ ...one, number, policy: RUNS[one.run].policy, seed: RUNS[one.run].seed }));
const SPAN = Math.max(1, (DATA.end - DATA.begin) / 1000);
const MODEL_LABEL = "kumi.dev/gpu-model";

function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "mine") made.style.setProperty("--mine", value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function number(value) {
  if (value === null || value === undefined) return "\u2013";
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 1000) return Math.round(value).toLocaleString("en");
  return value.toLocaleString("en", { maximumSignificantDigits: size < 1 ? 2 : 3 });
}

function percent(value) {
  if (value === null || value === undefined) return "\u2013";
  return `${value.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })}\u202f%`;
}

// As few digits as an axis needs.
function roundPercent(value) {
  return `${value.toLocaleString("en", { maximumFractionDigits: 2 })}\u202f%`;
}

function ratio(value) {
  return value === null || value === undefined ? "\u2013" : value.toFixed(3);
}

const PARTS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

// The two largest parts: 3 d 4 h, 12 min 5 s, 0.4 s.
function duration(seconds) {
  if (seconds === null || seconds === undefined) return "\u2013";
  if (seconds < 0) return `\u2212${duration(-seconds)}`;
  if (seconds < 60) return `${seconds.toLocaleString("en", { maximumFractionDigits: seconds < 10 ? 2 : 1 })} s`;
  const at = PARTS.findIndex(([, size]) => seconds >= size);
  const [name, size] = PARTS[at];
  const [next, small] = PARTS[at + 1];
  let whole = Math.floor(seconds / size);
  let rest = Math.round((seconds - whole * size) / small);
  if (rest * small >= size) { whole += 1; rest = 0; }
  return `${whole.toLocaleString("en")} ${name}${rest && whole < 100 ? ` ${rest} ${next}` : ""}`;
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

function amount(resource, value) {
  if (value === null || value === undefined) return "\u2013";
  if (resource !== "memory" && resource !== "ephemeral-storage") return number(value);
  let power = 0;
  while (value >= 1024 && power < BYTES.length - 1) { value /= 1024; power += 1; }
  return `${number(Math.round(value * 10) / 10)} ${BYTES[power]}`;
}

function resourceName(resource) {
  return { cpu: "CPU", memory: "Memory", "nvidia.com/gpu": "GPU" }[resource] || resource;
}

function color(index) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--c${index % 10}`).trim();
}

function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function line(index) {
  return el("span", { class: `dot${index % 2 ? " dash" : ""}`, mine: `var(--c${index % 10})`, "aria-hidden": "true" });
}

function section(id, title, lead, ...children) {
  const made = el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), lead ? el("p", {}, lead) : null, ...children);
  document.getElementById("main").append(made);
  document.getElementById("sections").append(el("li", {}, el("a", { href: `#${id}` }, title)));
  return made;
}

// A table behind a chart, made when somebody opens it.
function figuresOf(what, make) {
  const box = el("details", {}, el("summary", {}, `Figures: ${what}`));
  box.addEventListener("toggle", () => {
    box.querySelector(".scroll")?.remove();
    if (box.open) box.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Figures: ${what}` }, make()));
  });
  return box;
}

function table(caption, heads, rows, firstIsName = true) {
  const head = el("thead", {}, el("tr", {}, ...heads.map((one) => el("th", { scope: "col", class: one.words ? "words" : "" }, one.text ?? one))));
  const body = el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, at) =>
    at === 0 && firstIsName ? el("th", { scope: "row" }, cell) : el("td", { class: heads[at].words ? "words" : "" }, cell)))));
  return el("table", {}, caption ? el("caption", {}, caption) : null, head, body);
}
