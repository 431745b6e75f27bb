// The page's part about policies: a grid of operations and magnitudes, weights as bars, what the policy costs, and
// the document, which only the button "Save" writes.
"use strict";

// `was`: the file's text when what stands here began; `drafts`: the same of documents that are not shown, by name.
const policy = { documents: [], at: 0, was: "", drafts: {}, asked: 0, grids: 0, timer: null };

async function send(path, body) {
  const response = await fetch(`/api/policy/${path}`, {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ document: policy.at, text: by("policy-text").value, ...body }),
  });
  return { status: response.status, json: await response.json() };
}

const sayOfPolicy = (text) => { by("policy-status").textContent = text; };

const isChanged = () => by("policy-text").value !== policy.was;

/** Saving makes sense for a text that is right, and another one than the file's. */
function showState(problem) {
  const changed = isChanged(), file = policy.documents[policy.at];
  const other = changed && file.text !== policy.was ? ` ${file.name} changed meanwhile: copy what you keep of yours, then go back to the file.` : "";
  by("policy-problem").textContent = problem;
  by("policy-problem").hidden = problem === "";
  by("policy-text").setAttribute("aria-invalid", problem === "" ? "false" : "true");
  by("policy-save").disabled = !changed || problem !== "";
  by("policy-reload").disabled = !changed;
  sayOfPolicy((problem ? "The document is wrong." : changed ? "Changed, and not saved." : "As the file.") + other);
}

// ------------------------------------------------------------------------------------------------ weights

/** The weights of one choice as bars; a bar that is dragged changes the text beside. */
function barsOf(choice, number) {
  const box = element("fieldset", { class: "bars" }, element("legend", {}, `Weights of ${choice.place}`));
  const most = Math.max(...choice.members.map((member) => member.weight), 1e-9);
  const sliders = choice.members.map((member) => {
    const slider = element("input", { type: "range", min: 0, max: 100, step: 1, value: Math.round((100 * member.weight) / most / 2), "aria-label": `weight of ${member.name}` });
    const share = element("output", { class: "number" }, `${(100 * member.weight).toFixed(1)} %`);
    box.append(element("label", { class: "bar-row" }, element("span", { class: "bar-name" }, member.name), slider, share));
    return { slider, share };
  });
  const weights = () => sliders.map(({ slider }) => Number(slider.value));
  for (const { slider } of sliders) {
    slider.addEventListener("input", () => {
      const sum = weights().reduce((all, one) => all + one, 0);
      sliders.forEach((other) => { other.share.textContent = sum ? `${((100 * Number(other.slider.value)) / sum).toFixed(1)} %` : "0 %"; });
    });
    slider.addEventListener("change", async () => {
      const before = by("policy-text").value;
      const { status, json } = await send("weights", { choice: number, weights: weights() });
      if (status !== 200) { sayOfPolicy(json.message); return; }
      if (by("policy-text").value !== before) return;  // somebody types on
      by("policy-text").value = json.text;
      showState("");
    });
  }
  return box;
}

async function look() {
  const number = ++policy.asked;
  const { status, json } = await send("look", {});
  if (number !== policy.asked) return;
  showState(status === 200 ? "" : json.message);
  if (status !== 200) return;
  by("policy-weights").replaceChildren(...json.choices.map(barsOf));
  if (document.body.classList.contains("alone")) makeGridSoon();
}

/** Of a document alone the pictures follow what is written. */
function makeGridSoon() {
  clearTimeout(policy.timer);
  policy.timer = setTimeout(makeGrid, 300);
}

// ------------------------------------------------------------------------------------------------ pictures

const timeText = (microseconds) => (microseconds >= 1000 ? `${(microseconds / 1000).toFixed(2)} ms` : `${Math.round(microseconds)} µs`);

function gridRow(json, row, number) {
  const made = element("tr", {}, element("th", { scope: "row" }, row.name, element("br"),
    element("span", { class: "caption number" }, row.microseconds === undefined ? "" : timeText(row.microseconds))));
  row.labels.forEach((label, column) => {
    const address = `/api/policy/picture?grid=${json.grid}&row=${number}&column=${column}`;
    made.append(element("td", {}, element("img", { src: address, alt: `${row.name} ${label}` }), element("span", { class: "caption number" }, label)));
  });
  return made;
}

async function makeGrid() {
  const number = ++policy.grids;
  by("policy-grid").classList.add("stale");  // the pictures before stay for so long
  const { status, json } = await send("grid", { sample: Number(by("policy-sample").value) });
  if (number !== policy.grids) return;
  by("policy-grid").classList.remove("stale");
  if (status !== 200) { by("policy-grid").replaceChildren(element("pre", { tabindex: 0 }, json.message)); return; }
  const original = element("tr", {}, element("th", { scope: "row" }, "as it comes"),
    element("td", {}, element("img", { src: `/api/policy/picture?grid=${json.grid}&row=-1&column=0`, alt: "the picture before the policy" })));
  by("policy-grid").replaceChildren(
    element("p", { id: "policy-cost" }, `The policy takes ${timeText(json.microseconds)} a sample on one thread.`),
    element("table", {}, element("caption", {}, "Operations, with stronger magnitudes to the right"),
      element("tbody", {}, original, ...json.rows.map((row, number) => gridRow(json, row, number)))));
}

// ------------------------------------------------------------------------------------------------ the whole

async function save() {
  const { status, json } = await send("save", { was: policy.was });
  if (status !== 200) { sayOfPolicy(`Not saved: ${json.message}`); return; }
  policy.was = by("policy-text").value;
  showState("");
  sayOfPolicy("Saved.");
}

/** What was written of a document, and not saved, comes back with it; or the file's text. */
function takeDocument(number) {
  const { name, text } = policy.documents[number], draft = policy.drafts[name];
  delete policy.drafts[name];
  policy.at = number;
  policy.was = draft?.was ?? text;
  by("policy-text").value = draft?.text ?? text;
  look();
}

function keepDraft() {
  if (policy.documents.length > 0 && isChanged()) policy.drafts[policy.documents[policy.at].name] = { was: policy.was, text: by("policy-text").value };
}

function build() {
  const choose = element("select", { id: "policy-document", "aria-label": "document" });
  const part = (name, attributes, ...children) => element(name, attributes, ...children);
  by("policy").replaceChildren(
    part("h2", {}, "Policy"),
    part("p", {}, choose, " ", part("span", { id: "policy-status", role: "status", "aria-live": "polite" })),
    part("div", { class: "policy" },
      part("div", { class: "policy-left" },
        part("p", {}, part("label", {}, "sample ", part("input", { id: "policy-sample", type: "number", min: 0, max: 15, value: 0 })), " ",
          part("button", { id: "policy-make", type: "button" }, "Show operations")),
        part("div", { id: "policy-grid", tabindex: 0, role: "region", "aria-label": "Operations and magnitudes, which scroll" })),
      part("div", { class: "policy-right" },
        part("div", { id: "policy-weights" }),
        part("label", { for: "policy-text" }, "Document"),
        part("textarea", { id: "policy-text", spellcheck: "false", rows: 20, cols: 60 }),
        part("pre", { id: "policy-problem", tabindex: 0, hidden: "" }),
        part("p", {}, part("button", { id: "policy-save", type: "button" }, "Save"), " ",
          part("button", { id: "policy-reload", type: "button" }, "Back to the file")))));
  choose.addEventListener("change", () => { keepDraft(); takeDocument(Number(choose.value)); });
  by("policy-make").addEventListener("click", makeGrid);
  by("policy-sample").addEventListener("change", makeGrid);
  by("policy-text").addEventListener("input", look);
  by("policy-save").addEventListener("click", save);
  by("policy-reload").addEventListener("click", async () => { await list(true); });
}

/** Asks for the documents; what is being changed is left alone unless `anew`. */
async function list(anew) {
  const { status, json } = await ask("/api/policy", "");
  if (status !== 200) return;
  by("policy").hidden = json.documents.length === 0;
  if (json.documents.length === 0) return;
  if (!by("policy-text")) build();
  const names = (documents) => documents.map((one) => one.name).join("\n");
  const areOthers = names(json.documents) !== names(policy.documents), shown = policy.documents[policy.at]?.name;
  if (areOthers) keepDraft();
  policy.documents = json.documents;
  if (areOthers) {
    by("policy-document").replaceChildren(...json.documents.map((one, number) => element("option", { value: number }, one.name)));
    const number = Math.max(0, json.documents.findIndex((one) => one.name === shown));
    by("policy-document").value = number;
    return takeDocument(number);
  }
  const file = json.documents[policy.at].text;
  if (file === by("policy-text").value) policy.was = file;  // somebody saved the same
  if (anew || (!isChanged() && file !== policy.was)) takeDocument(policy.at);
  else if (isChanged()) showState(by("policy-problem").textContent);
}

/** The browser asks before it throws away what is not saved. */
window.addEventListener("beforeunload", (event) => {
  if (Object.keys(policy.drafts).length > 0 || (by("policy-text") && isChanged())) event.preventDefault();
});
document.addEventListener("galatea-shown", () => list(false));
if (state.revision > 0) list(false);  // the pipeline was shown before this script was here
