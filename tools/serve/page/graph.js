// The drawing of a graph: blocks as lanes of samples, operators as boxes, values as edges between them.
"use strict";

class GraphDrawing {
  static boxWidth = 250;
  static lineHeight = 18;
  static gap = 18;

  /** `kernels` and `windows` as /api/times gives them; empty lists where nothing has been measured. `withNumbers`: also what
   *  only computes single numbers. */
  constructor(graph, kernels, windows, withNumbers) {
    this.blocks = withNumbers ? graph.blocks : withoutNumbers(graph.blocks);
    this.blockOf = Object.fromEntries(this.blocks.map((block) => [block.id, block]));
    this.next = successors(this.blocks);
    this.joinOf = joins(this.blocks, this.next);
    this.kernels = kernels;
    this.windows = windows;
    this.places = {};  // of values: the middle and the foot of the box that makes them
    this.lanes = drawn("g");  // one over the other: an edge lies behind the boxes that it passes
    this.edges = drawn("g");
    this.boxes = drawn("g");
    this.words = [];  // for those who do not see it
  }

  svg() {
    const gap = GraphDrawing.gap;
    const { width, y } = this.drawSequence(this.blocks[0].id, null, gap, gap);
    return drawn("svg", { role: "img", width: width + 2 * gap, height: y, "aria-label": this.words.join(". ") }, this.lanes, this.edges, this.boxes);
  }

  /** Each block below the one before it until `end`, the arms of a branch beside each other. Gives its width, and where
   *  what follows begins. */
  drawSequence(id, end, x, y) {
    const gap = GraphDrawing.gap;
    let width = GraphDrawing.boxWidth + 2 * gap;
    while (id !== end) {
      y = this.drawLane(this.blockOf[id], x, y) + gap;
      const next = this.next[id];
      if (next.length <= 1) { id = next[0] ?? null; continue; }
      const join = this.joinOf[id];
      let right = x, lowest = y;
      for (const arm of next) {
        if (arm === join) continue;
        const drawn = this.drawArm(arm, join, right, y);
        right += drawn.width + gap;
        lowest = Math.max(lowest, drawn.y);
      }
      width = Math.max(width, right - gap - x);
      y = lowest;
      id = join;
    }
    return { width, y };
  }

  /** An arm in which samples part again has a frame around all that it does. */
  drawArm(arm, join, x, y) {
    const inset = this.next[arm].length > 1 || this.next[arm][0] !== join ? GraphDrawing.gap / 2 : 0;
    const frame = drawn("rect", { class: "lane arm", x, y, rx: 6 });
    if (inset > 0) this.lanes.append(frame);
    const inside = this.drawSequence(arm, join, x + inset, y + inset);
    const width = inside.width + 2 * inset, foot = inside.y - GraphDrawing.gap + inset;
    frame.setAttribute("width", width);
    frame.setAttribute("height", foot - y);
    return { width, y: foot + GraphDrawing.gap };
  }

  /** Gives where it ends. */
  drawLane(block, x, y) {
    const gap = GraphDrawing.gap, share = this.shareOf(block);
    const lane = drawn("rect", { class: "lane", x, y, width: GraphDrawing.boxWidth + 2 * gap, rx: 6 });
    this.lanes.append(lane);
    this.boxes.append(drawn("text", { class: "faint", x: x + gap, y: y + 16 }, share));
    let below = y + 24;
    const boxes = this.boxesOf(block);
    if (boxes.length === 0) this.words.push(share);
    for (const box of boxes) {
      const lines = this.linesOf(box);
      this.words.push(`${share}: ${lines.join(" with ")}`);
      below = this.drawBox(box, lines, x + gap, below) + gap;
    }
    lane.setAttribute("height", below - y);
    return below;
  }

  drawBox(box, lines, x, y) {
    const { boxWidth, lineHeight } = GraphDrawing;
    const types = box.makes.filter((value) => value.type).map((value) => `${value.name.replace("%", "")}: ${value.type}`);
    const height = lineHeight * (lines.length + (types.length > 0 ? 1 : 0)) + 12, middle = x + boxWidth / 2;
    const edges = [];
    for (const name of new Set(box.reads)) if (this.places[name] && this.places[name].foot <= y) edges.push(this.edge(this.places[name], middle, y));
    for (const value of box.makes) this.places[value.name] = { middle, foot: y + height };
    const kind = box.isFused ? "node fused" : box.nodes.some((node) => node.random) ? "node drawn" : "node";
    const shape = drawn("rect", { class: kind, x, y, width: boxWidth, height, rx: 4 }, drawn("title", {}, types.join("\n")));
    for (const [event, isChosen] of [["pointerenter", true], ["pointerleave", false]])
      shape.addEventListener(event, () => edges.forEach((edge) => edge.classList.toggle("chosen", isChosen)));
    this.edges.append(...edges);
    this.boxes.append(shape);
    lines.forEach((line, k) => this.boxes.append(drawn("text", { x: x + 8, y: y + 20 + lineHeight * k }, line)));
    if (types.length > 0) this.boxes.append(drawn("text", { class: "faint", x: x + 8, y: y + 20 + lineHeight * lines.length }, shortened(types.join("; "))));
    return y + height;
  }

  /** From the foot of one box to the head of another; in the same column around the boxes between them. */
  edge(from, middle, y) {
    const gap = GraphDrawing.gap, isNext = from.foot + gap >= y, isFar = from.foot + 6 * gap < y;
    const name = isFar ? "edge far" : "edge";
    if (isNext || from.middle !== middle) {
      const half = (from.foot + y) / 2;
      return drawn("path", { class: name, d: `M${from.middle},${from.foot} C${from.middle},${half} ${middle},${half} ${middle},${y}` });
    }
    const side = middle + GraphDrawing.boxWidth / 2, bow = 14;
    return drawn("path", { class: name, d: `M${side},${from.foot - 8} C${side + bow},${from.foot} ${side + bow},${y} ${side},${y + 8}` });
  }

  /** Which samples come to a block, and how many of the shown ones. */
  shareOf(block) {
    if (block.every_sample) return "every sample";
    const all = this.blocks[0].samples, share = all > 0 ? `${block.samples} of ${all} samples` : "a part of the samples";
    for (const { branch } of this.blocks) {
      const arm = branch ? branch.targets.indexOf(block.id) : -1;
      if (arm < 0) continue;
      return `line ${branch.line}, ${branch.is_if ? ["if true", "if false"][arm] : `arm ${arm}`}: ${share}`;
    }
    return share;
  }

  /** Merges, and operators, of which those that became one kernel are one box. */
  boxesOf(block) {
    const boxes = block.merges.map((merge) => ({ nodes: [], kernel: -1, reads: merge.operands, makes: [merge] }));
    for (const node of block.nodes) {
      const kernel = this.kernels.findIndex((k) => k.operators.length > 1 && k.operators.some((name, i) => name === node.operator && k.lines[i] === node.line));
      const begun = kernel < 0 ? -1 : boxes.findIndex((box) => box.kernel === kernel);
      if (begun < 0) {
        boxes.push({ nodes: [node], kernel, reads: node.inputs, makes: node.outputs });
        continue;
      }
      const [box] = boxes.splice(begun, 1);  // a kernel runs once all that it reads is there
      const inside = new Set(box.makes.map((value) => value.name));
      boxes.push({
        nodes: [...box.nodes, node], kernel, isFused: true, makes: [...box.makes, ...node.outputs],
        reads: [...box.reads, ...node.inputs.filter((name) => !inside.has(name))],
      });
    }
    return boxes;
  }

  linesOf(box) {
    if (box.nodes.length === 0) return [`${box.makes[0].name.replace("%", "")}, of the arm that was taken`];
    const lines = box.nodes.map((node) => `${node.operator}, line ${node.line}`);
    for (const node of box.nodes) {
      const window = this.windows.find((w) => w.line === node.line && w.operator === node.operator);
      if (!window) continue;
      const readers = window.asked_by.map((r) => `${r.operator}, line ${r.line},`).join(" ");
      lines.push(readers ? `only what ${readers} reads` : "only the part that is read");
    }
    return lines;
  }
}

/** The blocks behind each block, in the order of its arms. */
function successors(blocks) {
  const next = Object.fromEntries(blocks.map((block) => [block.id, block.branch ? [...new Set(block.branch.targets)] : []]));
  for (const block of blocks)
    for (const id of block.predecessors) if (!next[id].includes(block.id)) next[id].push(block.id);
  return next;
}

/** The first block behind each one that all its samples come to. */
function joins(blocks, next) {
  const place = Object.fromEntries(blocks.map((block, k) => [block.id, k])), join = {};
  const common = (a, b) => {
    while (a !== b) if (place[a] < place[b]) a = join[a]; else b = join[b];
    return a;
  };
  for (const { id } of [...blocks].reverse()) join[id] = next[id].length > 0 ? next[id].reduce(common) : null;
  return join;
}

/** What has room in a box, which is 35 letters wide. */
function shortened(text) { return text.length > 35 ? `${text.slice(0, 34)}…` : text; }

/** Whether a type, such as "f32[2]", is of one number or a few. */
function isOfNumbers(type) {
  const extents = /\[([^\]]*)\]/.exec(type)?.[1];
  if (extents === undefined) return false;
  return extents === "" || (!extents.includes("?") && extents.split(",").reduce((all, extent) => all * Number(extent), 1) <= 4);
}

/** The blocks without what computes numbers of numbers; who reads one of these reads what it was made of. Draws stay. */
function withoutNumbers(blocks) {
  const sources = {};
  const sourcesOf = (names) => names.flatMap((name) => sources[name] ?? [name]);
  return blocks.map((block) => {
    const merges = block.merges.map((merge) => ({ ...merge, operands: sourcesOf(merge.operands) }));
    const nodes = [];
    for (const node of block.nodes) {
      const inputs = sourcesOf(node.inputs), isNumber = node.outputs.every((value) => isOfNumbers(value.type));
      if (isNumber && !node.random && node.inputs.length > 0) for (const value of node.outputs) sources[value.name] = inputs;
      else nodes.push({ ...node, inputs });
    }
    return { ...block, merges, nodes };
  });
}

/** As many bars as there are counts. */
function histogramOf(counts) {
  const width = 4, height = 80, most = Math.max(1, ...counts);
  const svg = drawn("svg", { width: counts.length * width, height, role: "img", "aria-label": "histogram" });
  counts.forEach((count, k) => {
    const tall = height * count / most;
    svg.append(drawn("rect", { class: "bar", x: k * width, y: height - tall, width: width - 1, height: tall }));
  });
  return svg;
}
