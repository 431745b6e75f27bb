// The page of `galatea serve`: asks for the pipeline with the settings that stand in its controls, shows the
// pictures, and asks again when the file or a control has changed.
"use strict";

const view = Math.random().toString(36).slice(2);  // this tab, for the server: a later request ends an earlier one
const state = { shown: null, kept: null, revision: 0, selected: null, values: {}, kernels: [], windows: [] };

function say(text) { by("status").textContent = text; }

// ------------------------------------------------------------------------------------------------ settings

function settings() {
  const query = new URLSearchParams();
  for (const id of ["first", "samples", "draw", "seed"]) if (by(id).value !== "") query.append(id, by(id).value);
  for (const [name, value] of Object.entries(state.values)) query.append("set", `${name}=${value}`);
  return query;
}

/** A slider goes around its parameter's default; the field beside it takes what lies beyond. */
function sliderRange(kind, value) {
  const size = Math.abs(value);
  if (kind === "float") return { min: value < 0 ? -4 * size : 0, max: size <= 1 ? Math.max(1, 2 * size) : 4 * size, step: size <= 1 ? 0.01 : 0.1 };
  return { min: value < 0 ? -4 * size : 0, max: Math.max(10, 4 * size), step: 1 };
}

function setParameter(name, value) {
  if (value === "") delete state.values[name]; else state.values[name] = value;
  refreshSoon();
}

function numberControl(parameter, shown) {
  const field = element("input", { type: "number", value: shown, step: "any", "aria-label": parameter.name });
  const number = Number(shown);
  if (shown === "" || !Number.isFinite(number)) {
    field.addEventListener("change", () => setParameter(parameter.name, field.value));
    return [field];
  }
  const slider = element("input", { type: "range", ...sliderRange(parameter.kind, number), value: number, "aria-label": `${parameter.name}, slider` });
  slider.addEventListener("input", () => { field.value = slider.value; setParameter(parameter.name, slider.value); });
  field.addEventListener("change", () => { slider.value = field.value; setParameter(parameter.name, field.value); });
  return [field, slider];
}

function controlOf(parameter, shown) {
  if (parameter.kind === "bool") {
    const box = element("input", { type: "checkbox", role: "switch", "aria-label": parameter.name });
    box.checked = shown.toLowerCase() === "true";
    box.addEventListener("change", () => setParameter(parameter.name, box.checked ? "True" : "False"));
    return [box];
  }
  if (parameter.kind === "int" || parameter.kind === "float") return numberControl(parameter, shown);
  const field = element("input", { type: "text", value: shown, "aria-label": parameter.name });
  // A text may name a file, so the server takes none from the page.
  field.readOnly = parameter.kind === "str" || parameter.kind === "";
  if (field.readOnly) field.title = `set where galatea serve is started: --set ${parameter.name}=…`;
  field.addEventListener("change", () => setParameter(parameter.name, field.value));
  return [field];
}

/** Controls are made anew only when the parameters are others, so that none loses the focus. */
function showParameters(parameters, set) {
  const key = JSON.stringify(parameters);
  if (key === state.parametersKey) return;
  state.parametersKey = key;
  const box = by("parameters");
  box.replaceChildren(element("legend", {}, "Parameters"));
  for (const parameter of parameters) {
    const given = set.find((entry) => entry.startsWith(`${parameter.name}=`));
    const shown = given === undefined ? parameter.default : given.slice(parameter.name.length + 1);
    const kind = element("span", { class: "faint" }, parameter.annotation ? `: ${parameter.annotation}` : "");
    const name = element("span", { class: "name" }, parameter.name, kind);
    box.append(element("label", { "data-parameter": parameter.name }, name, ...controlOf(parameter, shown)));
  }
  box.hidden = parameters.length === 0;
}

// ------------------------------------------------------------------------------------------------ pictures

/** As many pixels as the screen shows, so that a save costs a few small pictures however large the data are. */
function shownSize() { return Math.min(1024, Math.ceil(Number(by("size").value) * window.devicePixelRatio)); }

function frameAddress(run, sample, node) { return `/api/frame?run=${run}&sample=${sample}&node=${node}&size=${shownSize()}`; }

/** The same sample and variable in the settings that were kept for comparison; nothing where there is none. */
function keptCell(row, column) {
  if (!state.kept) return null;
  const sample = state.kept.samples.findIndex((other) => other.number === row.number);
  const node = state.kept.columns.findIndex((other) => other.name === column.name);
  return sample >= 0 && node >= 0 && state.kept.samples[sample].cells[node] ? { sample, node } : null;
}

function pictureOf(answer, sample, node) {
  const row = answer.samples[sample], column = answer.columns[node];
  const alternative = `${column.name} of sample ${row.number}: ${row.cells[node].caption}`;
  const { width, height } = row.cells[node];
  const image = element("img", { src: frameAddress(answer.run, sample, node), alt: alternative, width, height });
  // Time and frequency have no common measure, so that a short spectrogram need not be a thin line.
  const shape = / (ft|tf)$/.test(column.type) ? "stretched" : width >= height ? "wide" : "tall";
  const box = element("span", { class: `picture ${shape}` }, image);
  const kept = keptCell(row, column);
  if (kept) {
    box.classList.add("compared");
    box.append(element("img", { class: "other", alt: `${alternative}, with the settings that were kept`, src: frameAddress(state.kept.run, kept.sample, kept.node) }));
  }
  return box;
}

/** The column that shows what a call makes; -1: none does. */
function columnOf(answer, { operator, line }) { return answer.columns.findIndex((column) => column.name.endsWith(` = ${operator}, line ${line}`)); }

/** A picture's own extents, and where it lies in its drawing: that of a clip has several. */
function wholeOf(cell) { return cell.frames ?? { width: cell.width, height: cell.height, boxes: [[0, 0, cell.width, cell.height]] }; }

function isWhole([top, left, bottom, right], cell) {
  const whole = wholeOf(cell);
  return bottom - top === whole.height && right - left === whole.width;
}

/** Whether a call makes less than the whole for some of the samples, as far as one sees. */
function isPart(answer, window) {
  const node = columnOf(answer, window);
  const seen = answer.samples.filter((row) => window.samples[row.number] && row.cells[node]?.width);
  return seen.length === 0 || seen.some((row) => !isWhole(window.samples[row.number], row.cells[node]));
}

/** Draws the part of each decoded picture that the pipeline makes when nobody looks, once it has been measured. */
function showWindows(answer) {
  document.querySelectorAll(".picture svg").forEach((old) => old.remove());
  for (const window of state.windows) {
    const { samples } = window, node = columnOf(answer, window);
    answer.samples.forEach((row, sample) => {
      const bounds = samples[row.number], cell = row.cells[node];
      if (!bounds || !cell?.width) return;
      const [top, left, bottom, right] = bounds, { width, height } = cell;
      const whole = wholeOf(cell);
      if (isWhole(bounds, cell)) return;
      const boxes = whole.boxes.map(([x, y, w, h]) => drawn("rect", {
        class: "window", x: x + (left * w) / whole.width, y: y + (top * h) / whole.height,
        width: ((right - left) * w) / whole.width, height: ((bottom - top) * h) / whole.height,
      }));
      const words = `only columns ${left} to ${right - 1} and rows ${top} to ${bottom - 1} are made`;
      document.querySelector(`.cell[data-sample="${sample}"][data-node="${node}"] .picture`)
        .append(drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words }, drawn("title", {}, words), ...boxes));
    });
  }
}

function cellOf(answer, sample, node) {
  const cell = answer.samples[sample].cells[node];
  const button = element("button", { type: "button", class: "cell", "aria-pressed": "false", "data-sample": sample, "data-node": node });
  button.append(cell.width ? pictureOf(answer, sample, node) : element("span", { class: "words number" }, cell.text));
  button.append(element("span", { class: "caption" }, cell.caption.replaceAll("  ", ", ")));
  button.addEventListener("click", () => selectCell(button, sample, node));
  button.addEventListener("pointermove", (event) => showValueUnder(event, answer, sample, node));
  return button;
}

/** The name of a file, which a narrow column breaks behind its folders. */
function fileName(name) {
  return element("span", { class: "caption" }, ...name.split(/(?<=\/)/).flatMap((part) => [part, element("wbr")]));
}

function rowOf(answer, sample) {
  const row = answer.samples[sample];
  const made = element("tr", {}, element("th", { scope: "row" }, `sample ${row.number}`, element("br"), fileName(row.name)));
  if (row.failure) made.append(element("td", { class: "failure number", colspan: Math.max(1, answer.columns.length) }, row.failure));
  row.cells.forEach((_, node) => made.append(element("td", {}, cellOf(answer, sample, node))));
  return made;
}

function showPictures(answer) {
  const head = element("tr", {}, element("th", { scope: "col" }, "sample"));
  for (const column of answer.columns)
    head.append(element("th", { scope: "col" }, column.name, element("br"), element("span", { class: "type number" }, column.type)));
  const body = element("tbody", {}, ...answer.samples.map((_, sample) => rowOf(answer, sample)));
  by("pictures").replaceChildren(element("table", {}, element("thead", {}, head), body));
  by("details").hidden = true;
}

// ------------------------------------------------------------------------------------------------ one value

async function selectCell(button, sample, node) {
  const answer = state.shown;
  document.querySelectorAll(".cell[aria-pressed=true]").forEach((other) => other.setAttribute("aria-pressed", "false"));
  button.setAttribute("aria-pressed", "true");
  const { status, json } = await ask("/api/node", `run=${answer.run}&sample=${sample}&node=${node}`);
  if (status !== 200) return refreshSoon();  // it is not kept any more
  const facts = by("facts");
  facts.replaceChildren();
  const add = (name, value) => { if (value !== undefined) facts.append(element("dt", {}, name), element("dd", { class: "number" }, String(value))); };
  add("variable", answer.columns[node].name);
  add("type", answer.columns[node].type);
  add("extents", json.extents.join(" × ") || "one number");
  for (const name of ["min", "max", "mean"]) add(name, json[name] === undefined ? undefined : Number(json[name].toPrecision(6)));
  if (json.not_finite > 0) add("no numbers", json.not_finite);
  if (json.values) add("values", json.values.join(", "));
  by("histogram").replaceChildren(...(json.histogram ? [histogramOf(json.histogram)] : []));
  state.selected = sample;
  by("trace-text").hidden = true;
  by("pointer").textContent = "";
  by("details").hidden = false;
}

/** The chosen picture's sample through every operator. */
async function traceSample() {
  const { status, json } = await ask("/api/trace", `run=${state.shown.run}&sample=${state.selected ?? 0}&view=${view}-trace`);
  by("trace-text").hidden = false;
  by("trace-text").textContent = status === 200 ? json.text + json.trace : json.message;
}

/** Where the pointer is in the picture, in its own columns and rows. */
function positionIn(image, event, cell) {
  const box = image.getBoundingClientRect();
  const x = Math.floor(((event.clientX - box.left) * cell.width) / box.width);
  const y = Math.floor(((event.clientY - box.top) * cell.height) / box.height);
  return x >= 0 && y >= 0 && x < cell.width && y < cell.height ? { x, y } : null;
}

let valueIsAsked = false;
async function showValueUnder(event, answer, sample, node) {
  const image = event.currentTarget.querySelector("img"), cell = answer.samples[sample].cells[node];
  const at = image && positionIn(image, event, cell);
  if (!at || valueIsAsked) return;
  valueIsAsked = true;
  try {
    const { status, json } = await ask("/api/node", `run=${answer.run}&sample=${sample}&node=${node}&x=${at.x}&y=${at.y}`);
    if (status === 200 && json.value) {
      by("details").hidden = false;
      by("pointer").textContent = `${answer.columns[node].name} at ${json.place}: ${json.value.map((v) => Number(v.toPrecision(6))).join(", ")}`;
    }
  } finally {
    valueIsAsked = false;
  }
}

// ------------------------------------------------------------------------------------------------ times

function showTimes(json) {
  const rows = [...json.operators].sort((a, b) => b.seconds - a.seconds).map((one) => {
    const share = json.seconds > 0 ? one.seconds / json.seconds : 0;
    const name = one.name.split(/(?<=\+)/).flatMap((part) => [part, element("wbr")]);  // of a kernel, its operators
    return element("tr", {}, element("th", { scope: "row" }, ...name), element("td", {}, one.line ? `line ${one.line}` : ""), element("td", {}, one.kind),
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
  state.windows = json.windows.filter((one) => isPart(answer, one));
  showTimes(json);
  showGraph(answer);
  showWindows(answer);
}

// ------------------------------------------------------------------------------------------------ the whole

function showGraph(answer) {
  if (answer.graph) by("graph").replaceChildren(new GraphDrawing(answer.graph, state.kernels, state.windows, by("arithmetic").checked).svg());
}

function show(answer) {
  const shortName = answer.file.split("/").pop();
  by("title").textContent = answer.policy ?? (answer.pipeline ? `${answer.pipeline} (${shortName})` : shortName);
  by("title").title = answer.file;
  document.body.classList.toggle("alone", answer.policy !== undefined);
  by("diagnostics").textContent = answer.text;
  by("problems").hidden = answer.text === "";
  by("pictures").classList.toggle("stale", !answer.ok);
  state.revision = answer.revision;
  showParameters(answer.parameters, answer.set);
  document.dispatchEvent(new Event("galatea-shown"));
  if (!answer.ok) { say("The pipeline is wrong: the pictures are the last good ones."); return; }
  state.shown = answer;
  state.kernels = [];
  state.windows = [];
  showPictures(answer);
  showGraph(answer);
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
function refreshSoon() {
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
for (const id of ["first", "samples", "draw", "seed"]) by(id).addEventListener("change", refreshSoon);
const setSize = () => document.documentElement.style.setProperty("--size", `${by("size").value}px`);
by("size").addEventListener("input", setSize);
by("size").addEventListener("change", () => {
  for (const image of document.querySelectorAll(".picture img")) image.src = image.src.replace(/size=\d+/, `size=${shownSize()}`);
});
by("compare").addEventListener("change", () => {
  state.kept = by("compare").checked ? state.shown : null;
  by("divide").disabled = !state.kept;
  if (state.shown) showPictures(state.shown), showWindows(state.shown);
});
const setDivide = () => document.documentElement.style.setProperty("--divide", `${by("divide").value}%`);
by("divide").addEventListener("input", setDivide);
by("arithmetic").addEventListener("change", () => { if (state.shown) showGraph(state.shown); });
by("measure").addEventListener("click", measure);
by("trace").addEventListener("click", traceSample);
by("controls").addEventListener("submit", (event) => event.preventDefault());
setSize();
setDivide();
refresh(true).then(follow);
