--- The page that shows a window in a browser: a canvas that sends the events of mouse and keys, and
--- paints the frames that it receives. It sends one request at a time, so over a slow network
--- frames are fewer, but not late.
return [==[<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>@TITLE@</title>
<style>
  html, body { margin: 0; height: 100%; background: #222; color: #ccc; font: 14px sans-serif; }
  body { display: flex; flex-direction: column; align-items: center; justify-content: center; }
  canvas { outline: none; max-width: 100vw; max-height: 96vh; touch-action: none; }
</style>
<canvas id="frame" width="@WIDTH@" height="@HEIGHT@" tabindex="0"></canvas>
<div id="state"></div>
<script>
const canvas = document.getElementById("frame"), state = document.getElementById("state");
const paint = canvas.getContext("2d");
const token = new URLSearchParams(location.search).get("token");
const names = { " ": "space", Enter: "return", Escape: "escape", ArrowLeft: "left",
  ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", PageUp: "pageup", PageDown: "pagedown" };
const sides = { Shift: "shift", Control: "ctrl", Alt: "alt" };
let events = [], number = 0;

function place(e) {
  const box = canvas.getBoundingClientRect();
  return Math.round((e.clientX - box.left) * canvas.width / box.width) + " "
    + Math.round((e.clientY - box.top) * canvas.height / box.height);
}
function key_of(e) {
  if (sides[e.key]) return (e.location == 2 ? "right " : "left ") + sides[e.key];
  return names[e.key] || e.key.toLowerCase();
}
function send(line) {
  if (line.startsWith("move") && events.length && events[events.length - 1].startsWith("move"))
    events.pop();
  if (events.length < 500) events.push(line);
}
canvas.addEventListener("pointermove", e => send("move " + place(e)));
canvas.addEventListener("pointerdown", e => {
  canvas.focus();
  try { canvas.setPointerCapture(e.pointerId); } catch (_) {}
  send("press " + e.button + " " + place(e));
});
canvas.addEventListener("pointerup", e => send("release " + e.button + " " + place(e)));
canvas.addEventListener("contextmenu", e => e.preventDefault());
canvas.addEventListener("wheel", e => {
  e.preventDefault();
  send("wheel " + (e.deltaY < 0 ? 1 : -1) + " " + place(e));
}, { passive: false });
window.addEventListener("keydown", e => {
  if (e.metaKey || e.key == "F5" && e.ctrlKey || e.key == "F12") return;
  e.preventDefault();
  if (!e.repeat) send("down " + key_of(e));
  if (e.key.length == 1 && !e.ctrlKey && !e.altKey) send("text " + e.key);
});
window.addEventListener("keyup", e => send("up " + key_of(e)));

async function exchange() {
  const body = events.join("\n");
  events = [];
  const answer = await fetch("/exchange?token=" + token + "&have=" + number,
    { method: "POST", body: body });
  if (answer.status == 204) return new Promise(resume => setTimeout(resume, 8));
  if (answer.status != 200) throw new Error(await answer.text());
  const picture = await createImageBitmap(await answer.blob());
  number = Number(answer.headers.get("X-Frame"));
  if (canvas.width != picture.width || canvas.height != picture.height) {
    canvas.width = picture.width;
    canvas.height = picture.height;
  }
  paint.drawImage(picture, 0, 0);
  state.textContent = "";
}
async function run() {
  for (;;) {
    try { await exchange(); }
    catch (e) {
      state.textContent = "no answer: has the program ended?";
      await new Promise(resume => setTimeout(resume, 1000));
    }
  }
}
canvas.focus();
run();
</script>
</html>
]==]
