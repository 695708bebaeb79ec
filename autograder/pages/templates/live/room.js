// The lecturer's screen. Its numbers come by server-sent events; it knows nobody's name.
"use strict";
const base = document.body.dataset.base, xsrf = document.body.dataset.xsrf, lab = document.body.dataset.lab;
const view = document.querySelector("#view"), said = document.querySelector("#said");
let source = null, looked = false, ends = null, offset = 0, open;

const element = (name, text = "", kind = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const stage = document.querySelector("#stage"), panel = document.querySelector("#show"), frame = panel.querySelector("iframe"), close = document.querySelector("#close");

// A question's demo beside the questions, or (with no question) none.
function play({ name, demo } = {}) {
  const address = demo ? `${base}demos/${demo}.html#bare=1` : "about:blank";
  if (frame.getAttribute("src") !== address) frame.src = address;
  panel.hidden = close.hidden = !demo;
  stage.classList.toggle("showing", Boolean(demo));
  open = name;
  for (const button of document.querySelectorAll(".question button")) button.classList.toggle("main", button.value === open);
}
close.querySelector("button").addEventListener("click", () => play());
frame.addEventListener("load", () => frame.focus()); // its arrow keys change the scene

function thought(said, kind, words) {
  const made = element("div", "", `thought ${kind}`), text = element("span", words);
  text.title = words;
  made.append(element("b", said.count), text);
  return made;
}

function line(question, most) {
  const row = element("section", "", "question"), left = element("div"), right = element("div", "", "thoughts");
  const wrong = question.of - question.right - question.partly - question.not_begun;
  const parts = [
    ["right", question.right, `${question.right} of ${question.of} have it`],
    ["partly", question.partly, `${question.partly} in part`],
    ["wrong", wrong, `${wrong} not yet`],
    ["none", question.not_begun, `${question.not_begun} not begun`],
  ].filter(([kind, count]) => kind === "right" || count);
  const bar = element("div", "", "stack"), counts = element("div", "", "counts");
  for (const [kind, count, words] of parts) {
    const part = element("i", "", kind), said = element("span");
    part.style.width = `${question.of ? (100 * count) / question.of : 0}%`;
    bar.append(part);
    said.append(element("i", "", kind), words);
    counts.append(said);
  }
  const head = element("h2", question.name, question.partly + wrong === most ? "most" : "");
  left.append(head, bar, counts);
  const shared = (all) => all.filter((said) => said.count > 1); // nobody feels pointed at
  right.append(...shared(question.misconceptions).map((said) => thought(said, "known", said.title)));
  right.append(...shared(question.stuck).map((said) => thought(said, "stuck", `stuck at: ${said.title}`)));
  if (question.demo) {
    const button = element("button", "Demo", question.name === open ? "main" : "");
    button.value = question.name;
    button.addEventListener("click", () => play(question));
    head.append(button);
  }
  row.append(left, right);
  return row;
}

function show(seen) {
  if (!looked && seen.running && view.value === "all") {
    looked = true;
    view.value = "exercise";
    listen();
    return;
  }
  looked = true;
  offset = seen.now - Date.now() / 1000;
  ends = seen.running ? seen.ends : null;
  document.querySelector("#start").hidden = seen.running;
  document.querySelector("#stop").hidden = !seen.running;
  document.querySelector("#time").hidden = seen.running;
  const waiting = seen.waiting ? `, ${seen.waiting} being graded` : "";
  const unread = seen.unread ? `, ${seen.unread} cannot be read` : "", all = seen.class ? ` of ${seen.class}` : "";
  const empty = document.querySelector("#empty");
  empty.hidden = seen.students > 0;
  empty.textContent = seen.waiting ? "The first notebooks are being graded." : `Nobody has handed in ${seen.view === "all" ? "yet" : "since this exercise began"}: run hand_in() in your notebook.`;
  stage.classList.toggle("none", seen.students === 0);
  document.querySelector(".figures").textContent =
    `${seen.students}${all} student${(seen.class || seen.students) === 1 ? "" : "s"} ${seen.students === 1 ? "has" : "have"} a verdict${unread}${waiting}`;
  const most = Math.max(2, ...seen.questions.map((one) => one.of - one.right - one.not_begun));
  document.querySelector("#questions").replaceChildren(...seen.questions.map((one) => line(one, most)));
  said.textContent = "";
}

function listen() {
  source?.close();
  // A hub asks for the page's token here, too, and an event source sends no headers.
  source = new EventSource(`${base}room/${lab}/events?view=${view.value}&_xsrf=${encodeURIComponent(xsrf)}`);
  source.onmessage = (event) => show(JSON.parse(event.data));
  source.onerror = () => {
    said.textContent = "The connection is down; trying again.";
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  };
}

async function exercise(wish) {
  const answer = await fetch(`${base}room/${lab}/exercise`, {
    method: "POST", body: JSON.stringify(wish), headers: { "X-XSRFToken": xsrf, Accept: "application/json" },
  });
  if (!answer.ok) said.textContent = (await answer.json()).message;
  return answer.ok;
}
document.querySelector("#start").addEventListener("click", async () => {
  const minutes = Number(document.querySelector("#minutes").value);
  if (await exercise({ do: "start", minutes: minutes > 0 ? minutes : null })) { view.value = "exercise"; listen(); }
});
document.querySelector("#stop").addEventListener("click", () => exercise({ do: "stop" }));
view.addEventListener("change", listen);

setInterval(() => {
  const left = Math.max(0, Math.round(ends - Date.now() / 1000 - offset));
  document.querySelector(".timer").textContent = ends ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` : "";
}, 250);
listen();
