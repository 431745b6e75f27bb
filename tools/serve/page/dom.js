// What all scripts of the page use: elements, requests.
"use strict";

const by = (id) => document.getElementById(id);

/** An element with attributes and children; texts are never read as HTML. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The same of an SVG. */
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
