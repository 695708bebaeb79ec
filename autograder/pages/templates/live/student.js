// A student's page: sends a notebook, waits for its verdict, shows every attempt. Text from anywhere is set as text.
"use strict";
const base = document.body.dataset.base, xsrf = document.body.dataset.xsrf;
const largest = Number(document.body.dataset.largest);

const element = (name, text = "", kind = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const points = (value) => String(Math.round(100 * value) / 100);

async function ask(path, options = {}) {
  const headers = { Accept: "application/json", "X-XSRFToken": xsrf, ...options.headers };
  const answer = await fetch(base + path, { ...options, headers });
  let value = {};
  try { value = await answer.json(); } catch { value = { message: "The answer could not be read." }; }
  return [answer.status, value];
}

// The attempt's feedback page, in its place below the attempt: fetched when it is opened.
function feedback(card, open) {
  const made = element("details", "", "feedback"), address = `${base}receipts/${card.receipt}/feedback`;
  made.append(element("summary", "Feedback"));
  made.addEventListener("toggle", async () => {
    if (!made.open || made.childElementCount > 1) return;
    const page = new DOMParser().parseFromString(await (await fetch(address, { headers: { "X-XSRFToken": xsrf } })).text(), "text/html");
    const link = element("a", "This feedback on a page of its own");
    link.href = address;
    made.append(...(page.querySelector("main")?.children ?? []), link);
  });
  made.open = open;
  return made;
}

// The points that count, large, with their bar; nothing while they are not known.
function mark(card) {
  if (card?.max_score === undefined) return [];
  const total = element("div", "", "total"), bar = element("span", "", "bar"), part = element("i");
  total.append(element("strong", points(card.score)), element("span", `of ${points(card.max_score)} points: attempt ${card.attempt}${card.of ? ` of ${card.of}` : ""} counts`));
  part.style.width = `${100 * card.score / card.max_score}%`;
  bar.append(part);
  return [total, bar];
}

function shown(card, counting, newest) {
  const made = element("section", "", "card attempt");
  made.dataset.receipt = card.receipt;
  made.dataset.state = card.state;
  const head = element("header");
  const of = card.of ? ` of ${card.of}` : "";
  const title = element("h2", `Attempt ${card.attempt}${of}`), counts = card.receipt === counting && card.state !== "waiting";
  if (counts) title.append(element("span", "This attempt counts", "badge"));
  head.append(title);
  const score = card.max_score === undefined ? "" : `${points(card.score)} of ${points(card.max_score)} points`;
  if (score) head.append(element("strong", score, "number"));
  made.append(head);
  const line = element("p", `Received ${card.received}, receipt `, "soft small");
  line.append(element("span", card.receipt, "receipt"), newest && card.score !== undefined && !counts ? ". An earlier attempt counts: you lose nothing." : ".");
  made.append(line);
  if (card.state === "waiting") {
    const ahead = card.ahead ? `${card.ahead} before yours, ` : "";
    made.append(element("p", `Being graded: ${ahead}about ${card.seconds} second${card.seconds === 1 ? "" : "s"}.`));
  } else if (card.message && card.max_score === undefined) made.append(element("p", card.message));
  if (card.max_score !== undefined) {
    made.append(feedback(card, newest), ...(counts ? [line] : []));
    return made;
  }
  const list = element("ul", "", "questions");
  for (const question of card.questions) {
    const row = element("li");
    row.append(element("b", question.passed ? "✓" : "✗", question.passed ? "y" : "n"), element("span", question.name, "name"));
    row.append(element("span", question.passed ? "right" : "not yet", "number"));
    list.append(row);
  }
  if (list.childElementCount) made.append(list);
  return made;
}

for (const section of document.querySelectorAll(".lab")) {
  const lab = section.dataset.lab, said = section.querySelector(".said"), send = section.querySelector(".send");
  const input = section.querySelector("input"), drop = section.querySelector(".drop"), list = section.querySelector(".attempts");
  const asking = section.querySelector(".ask"), text = section.querySelector("textarea");
  let file = null;

  const choose = (chosen) => {
    file = chosen;
    if (file) drop.open = true;
    send.disabled = !file;
    said.textContent = file ? `${file.name}, ${Math.ceil(file.size / 1000)} kB` : "";
  };
  const show = async (fold = true) => {
    const [status, value] = await ask(`labs/${lab}/attempts`);
    if (status !== 200) { said.textContent = value.message; return; }
    decided();
    section.querySelector(".mark").replaceChildren(...mark(value.attempts.find((card) => card.receipt === value.counting)));
    list.replaceChildren(...value.attempts.reverse().map((card, place) => shown(card, value.counting, place === 0)));
    list.querySelector(".attempt:not([data-state=waiting])")?.append(asking);
    if (list.childElementCount) drop.querySelector("summary").textContent = "Hand in again";
    if (fold && list.childElementCount) drop.open = false;
    if (value.left_out) list.append(element("p", `${value.left_out} earlier attempts are not listed here.`));
    const waiting = value.attempts.find((card) => card.state === "waiting");
    if (waiting) {
      await ask(`receipts/${waiting.receipt}?wait=${Math.min(waiting.seconds + 1, 20)}`);
      await show(false);
    }
  };
  const decided = async () => {
    const [status, value] = await ask(`labs/${lab}/requests`);
    if (status !== 200) return;
    // What a teacher changed stands in the feedback, where there is one.
    const boxes = list.querySelector(".feedback") ? [] : value.overruled.map((one) => ["teacher", `Your teacher gave ${points(one.points)} points for ${one.question}: ${one.why}`]);
    for (const one of value.requests)
      boxes.push([one.answer && "teacher", `You asked (${one.at}): ${one.text}`, one.answer ? `Answer: ${one.answer}` : "There is no answer yet."]);
    section.querySelector(".teachers").replaceChildren(...boxes.map(([kind, ...lines]) => {
      const box = element("div", "", `box ${kind}`);
      box.append(...lines.map((words) => element("p", words)));
      return box;
    }));
    asking.hidden = !list.querySelector(".attempt:not([data-state=waiting])") || value.requests.some((one) => !one.answer);
  };
  asking.querySelector("button").addEventListener("click", async () => {
    const [status, value] = await ask(`labs/${lab}/requests`, { method: "POST", body: JSON.stringify({ text: text.value }) });
    if (status === 201) { text.value = ""; asking.open = false; } else said.textContent = value.message;
    await decided();
  });
  input.addEventListener("change", () => choose(input.files[0] ?? null));
  for (const kind of ["dragover", "dragleave", "drop"]) drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop") choose(event.dataTransfer.files[0] ?? null);
  });
  send.addEventListener("click", async () => {
    if (file.size > largest) {
      said.textContent = `This file has ${Math.round(file.size / 1e6)} MB: clear the outputs of its cells, save, and choose it again.`;
      return;
    }
    send.disabled = true;
    said.textContent = "On its way …";
    try {
      const [status, card] = await ask(`labs/${lab}/hand-in`, { method: "POST", body: file });
      said.textContent = status === 201 ? `Received: ${card.receipt}.`
        : status === 200 ? `You have handed in exactly this notebook before: ${card.receipt}.` : card.message;
    } catch {
      said.textContent = "It did not arrive: the file changed since you chose it, or the connection is down. Choose it again.";
    }
    input.value = "";
    file = null;
    send.disabled = true;
    await show();
  });
  show();
}

const clock = () => {
  for (const timer of document.querySelectorAll(".timer")) {
    const left = Math.round(Number(timer.dataset.ends) - Date.now() / 1000);
    timer.textContent = left > 0 ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left in class` : "";
  }
};
clock();
setInterval(clock, 1000);

document.querySelector("#out")?.addEventListener("click", async () => {
  await ask("out", { method: "POST" });
  location.reload();
});
