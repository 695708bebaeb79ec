// The teaching team's screen: everybody's state, and what a person decides about it.
"use strict";
const base = document.body.dataset.base, xsrf = document.body.dataset.xsrf, lab = document.body.dataset.lab;
const most = Number(document.body.dataset.most), said = document.querySelector("#said");
const words = { "": "nothing handed in", waiting: "being graded", fault: "our grader failed: regrade it" };

const element = (name, text = "", kind = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const button = (text, pressed) => {
  const made = element("button", text);
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
};
const number = (value) => value === null ? "" : String(Math.round(100 * value) / 100);
// A cell of the table; on a phone, where the headings are gone, its `words` stand behind it.
const cell = (text, words) => {
  const made = element("td", text, "number");
  if (text) made.dataset.after = words;
  return made;
};

async function decide(wish) {
  const answer = await fetch(`${base}team/${lab}/decide`, {
    method: "POST", body: JSON.stringify(wish), headers: { "X-XSRFToken": xsrf, Accept: "application/json" },
  });
  said.textContent = (await answer.json()).message;
  await show();
}

// The question that lost most points.
const costliest = (points) => {
  const lost = (option) => Number(option.dataset.most) - (points[option.value] ?? 0);
  return [...document.querySelectorAll("#overrule option")].reduce((a, b) => lost(b) > lost(a) ? b : a).value;
};

// Opens a dialog; calls `wish` with its form's values when it was not cancelled.
function ask(id, title, wish, values = {}) {
  const dialog = document.querySelector(id), form = dialog.querySelector("form");
  form.reset();
  dialog.querySelector("h3").textContent = title;
  for (const [name, value] of Object.entries(values)) {
    if (name === "asked") dialog.querySelector(".asked").textContent = value;
    else if (name !== "points") form.elements[name].value = value;
  }
  for (const option of dialog.querySelectorAll("option"))
    option.textContent = `${option.value}: ${number(values.points[option.value] ?? 0)} of ${number(Number(option.dataset.most))}`;
  dialog.returnValue = "";
  dialog.onclose = () => { if (dialog.returnValue) decide(wish(Object.fromEntries(new FormData(form)))); };
  dialog.showModal();
}

// A student's name, which leads to the feedback on the attempt that counts.
function named(of) {
  const made = element(of.score === null ? "bdi" : "a", of.name || of.student);
  if (of.score !== null) made.href = `${base}receipts/${of.receipt}/feedback`;
  return made;
}

// What is wrong and costs points comes first, then whose points are lowest.
const trouble = (of) => of.status === "fault" ? 0 : of.waiting ? 2 : of.status === "" ? 4 : of.status === "graded" || of.score >= most ? 3 : 1;

// Those with all points, for whom nothing is to do, are folded.
const full = document.querySelector("#full"), fold = document.querySelector("#fold");
fold.addEventListener("click", () => {
  full.hidden = !full.hidden;
  fold.setAttribute("aria-expanded", String(!full.hidden));
  show();
});

// The students whose reasons are open.
const opened = new Set();

function row(of) {
  const made = element("tr"), who = element("td");
  made.dataset.student = of.student;
  who.append(named(of));
  who.title = of.receipt;
  if (of.name && of.name !== of.student) who.append(" ", element("span", of.student, "soft small"));
  made.append(who, element("td", of.section), cell(of.attempts ? String(of.attempts) : "", of.attempts === 1 ? "attempt" : "attempts"));
  const status = element("td", "", ["", "waiting", "graded"].includes(of.status) ? "status" : "status trouble");
  if (of.status !== "graded" || !of.errors.length) status.append(element("span", words[of.status] ?? of.status));
  if (of.waiting && of.status !== "waiting") status.append(element("div", `a later attempt waits`, "small"));
  const [first, ...more] = of.errors.map((error) => element("div", error, "small"));
  if (first) status.append(first);
  if (more.length) {
    const reasons = element("details", "", "small");
    reasons.append(element("summary", `${more.length} more`), ...more);
    reasons.open = opened.has(of.student);
    reasons.addEventListener("toggle", () => opened[reasons.open ? "add" : "delete"](of.student));
    status.append(reasons);
  }
  const earned = cell(number(of.score), "points");
  if (of.score !== null && of.score < most) earned.style.setProperty("--lost", of.score > .75 * most ? "35%" : of.score >= .5 * most ? "65%" : "100%");
  if (of.days) status.append(element("div", `${number(of.days)} more ${of.days === 1 ? "day" : "days"}`, "small soft"));
  made.append(earned, status);
  const acts = element("td"), line = element("div", "", "row");
  if (of.last && !of.waiting) line.append(button("Regrade", () => decide({ do: "regrade", receipt: of.receipt })));
  if (of.score !== null) line.append(button("Overrule", () => ask("#overrule", `Overrule: ${of.name || of.student}`, (form) =>
    ({ do: "overrule", student: of.student, question: form.question, points: Number(form.points), why: form.text }),
    { points: of.questions, question: costliest(of.questions) })));
  line.append(button("Extend", () => ask("#extend", `More time for ${of.student}`, (form) =>
    ({ do: "extend", student: of.student, days: Number(form.days) }), { days: of.days })));
  acts.append(line);
  made.append(acts);
  return made;
}

function request(of) {
  const box = element("div", "", "box care request"), line = element("p");
  line.append(named(of), ` (${number(of.score)} of ${number(most)} points) asks (${of.request.at}): ${of.request.text}`);
  box.append(line, button("Answer", () => ask("#answer", `Answer ${of.student}`, (form) =>
    ({ do: "answer", request: of.request.id, text: form.text }), { asked: of.request.text })));
  return box;
}

async function show() {
  const answer = await fetch(`${base}team/${lab}/state`, { headers: { "X-XSRFToken": xsrf, Accept: "application/json" } });
  const state = await answer.json();
  if (!answer.ok) { said.textContent = state.message; return; }
  const here = `${state.students.filter((of) => of.attempts).length} of ${state.students.length} have handed in`;
  const wait = state.queue ? `${here}; ${state.queue} wait, about ${state.seconds} s` : `${here}; no notebook waits`;
  document.querySelector("#queue").classList.toggle("busy", state.queue > 0);
  document.querySelector("#queue").textContent = state.trouble ? `${wait}. Grading is in trouble: ${state.trouble}` : `${wait}.`;
  document.querySelector("#grade").disabled = Boolean(state.grading);
  const sorted = state.students.sort((a, b) => trouble(a) - trouble(b) || a.score - b.score), isFull = (of) => of.score >= most && !of.waiting;
  document.querySelector("#students").replaceChildren(...sorted.filter((of) => !isFull(of)).map(row));
  full.replaceChildren(...sorted.filter(isFull).map(row));
  fold.textContent = `${full.hidden ? "▸" : "▾"} ${full.rows.length} with all points`;
  document.querySelector("#requests").replaceChildren(...state.students.filter((of) => of.request).map(request));
  document.querySelector("#log").replaceChildren(...state.log.reverse().map((line) => element("li", line)));
}

document.querySelector("#grade").addEventListener("click", () => {
  said.textContent = "The class is being graded …";
  document.querySelector("#grade").disabled = true;
  decide({ do: "grade" });
});
show();
setInterval(() => { if (!document.querySelector("dialog[open]") && !document.hidden) show(); }, 4000);
