// The lecturer's screen. Its numbers come by server-sent events; it knows nobody's name.
"use strict";
const base = document.body.dataset.base, xsrf = document.body.dataset.xsrf, lab = document.body.dataset.lab;
const view = document.querySelector("#view"), said = document.querySelector("#said");
let source = null, ends = null, offset = 0;

const element = (name, text = "", kind = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const share = (count, of) => `${of ? (100 * count) / of : 0}%`;
const percent = (count, of) => `${of ? Math.round((100 * count) / of) : 0}%`;

function line(question) {
  const row = element("section", "", "question"), left = element("div"), right = element("div");
  left.append(element("h2", question.name));
  const bar = element("div", "", "stack");
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `${question.right} of ${question.of} have it, ${question.partly} have part of it`);
  for (const kind of ["right", "partly"]) {
    const part = element("i", "", kind);
    part.style.width = share(question[kind], question.of);
    bar.append(part);
  }
  const partly = question.partly ? `, ${question.partly} in part` : "";
  left.append(bar, element("div", `${question.right} of ${question.of} have it${partly}`, "soft"));
  for (const thought of question.misconceptions) {
    const made = element("div", "", "thought");
    made.append(element("b", percent(thought.count, question.of)), element("span", thought.title));
    right.append(made);
  }
  for (const stuck of question.stuck) {
    const made = element("div", "", "thought");
    made.append(element("b", percent(stuck.count, question.of)), element("span", `stuck at: ${stuck.title}`));
    right.append(made);
  }
  if (question.demo && question.right < question.of) {
    const link = element("a", "Show the demo");
    link.href = `${base}demos/${question.demo}.html`;
    link.target = "demo";
    right.append(link);
  }
  row.append(left, right);
  return row;
}

function show(seen) {
  offset = seen.now - Date.now() / 1000;
  ends = seen.running ? seen.ends : null;
  document.querySelector("#start").hidden = seen.running;
  document.querySelector("#stop").hidden = !seen.running;
  const waiting = seen.waiting ? `, ${seen.waiting} being graded` : "";
  document.querySelector(".figures").textContent =
    `${seen.students} student${seen.students === 1 ? " has" : "s have"} a verdict${waiting}`;
  document.querySelector("#questions").replaceChildren(...seen.questions.map(line));
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
  const left = ends === null ? null : Math.max(0, Math.round(ends - Date.now() / 1000 - offset));
  document.querySelector(".timer").textContent =
    left === null ? "" : `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}, 250);
listen();
