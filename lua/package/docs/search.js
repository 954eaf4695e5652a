// Searches `entries` (entries.js): [page, title, address, text] of each heading, name and example.
// "/" goes to the field, arrows choose, Enter opens; "?q=words" in the address begins with a search.
"use strict";
const field = document.getElementById("search");
const results = document.getElementById("results");
const most = 30;
let chosen = 0;

// Smaller is better; undefined: a word is not in the entry.
function rank(entry, words) {
  const title = entry[1].toLowerCase(), text = entry[3].toLowerCase();
  let sum = 0;
  // ":argmin argmax()": several names of one meaning
  const names = title.replace(/^(rg\.|:)/, "").replace(/\(.*/, "").split(" ");
  for (const word of words) {
    if (title === word || names.includes(word)) sum += 0;
    else if (title.startsWith(word) || names[0].startsWith(word)) sum += 1;
    else if (title.includes(word)) sum += 3;
    else if (entry[0].toLowerCase().includes(word)) sum += 6;
    else if (text.includes(word)) sum += 8;
    else return undefined;
  }
  return sum + Math.min(text.length, 9000) / 10000;
}

function add(parent, tag, text, name) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  parent.append(element);
  return element;
}

// The part of a text around the first of the words, with all of them marked.
function excerpt(parent, text, words) {
  const lower = text.toLowerCase();
  const found = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const about = Math.max(0, (found.length ? Math.min(...found) : 0) - 60);
  const first = about > 0 ? text.indexOf(" ", about) + 1 : 0;
  const part = (first > 0 ? ".. " : "") + text.slice(first, first + 180);
  const line = add(parent, "p", "");
  let at = 0;
  while (at < part.length) {
    let next = part.length, length = 0;
    for (const word of words) {
      const place = part.toLowerCase().indexOf(word, at);
      if (place >= 0 && place < next) { next = place; length = word.length; }
    }
    line.append(part.slice(at, next));
    if (length) add(line, "mark", part.slice(next, next + length));
    at = next + length;
  }
}

function choose(number) {
  const links = results.querySelectorAll("a");
  if (!links.length) return;
  chosen = (number + links.length) % links.length;
  links.forEach((link, k) => link.classList.toggle("chosen", k === chosen));
  links[chosen].scrollIntoView({ block: "nearest" });
}

// "x:sum(y)" asks for sum: brackets and colons part words, and single letters are variables.
function words_of(text) {
  const words = text.toLowerCase().split(/[\s:(),]+/).filter((word) => word);
  const long = words.filter((word) => word.length > 1);
  return long.length ? long : words;
}

function search() {
  const words = words_of(field.value);
  results.textContent = "";
  results.hidden = words.length === 0;
  document.querySelector("article").hidden = words.length > 0;
  if (!words.length) return;
  const found = entries.map((entry) => [rank(entry, words), entry])
    .filter((pair) => pair[0] !== undefined).sort((a, b) => a[0] - b[0]);
  add(results, "p", found.length ? found.length + " found" : "nothing found", "count");
  for (const [, entry] of found.slice(0, most)) {
    const link = add(results, "a", "");
    link.href = entry[2];
    add(link, "b", entry[1]);
    if (entry[0] !== entry[1]) add(link, "span", entry[0]);
    excerpt(link, entry[3], words);
    link.addEventListener("click", close);
  }
  choose(0);
}

// A result may be a place of the page that is shown.
function close() {
  field.value = "";
  field.blur();
  search();
}

field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  const links = results.querySelectorAll("a");
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Enter" && links.length) links[chosen].click();
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || document.activeElement === field) return;
  event.preventDefault();
  field.focus();
});

const query = new URLSearchParams(location.search).get("q");
if (query) {
  field.value = query;
  search();
}
