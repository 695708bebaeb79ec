// The teaching team's screen: everybody's state, and what a person decides about it.
"use strict";
const base = document.body.dataset.base, xsrf = document.body.dataset.xsrf, lab = document.body.dataset.lab;
const said = document.querySelector("#said");
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

// Opens a dialog; calls `wish` with its form's values when it was not cancelled.
function ask(id, title, wish, values = {}) {
  const dialog = document.querySelector(id), form = dialog.querySelector("form");
  form.reset();
  dialog.querySelector("h3").textContent = title;
  for (const [name, value] of Object.entries(values)) {
    if (name === "asked") dialog.querySelector(".asked").textContent = value;
    else form.elements[name].value = value;
  }
  dialog.returnValue = "";
  dialog.onclose = () => { if (dialog.returnValue) decide(wish(Object.fromEntries(new FormData(form)))); };
  dialog.showModal();
}

function row(of) {
  const made = element("tr"), who = element("td");
  made.dataset.student = of.student;
  const name = element(of.receipt ? "a" : "bdi", of.student);
  if (of.receipt) name.href = `${base}receipts/${of.receipt}/feedback`;
  who.append(name);
  if (of.name && of.name !== of.student) who.append(" ", element("span", of.name, "soft"));
  made.append(who, element("td", of.section), cell(of.attempts ? String(of.attempts) : "", of.attempts === 1 ? "attempt" : "attempts"));
  const status = element("td", words[of.status] ?? of.status, ["", "waiting", "graded"].includes(of.status) ? "status" : "status trouble");
  for (const error of of.errors) status.append(element("div", error, "soft small"));
  made.append(status, cell(number(of.score), "points"));
  made.append(element("td", of.receipt, "name"), cell(of.days ? number(of.days) : "", "more days"));
  const acts = element("td"), line = element("div", "", "row");
  if (of.last && !of.waiting) line.append(button("Regrade", () => decide({ do: "regrade", receipt: of.receipt })));
  if (of.receipt) line.append(button("Overrule", () => ask("#overrule", `Overrule: ${of.student}`, (form) =>
    ({ do: "overrule", student: of.student, question: form.question, points: Number(form.points), why: form.text }))));
  line.append(button("Extend", () => ask("#extend", `More time for ${of.student}`, (form) =>
    ({ do: "extend", student: of.student, days: Number(form.days) }), { days: of.days })));
  acts.append(line);
  made.append(acts);
  return made;
}

function request(of) {
  const box = element("div", "", "box care"), line = element("p");
  line.append(element("bdi", of.student), ` asks (${of.request.at}): ${of.request.text}`);
  box.append(line, button("Answer", () => ask("#answer", `Answer ${of.student}`, (form) =>
    ({ do: "answer", request: of.request.id, text: form.text }), { asked: of.request.text })));
  return box;
}

async function show() {
  const answer = await fetch(`${base}team/${lab}/state`, { headers: { "X-XSRFToken": xsrf, Accept: "application/json" } });
  const state = await answer.json();
  if (!answer.ok) { said.textContent = state.message; return; }
  const wait = state.queue ? `${state.queue} wait, about ${state.seconds} s` : "Nothing waits";
  document.querySelector("#queue").textContent = state.trouble ? `${wait}. Grading is in trouble: ${state.trouble}` : `${wait}.`;
  document.querySelector("#grade").disabled = Boolean(state.grading);
  document.querySelector("#students").replaceChildren(...state.students.map(row));
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
