// browser.js - what the scripts of our pages use of a browser, for a JavaScript engine alone (jsc of
// Debian's libjavascriptcoregtk-4.0-bin): elements as a tree, events that a test sends, and fetch,
// which prints `request ADDRESS BODY` and reads `STATUS NUMBER WIDTH HEIGHT`. No layout, no pictures:
// what a page looks like, Chromium shows.
"use strict";

class Element {
  constructor(tag) {
    Object.assign(this, { tag, children: [], listeners: {}, className: "", value: "",
      hidden: false });
  }
  append(child) { this.children.push(child); }
  get textContent() {
    return this.children.map((c) => typeof c === "string" ? c : c.textContent).join("");
  }
  set textContent(text) { this.children = text === "" ? [] : [text]; }
  get classList() {
    return { toggle: (name, on) => { this.className = on ? name : ""; } };
  }
  querySelectorAll(tag) {
    const below = this.children.filter((c) => c instanceof Element)
      .flatMap((c) => [c, ...c.querySelectorAll("*")]);
    return below.filter((c) => tag === "*" || c.tag === tag);
  }
  addEventListener(kind, f) { (this.listeners[kind] ||= []).push(f); }
  // A test's: calls the listeners as if a person had done it.
  send(kind, members) {
    const event = Object.assign({ preventDefault() {} }, members);
    for (const f of this.listeners[kind] || []) f(event);
  }
  focus() { document.activeElement = this; }
  blur() { document.activeElement = null; }
  click() { this.send("click"); }
  scrollIntoView() {}
  setPointerCapture() {}
  getBoundingClientRect() { return { left: 0, top: 0, width: this.width, height: this.height }; }
  getContext() { return { drawImage: (picture) => shown(picture) }; }
  get outerHTML() {
    const inner = this.children.map((c) => typeof c === "string" ? c : c.outerHTML).join("");
    const link = this.href ? ` href="${this.href}"` : "";
    return `<${this.tag}${link}>${inner}</${this.tag}>`;
  }
}

const window = new Element("window"), document = new Element("document");
const elements = {}; // by id
document.getElementById = (id) => elements[id] ||= new Element("div");
document.querySelector = (tag) => elements[tag] ||= new Element(tag);
document.createElement = (tag) => new Element(tag);
const location = { search: "" };
let shown = () => {}; // a test's: called with each picture that the page draws

class URLSearchParams {
  constructor(text) {
    const pairs = text.replace(/^\?/, "").split("&").map((pair) => pair.split("="));
    this.of = Object.fromEntries(pairs);
  }
  get(name) { return name in this.of ? decodeURIComponent(this.of[name]) : null; }
}

async function fetch(address, { body }) {
  print("request " + address + " " + body.replace(/\n/g, "|"));
  const [status, number, width, height] = readline().split(" ").map(Number);
  if (!status) throw new Error("no connection");
  return { status, headers: { get: () => String(number) }, blob: async () => ({ width, height }),
    text: async () => "" };
}
const createImageBitmap = async (blob) => blob;
