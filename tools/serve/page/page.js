// The page of `galatea serve`: asks for the pipeline with the settings that stand in its controls, shows the
// pictures, and asks again when the file or a control has changed.
"use strict";

const by = (id) => document.getElementById(id);
const view = Math.random().toString(36).slice(2);  // this tab, for the server: a later request ends an earlier one
const state = { shown: null, kept: null, revision: 0, selected: null, values: {}, kernels: [], windows: [] };

/** An element with attributes and children; texts are never read as HTML. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

async function ask(path, query) {
  const response = await fetch(`${path}?${query}`);
  return { status: response.status, json: await response.json() };
}

function say(text) { by("status").textContent = text; }

// ------------------------------------------------------------------------------------------------ settings

function settings() {
  const query = new URLSearchParams();
  for (const id of ["first", "samples", "draw", "seed"]) if (by(id).value !== "") query.append(id, by(id).value);
  for (const [name, value] of Object.entries(state.values)) query.append("set", `${name}=${value}`);
  return query;
}

/** A slider goes around its parameter's default; the field beside it takes what lies beyond. */
function slider_range(kind, value) {
  const size = Math.abs(value);
  if (kind === "float") return { min: value < 0 ? -4 * size : 0, max: size <= 1 ? Math.max(1, 2 * size) : 4 * size, step: size <= 1 ? 0.01 : 0.1 };
  return { min: value < 0 ? -4 * size : 0, max: Math.max(10, 4 * size), step: 1 };
}

function set_parameter(name, value) {
  if (value === "") delete state.values[name]; else state.values[name] = value;
  refresh_soon();
}

function number_control(parameter, shown) {
  const field = element("input", { type: "number", value: shown, step: "any", "aria-label": parameter.name });
  const number = Number(shown);
  if (shown === "" || !Number.isFinite(number)) {
    field.addEventListener("change", () => set_parameter(parameter.name, field.value));
    return [field];
  }
  const slider = element("input", { type: "range", ...slider_range(parameter.kind, number), value: number, "aria-label": `${parameter.name}, slider` });
  slider.addEventListener("input", () => { field.value = slider.value; set_parameter(parameter.name, slider.value); });
  field.addEventListener("change", () => { slider.value = field.value; set_parameter(parameter.name, field.value); });
  return [slider, field];
}

function control_of(parameter, shown) {
  if (parameter.kind === "bool") {
    const box = element("input", { type: "checkbox", role: "switch", "aria-label": parameter.name });
    box.checked = shown.toLowerCase() === "true";
    box.addEventListener("change", () => set_parameter(parameter.name, box.checked ? "True" : "False"));
    return [box];
  }
  if (parameter.kind === "int" || parameter.kind === "float") return number_control(parameter, shown);
  const field = element("input", { type: "text", value: shown, "aria-label": parameter.name });
  field.addEventListener("change", () => set_parameter(parameter.name, field.value));
  return [field];
}

/** Controls are made anew only when the parameters are others, so that none loses the focus. */
function show_parameters(parameters, set) {
  const key = JSON.stringify(parameters);
  if (key === state.parameters_key) return;
  state.parameters_key = key;
  const box = by("parameters");
  box.replaceChildren(element("legend", {}, "Parameters"));
  for (const parameter of parameters) {
    const given = set.find((entry) => entry.startsWith(`${parameter.name}=`));
    const shown = given === undefined ? parameter.default : given.slice(parameter.name.length + 1);
    const name = parameter.annotation ? `${parameter.name}: ${parameter.annotation}` : parameter.name;
    box.append(element("label", { "data-parameter": parameter.name }, name, ...control_of(parameter, shown)));
  }
  box.hidden = parameters.length === 0;
}

// ------------------------------------------------------------------------------------------------ pictures

function frame_address(run, sample, node) { return `/api/frame?run=${run}&sample=${sample}&node=${node}`; }

/** The same sample and variable in the settings that were kept for comparison; nothing where there is none. */
function kept_cell(row, column) {
  if (!state.kept) return null;
  const sample = state.kept.samples.findIndex((other) => other.number === row.number);
  const node = state.kept.columns.findIndex((other) => other.name === column.name);
  return sample >= 0 && node >= 0 && state.kept.samples[sample].cells[node] ? { sample, node } : null;
}

function picture_of(answer, sample, node) {
  const row = answer.samples[sample], column = answer.columns[node];
  const alternative = `${column.name} of sample ${row.number}: ${row.cells[node].caption}`;
  const box = element("span", { class: "picture" }, element("img", { src: frame_address(answer.run, sample, node), alt: alternative }));
  const kept = kept_cell(row, column);
  if (kept) box.append(element("img", { class: "other", alt: `${alternative}, with the settings that were kept`, src: frame_address(state.kept.run, kept.sample, kept.node) }));
  return box;
}

function cell_of(answer, sample, node) {
  const cell = answer.samples[sample].cells[node];
  const button = element("button", { type: "button", class: "cell", "aria-pressed": "false", "data-sample": sample, "data-node": node });
  button.append(cell.width ? picture_of(answer, sample, node) : element("span", { class: "words number" }, cell.text));
  button.append(element("span", { class: "caption" }, cell.caption));
  button.addEventListener("click", () => select_cell(button, sample, node));
  button.addEventListener("pointermove", (event) => show_value_under(event, answer, sample, node));
  return button;
}

function row_of(answer, sample) {
  const row = answer.samples[sample];
  const made = element("tr", {}, element("th", { scope: "row" }, `sample ${row.number}`, element("br"), element("span", { class: "caption" }, row.name)));
  if (row.failure) made.append(element("td", { class: "failure number", colspan: Math.max(1, answer.columns.length) }, row.failure));
  row.cells.forEach((_, node) => made.append(element("td", {}, cell_of(answer, sample, node))));
  return made;
}

function show_pictures(answer) {
  const head = element("tr", {}, element("th", { scope: "col" }, "sample"));
  for (const column of answer.columns)
    head.append(element("th", { scope: "col" }, column.name, element("br"), element("span", { class: "type number" }, column.type)));
  const body = element("tbody", {}, ...answer.samples.map((_, sample) => row_of(answer, sample)));
  by("pictures").replaceChildren(element("table", {}, element("thead", {}, head), body));
  by("details").hidden = true;
}

// ------------------------------------------------------------------------------------------------ one value

function histogram_of(bins) {
  const most = Math.max(1, ...bins), width = 4, height = 80;
  const svg = drawn("svg", { width: bins.length * width, height, role: "img", "aria-label": "histogram" });
  bins.forEach((count, k) => {
    const tall = height * count / most;
    svg.append(drawn("rect", { class: "bar", x: k * width, y: height - tall, width: width - 1, height: tall }));
  });
  return svg;
}

async function select_cell(button, sample, node) {
  const answer = state.shown;
  document.querySelectorAll(".cell[aria-pressed=true]").forEach((other) => other.setAttribute("aria-pressed", "false"));
  button.setAttribute("aria-pressed", "true");
  const { status, json } = await ask("/api/node", `run=${answer.run}&sample=${sample}&node=${node}`);
  if (status !== 200) return;
  const facts = by("facts");
  facts.replaceChildren();
  const add = (name, value) => { if (value !== undefined) facts.append(element("dt", {}, name), element("dd", { class: "number" }, String(value))); };
  add("variable", answer.columns[node].name);
  add("type", answer.columns[node].type);
  add("extents", json.extents.join(" × ") || "one number");
  for (const name of ["min", "max", "mean"]) add(name, json[name] === undefined ? undefined : Number(json[name].toPrecision(6)));
  if (json.not_finite > 0) add("no numbers", json.not_finite);
  if (json.values) add("values", json.values.join(", "));
  by("histogram").replaceChildren(...(json.histogram ? [histogram_of(json.histogram)] : []));
  by("pointer").textContent = "";
  by("details").hidden = false;
}

/** Where the pointer is in the picture, which is fitted into a square box from the top left. */
function position_in(image, event, cell) {
  const box = image.getBoundingClientRect(), scale = Math.max(cell.width, cell.height) / box.width;
  const x = Math.floor((event.clientX - box.left) * scale), y = Math.floor((event.clientY - box.top) * scale);
  return x >= 0 && y >= 0 && x < cell.width && y < cell.height ? { x, y } : null;
}

let value_is_asked = false;
async function show_value_under(event, answer, sample, node) {
  const image = event.currentTarget.querySelector("img"), cell = answer.samples[sample].cells[node];
  const at = image && position_in(image, event, cell);
  if (!at || value_is_asked) return;
  value_is_asked = true;
  try {
    const { status, json } = await ask("/api/node", `run=${answer.run}&sample=${sample}&node=${node}&x=${at.x}&y=${at.y}`);
    if (status === 200 && json.value) {
      by("details").hidden = false;
      by("pointer").textContent = `${answer.columns[node].name} at column ${at.x}, row ${at.y}: ${json.value.map((v) => Number(v.toPrecision(6))).join(", ")}`;
    }
  } finally {
    value_is_asked = false;
  }
}

// ------------------------------------------------------------------------------------------------ graph

const box_width = 250, box_height = 36, gap = 18, lane_gap = 28;

/** From the foot of one box to the head of another; around the boxes that lie between. */
function edge(from, x, top, is_next) {
  if (is_next) return drawn("path", { class: "edge", d: `M${from.x},${from.bottom} L${x},${top}` });
  const side = box_width / 2, bow = 14;
  return drawn("path", { class: "edge", d: `M${from.x + side},${from.bottom - 8} C${from.x + side + bow},${from.bottom} ${x + side + bow},${top} ${x + side},${top + 8}` });
}

/** Lanes: blocks that follow the same branch stand beside each other, all others below each other. */
function block_depths(blocks) {
  const depth = {};
  for (const block of blocks) depth[block.id] = Math.max(-1, ...block.predecessors.map((id) => depth[id] ?? -1)) + 1;
  return depth;
}

function share_of(blocks, block) {
  for (const other of blocks) {
    const arm = other.branch ? other.branch.targets.indexOf(block.id) : -1;
    if (arm < 0 || !other.branch.samples || block.every_sample) continue;
    const all = other.branch.samples.reduce((sum, n) => sum + n, 0);
    return all > 0 ? `arm ${arm}: ${other.branch.samples[arm]} of ${all} samples` : `arm ${arm}`;
  }
  return block.every_sample ? "every sample" : "a part of the samples";
}

/** Nodes of one kernel become one box: those on neighbouring places of a block with lines that it names. */
function boxes_of(block) {
  const boxes = [];
  for (const node of block.nodes) {
    const kernel = state.kernels.findIndex((k) => k.operators.length > 1 && k.lines.includes(node.line) && k.operators.includes(node.operator));
    const last = boxes[boxes.length - 1];
    if (kernel >= 0 && last && last.kernel === kernel) last.nodes.push(node); else boxes.push({ kernel, nodes: [node] });
  }
  return boxes;
}

function box_words(box) {
  const words = box.nodes.map((node) => `${node.operator}, line ${node.line}`);
  for (const node of box.nodes) {
    const window = state.windows.find((w) => w.line === node.line && w.operator === node.operator);
    if (window) words.push(`only the window of ${window.asked_by.map((r) => `${r.operator}, line ${r.line}`).join("; ")}`);
  }
  return words;
}

function show_graph(graph) {
  const depth = block_depths(graph.blocks), svg = drawn("svg", { role: "img" });
  const rows = [];
  for (const block of graph.blocks) (rows[depth[block.id]] ??= []).push(block);
  const places = {}, edges = drawn("g"), made = drawn("g"), words_of_graph = [];
  let y = gap, widest = 0;
  for (const row of rows.filter(Boolean)) {
    let x = gap, tallest = 0;
    for (const block of row) {
      let below = y + 24;
      const lane = drawn("rect", { class: "lane", x, y, width: box_width + 2 * gap, rx: 6 });
      const share = share_of(graph.blocks, block);
      made.append(lane, drawn("text", { class: "faint", x: x + gap, y: y + 16 }, share));
      for (const merge of block.merges) places[merge.name] = { x: x + gap + box_width / 2, top: below, bottom: below };
      for (const box of boxes_of(block)) {
        const words = box_words(box), height = Math.max(box_height, 18 * words.length + 12);
        for (const node of box.nodes) for (const output of node.outputs) places[output.name] = { x: x + gap + box_width / 2, top: below, bottom: below + height };
        made.append(drawn("rect", { class: box.nodes.length > 1 ? "node fused" : "node", x: x + gap, y: below, width: box_width, height, rx: 4 }, drawn("title", {}, box.nodes.map((n) => n.outputs.map((o) => `${o.name}: ${o.type}`).join("\n")).join("\n"))));
        words.forEach((word, k) => made.append(drawn("text", { x: x + gap + 8, y: below + 20 + 18 * k }, word)));
        for (const node of box.nodes) for (const input of node.inputs) {
          const from = places[input];
          if (from && from.bottom <= below) edges.append(edge(from, x + gap + box_width / 2, below, from.bottom + gap >= below || from.x !== x + gap + box_width / 2));
        }
        words_of_graph.push(`${share}: ${words.join(" with ")}`);
        below += height + gap;
      }
      lane.setAttribute("height", below - y);
      tallest = Math.max(tallest, below - y);
      x += box_width + 3 * gap;
    }
    widest = Math.max(widest, x);
    y += tallest + lane_gap;
  }
  svg.setAttribute("width", widest);
  svg.setAttribute("height", y);
  svg.setAttribute("aria-label", words_of_graph.join(". "));
  svg.append(made, edges);
  by("graph").replaceChildren(svg);
}

// ------------------------------------------------------------------------------------------------ times

function show_times(json) {
  const rows = [...json.operators].sort((a, b) => b.seconds - a.seconds).map((one) => {
    const share = json.seconds > 0 ? one.seconds / json.seconds : 0;
    return element("tr", {}, element("th", { scope: "row" }, one.name), element("td", {}, one.line ? `line ${one.line}` : ""), element("td", {}, one.kind),
      element("td", { class: "number" }, `${(1e3 * one.seconds / Math.max(1, json.samples)).toFixed(2)} ms a sample`),
      element("td", {}, element("meter", { value: share, "aria-label": `share of ${one.name}` }), ` ${(100 * share).toFixed(0)} %`));
  });
  const text = `${json.samples} samples; decoding takes ${(100 * json.decode_share).toFixed(0)} % of the time.`;
  by("times").replaceChildren(element("p", {}, text), element("table", {}, element("tbody", {}, ...rows)));
}

async function measure() {
  const answer = state.shown;
  if (!answer) return;
  by("times").textContent = "Measuring.";
  const { status, json } = await ask("/api/times", `run=${answer.run}&view=${view}-times`);
  if (status !== 200 || !json.ok) { by("times").textContent = json.text || json.message; return; }
  state.kernels = json.kernels;
  state.windows = json.windows;
  show_times(json);
  if (answer.graph) show_graph(answer.graph);
}

// ------------------------------------------------------------------------------------------------ the whole

function show(answer) {
  by("title").textContent = answer.pipeline ? `${answer.pipeline} (${answer.file})` : answer.file;
  by("diagnostics").textContent = answer.text;
  by("problems").hidden = answer.text === "";
  by("pictures").classList.toggle("stale", !answer.ok);
  state.revision = answer.revision;
  show_parameters(answer.parameters, answer.set);
  document.dispatchEvent(new Event("galatea-shown"));
  if (!answer.ok) { say("The pipeline is wrong: the pictures are the last good ones."); return; }
  state.shown = answer;
  state.kernels = [];
  state.windows = [];
  show_pictures(answer);
  if (answer.graph) show_graph(answer.graph);
  const cut = answer.cut ? ", as many as there is room for" : "";
  say(`${answer.samples.length} samples${cut}, seed ${answer.seed}, text ${answer.revision}.`);
}

let asked = 0;
async function refresh(anew = false) {
  const number = ++asked, query = settings();
  query.append("view", view);
  if (anew) query.append("anew", "1");
  say("Working.");
  let answer;
  try {
    answer = await ask("/api/pipeline", query);
  } catch (_) {
    say("The server does not answer: start galatea serve again.");
    return;
  }
  if (number !== asked) return;
  if (answer.status === 200) show(answer.json);
  else if (answer.status !== 409) say(answer.json.message);
}

let timer = null;
function refresh_soon() {
  clearTimeout(timer);
  timer = setTimeout(refresh, 60);
}

/** Waits for another text, for as long as the page is open. */
async function follow() {
  for (;;) {
    try {
      const { status, json } = await ask("/api/events", `revision=${state.revision}`);
      if (status !== 200) throw new Error(json.message);
      if (json.revision !== state.revision) { state.revision = json.revision; await refresh(); }
    } catch (_) {
      say("The server does not answer: start galatea serve again.");
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

by("again").addEventListener("click", () => { by("draw").value = Number(by("draw").value) + 1; refresh(true); });
for (const id of ["first", "samples", "draw", "seed"]) by(id).addEventListener("change", refresh_soon);
const set_size = () => document.documentElement.style.setProperty("--size", `${by("size").value}px`);
by("size").addEventListener("input", set_size);
by("compare").addEventListener("change", () => {
  state.kept = by("compare").checked ? state.shown : null;
  by("divide").disabled = !state.kept;
  if (state.shown) show_pictures(state.shown);
});
const set_divide = () => document.documentElement.style.setProperty("--divide", `${by("divide").value}%`);
by("divide").addEventListener("input", set_divide);
by("measure").addEventListener("click", measure);
by("controls").addEventListener("submit", (event) => event.preventDefault());
set_size();
set_divide();
refresh(true).then(follow);
