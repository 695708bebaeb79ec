// The frame around every demo: the finding as its title, the picture, scenes, controls, a question with its answer,
// light and dark, keys, and the state in the address. `mount` puts a demo into an element of a page.
//
// A demo is a module that exports
//   meta      {name, title, look, questions: [[question, answer, scenes], …]}   as JSON, for Python reads it too; `scenes`,
//             from 1, are those that the question is about: Q asks what belongs to the scene that is shown
//   scenes    [{name, set: {control: value}}, …]     the first is how the demo opens
//   controls  [{kind: "slider" | "steps" | "choice" | "again" | "words" | "picture", name, label, start, …}, …]
//   say       (state, data) → {title, note, alt}     what the picture shows, in words
//   draw      (root, state, ctx)                     makes the group `root` show the state; ctx.W × ctx.H units
//   prepare   (json) → data                          optional: what `say` and `draw` get instead of the exported JSON

import d3 from "./vendor/d3.min.js";
import { clamp, short } from "./numbers.js";

const GLIDE = 550;

/** The state in which a scene opens. */
export const opened = (demo, scene = 0) => ({
  ...Object.fromEntries(demo.controls.map((c) => [c.name, c.start])),
  ...demo.scenes[scene].set,
  scene,
});

const value = {
  slider: (c, text) => (Number.isFinite(Number(text)) && text !== "" ? clamp(Number(text), c.low, c.high) : c.start),
  steps: (c, text) => (Number.isFinite(Number(text)) ? Math.max(0, Math.round(Number(text))) : c.start),
  again: (c, text) => (Number.isFinite(Number(text)) ? Math.round(Number(text)) : c.start),
  words: (c, text) => text.slice(0, c.longest ?? 200),
  choice: (c, text) => c.options.map(([v]) => v).find((v) => String(v) === text) ?? c.start,
  picture: (c, text) => c.read(text) ?? c.start,
};

/** The state as the address's part after #: the scene, and what differs from it. */
export function toHash(demo, state) {
  const base = opened(demo, state.scene);
  const parts = new URLSearchParams({ scene: state.scene + 1 });
  for (const { name } of demo.controls) if (String(state[name]) !== String(base[name])) parts.set(name, String(state[name]));
  return parts.toString();
}

/** The state that such a part says; what cannot be read is as the scene has it. */
export function fromHash(demo, text) {
  const parts = new URLSearchParams(text);
  const scene = clamp(Math.round(Number(parts.get("scene") ?? 1)) || 1, 1, demo.scenes.length) - 1;
  const state = opened(demo, scene);
  for (const c of demo.controls) if (parts.has(c.name)) state[c.name] = value[c.kind](c, parts.get(c.name));
  return state;
}

/** Put a demo into an element. `page`: it has the page, its keys and its address for itself; `changed` hears each state. */
export function mount(element, demo, { data = null, page = false, changed = null } = {}) {
  return new Stage(element, demo, demo.prepare ? demo.prepare(data) : data, { page, changed });
}

class Stage {
  constructor(element, demo, data, options) {
    Object.assign(this, { demo, data, options, element, dragging: false, asked: -1, panels: [], playing: null });
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.state = options.page ? fromHash(demo, location.hash.slice(1)) : opened(demo);
    const asked = new URLSearchParams(location.hash.slice(1));
    this.theme = asked.get("theme");
    this.build();
    this.hide(asked.has("bare"));
    this.listen();
    this.dress();
    this.measure();
  }

  // --- the page ---------------------------------------------------------------------------------------------------

  build() {
    const { meta, scenes } = this.demo;
    const make = (tag, look, ...children) => element(tag, look, children);
    this.finding = make(this.options.page ? "h1" : "h2", { class: "cd-finding" });
    this.note = make("p", { class: "cd-note" });
    this.heard = make("p", { class: "cd-heard", "aria-live": "polite" });
    this.dark = make("button", { type: "button", title: "Light or dark (D)", "aria-label": "Light or dark", text: "◐" });
    this.full = make("button", { type: "button", class: "cd-full", title: "Full screen (F)", "aria-label": "Full screen", text: "⤢" });
    this.dark.onclick = () => this.turn();
    this.full.onclick = () => this.fill();
    const header = make("header", {},
      make("div", {}, make("p", { class: "cd-kicker", text: `${meta.name.slice(0, 2)} · ${meta.title}` }), this.finding, this.note),
      make("div", { class: "cd-tools" }, this.dark, this.full));
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("class", "cd-picture");
    this.svg.setAttribute("role", "group");
    this.root = d3.select(this.svg).append("g");
    this.screen = make("div", { class: "cd-screen" }, this.svg);
    this.stops = scenes.map((scene, i) => {
      const button = make("button", { type: "button", title: `Scene ${i + 1}: ${scene.name}`, text: `${i + 1} ${scene.name}` });
      button.onclick = () => this.go(i);
      return button;
    });
    const [back, forth] = [["‹", "Previous scene", -1], ["›", "Next scene", 1]].map(([text, label, by]) => {
      const button = make("button", { type: "button", "aria-label": label, text });
      button.onclick = () => this.walk(by);
      return button;
    });
    const list = make("ol", {}, ...this.stops.map((stop) => make("li", {}, stop)));
    const nav = make("nav", { class: "cd-scenes", "aria-label": "Scenes" }, back, list, forth);
    this.controls = make("div", { class: "cd-controls", role: "group", "aria-label": "Controls" });
    for (const control of this.demo.controls) {
      const panel = PANELS[control.kind]?.(control, this);
      if (!panel) continue;
      panel.control = control;
      this.panels.push(panel);
      this.controls.append(panel.box);
    }
    this.asker = make("button", { type: "button", title: "Question, then its answer (Q)" });
    this.asker.onclick = () => this.ask();
    this.told = make("p", { "aria-live": "polite" });
    this.strip = make("div", { class: "cd-ask" }, this.asker, this.told);
    this.cd = make("section", { class: "cd", "aria-label": meta.title, "data-lm-suppress-shortcuts": "true", tabindex: "-1" },
      header, this.screen, nav, this.controls, this.strip, this.heard);
    this.host = make("div", { class: this.options.page ? "cd-host" : "cd-host inside" }, this.cd);
    this.element.replaceChildren(this.host);
    this.write();
  }

  listen() {
    const off = (this.off = new AbortController());
    const signal = off.signal;
    const keys = this.options.page ? document : this.cd;
    keys.addEventListener("keydown", (event) => this.key(event), { signal });
    // a press with the mouse leaves the keys to the scenes
    this.cd.addEventListener("mousedown", (event) => { if (event.target.closest("button")) event.preventDefault(); }, { signal });
    this.cd.addEventListener("pointerup", (event) => { if (event.target.type === "range") event.target.blur(); }, { signal });
    if (!this.options.page) this.cd.addEventListener("pointerdown", () => {
      if (!this.cd.contains(document.activeElement)) this.cd.focus({ preventScroll: true });
    }, { signal });
    else addEventListener("hashchange", () => {
      if (location.hash.slice(1) !== this.hash) this.show(fromHash(this.demo, location.hash.slice(1)), GLIDE);
    }, { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.dress(), { signal });
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(this.screen);
    this.themes = new MutationObserver(() => this.dress());
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  }

  /** Take the demo off the page. */
  remove() {
    this.stop();
    this.off.abort();
    this.watch.disconnect();
    this.themes.disconnect();
    this.demo.leave?.();
    this.element.replaceChildren();
  }

  // --- what is shown ----------------------------------------------------------------------------------------------

  /** Change some values, as a hand on the picture or on a control does. */
  set(changes, ms = 0) {
    this.show({ ...this.state, ...changes }, this.dragging ? 0 : ms);
  }

  /** Go to a scene. */
  go(i) {
    this.stop();
    this.show(opened(this.demo, i), GLIDE);
  }

  walk(by) {
    const next = this.state.scene + by;
    if (next >= 0 && next < this.demo.scenes.length) this.go(next);
    else if (parent !== window) parent.postMessage({ demo: this.demo.meta.name, walk: by }, "*"); // a slide goes on
  }

  show(state, ms) {
    if (state.scene !== this.state.scene && this.asked % 2 === 1) this.close(); // what is answered is over; an open question stays
    this.state = state;
    this.draw(this.calm.matches ? 0 : ms);
    if (this.options.page) this.address();
    this.options.changed?.(state);
  }

  draw(ms) {
    const { demo, state, data, W, H } = this;
    if (!W) return;
    const said = demo.say(state, data);
    if (this.finding.textContent !== said.title) this.finding.textContent = said.title;
    if (this.note.textContent !== (said.note ?? "")) this.note.textContent = said.note ?? "";
    this.svg.setAttribute("aria-label", said.title);
    clearTimeout(this.hearing);
    this.hearing = setTimeout(() => { this.heard.textContent = `${said.title}. ${said.alt}`; }, 700);
    demo.draw(this.root, state, {
      W, H, tall: this.tall, ms, data, root: this.root, calm: this.calm.matches,
      set: (changes, glide = GLIDE) => { if (!this.dragging) this.stop(); this.set(changes, glide); },
      now: () => this.state,
      hold: (held) => { this.dragging = held; },
    });
    for (const panel of this.panels) {
      panel.box.hidden = panel.control.when ? !panel.control.when(state, this.tall) : false;
      panel.box.style.display = panel.box.hidden ? "none" : "";
      panel.show(state[panel.control.name], state);
    }
    const still = toHash(demo, state) === toHash(demo, opened(demo, state.scene));
    this.stops.forEach((stop, i) => {
      i === state.scene ? stop.setAttribute("aria-current", "step") : stop.removeAttribute("aria-current");
      stop.classList.toggle("left", i === state.scene && !still);
    });
  }

  address() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => {
      this.hash = toHash(this.demo, this.state) + (this.theme ? `&theme=${this.theme}` : "") + (this.bare ? "&bare=1" : "");
      if (location.protocol !== "about:") history.replaceState(null, "", `#${this.hash}`);
    }, 120);
  }

  /** Fit the picture's units to the screen: 560 high where it is wide, 480 wide where it is tall. Where a line more above
   *  would make type of 17 units smaller than 13 pixels, the picture has down to 540 units instead. */
  measure() {
    const { width, height } = this.screen.getBoundingClientRect();
    if (width < 50 || height < 50) return;
    this.tall = width < 640 || width < height * 1.05;
    const unit = this.tall ? Math.min(width / 480, height / 440)
      : Math.min(Math.max(height / 560, Math.min(height / 540, 13.1 / 17)), width / 1000);
    this.W = this.tall ? Math.max(480, Math.min(width / unit, 620)) : Math.min(width / unit, 1340);
    this.H = height / unit;
    this.root.attr("transform", `translate(${((width - this.W * unit) / 2).toFixed(2)},0) scale(${unit.toFixed(4)})`);
    this.draw(0);
  }

  dress() {
    const jupyter = document.body.dataset.jpThemeLight;
    const dark = this.theme ? this.theme === "dark"
      : jupyter ? jupyter === "false" : matchMedia("(prefers-color-scheme: dark)").matches;
    this.cd.classList.toggle("dark", dark);
    if (this.options.page) document.body.style.background = dark ? "#12171c" : "#fdfcfa";
  }

  turn() {
    this.theme = this.cd.classList.contains("dark") ? "light" : "dark";
    this.dress();
    if (this.options.page) this.address();
  }

  fill() {
    document.fullscreenElement ? document.exitFullscreen() : this.host.requestFullscreen?.();
  }

  /** Hide the controls, or show them: the picture and its finding have the screen for themselves. */
  hide(bare = !this.bare) {
    this.bare = bare;
    this.cd.classList.toggle("bare", bare);
  }

  /** A question about the scene that is shown, its answer, the scene's next question. */
  ask() {
    const { questions } = this.demo.meta;
    if (this.asked < 0) this.asking = questions.filter(([, , scenes]) => scenes.includes(this.state.scene + 1));
    if (this.asked + 1 >= 2 * this.asking.length) return this.close();
    this.asked++;
    this.write();
  }

  close() {
    this.asked = -1;
    this.write();
  }

  write() {
    const [question, answer] = this.asking?.[this.asked >> 1] ?? [this.demo.meta.look];
    const answered = this.asked >= 0 && this.asked % 2 === 1;
    this.told.replaceChildren(...(answered ? [element("b", { text: answer }, [])] : [question]));
    this.strip.classList.toggle("asking", this.asked >= 0);
    this.strip.classList.toggle("answer", answered);
    this.asker.textContent = this.asked < 0 ? "Question" : !answered ? "Answer" : this.asked + 1 < 2 * this.asking.length ? "Next question" : "Close";
  }

  // --- keys and time ----------------------------------------------------------------------------------------------

  key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.target, typing = at.matches?.("input[type=text],textarea,select");
    const own = typing || at.matches?.("input[type=range],[role=radio]");
    const key = event.key.toLowerCase();
    if (event.key === "PageDown" || (event.key === "ArrowRight" && !own)) this.walk(1);
    else if (event.key === "PageUp" || (event.key === "ArrowLeft" && !own)) this.walk(-1);
    else if (event.key === "Escape" && typing) at.blur();
    else if (typing) return;
    else if (event.key === " " && !at.closest?.("button,[role=button]")) this.walk(1);
    else if (key === "p") this.play();
    else if (key === "h") { this.hide(); if (this.options.page) this.address(); }
    else if (key === "f") this.fill();
    else if (key === "q") this.ask();
    else if (key === "d") this.turn();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Start or stop what moves by itself: the first control with steps, else the scenes one after the other. */
  play() {
    if (this.playing) return this.stop();
    const control = this.demo.controls.find((c) => c.kind === "steps" && (!c.when || c.when(this.state)));
    if (!control) return this.walk(1);
    const last = () => lastOf(control, this.state, this.data);
    if (this.state[control.name] >= last()) this.set({ [control.name]: 0 }, 0);
    const tick = () => {
      if (this.state[control.name] >= last()) return this.stop();
      this.set({ [control.name]: this.state[control.name] + 1 }, (control.wait ?? 800) * 0.75);
    };
    this.playing = setInterval(tick, control.wait ?? 800);
    tick();
    this.draw(this.calm.matches ? 0 : (control.wait ?? 800) * 0.75);
  }

  stop() {
    if (!this.playing) return;
    clearInterval(this.playing);
    this.playing = null;
    this.draw(this.calm.matches ? 0 : GLIDE);
  }
}

// --- controls -------------------------------------------------------------------------------------------------------

const lastOf = (control, state, data) => (typeof control.last === "function" ? control.last(state, data) : control.last);

function element(tag, { text, ...look }, children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(look)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

let made = 0;

function labelled(kind, control, ...children) {
  const id = `cd-${++made}`;
  const input = children.find((child) => child.tagName === "INPUT");
  const label = element(input ? "label" : "span", input ? { for: id, text: control.label } : { class: "cd-label", id, text: control.label }, []);
  if (input) input.id = id;
  else children[0].setAttribute("aria-labelledby", id);
  return element("div", { class: `cd-control ${kind}` }, [label, ...children]);
}

const PANELS = {
  slider(control, stage) {
    const { low, high, step = 1, log } = control;
    const input = element("input", log ? { type: "range", min: 0, max: 200, step: 1 } : { type: "range", min: low, max: high, step }, []);
    const output = element("output", {}, []);
    const write = control.write ?? ((x) => (log ? short(x) : String(Number(x.toFixed(3)))));
    const there = (i) => (log ? Number((low * (high / low) ** (i / 200)).toPrecision(2)) : Number(i));
    input.oninput = () => { stage.stop(); stage.set({ [control.name]: there(input.value) }); };
    return {
      box: labelled("slider", control, input, output),
      show(x) {
        if (document.activeElement !== input || there(input.value) !== x)
          input.value = log ? Math.round((200 * Math.log(x / low)) / Math.log(high / low)) : x;
        output.textContent = write(x).replace("-", "−");
        input.setAttribute("aria-valuetext", output.textContent);
      },
    };
  },

  steps(control, stage) {
    const input = element("input", { type: "range", min: 0, step: 1 }, []);
    const output = element("output", {}, []);
    const play = element("button", { type: "button", title: "Play (P)", "aria-label": "Play" }, []);
    const set = (x, ms) => stage.set({ [control.name]: clamp(x, 0, lastOf(control, stage.state, stage.data)) }, ms);
    const [back, forth] = [["◂", "One step back", -1], ["▸", "One step on", 1]].map(([text, label, by]) => {
      const button = element("button", { type: "button", "aria-label": label, text }, []);
      button.onclick = () => { stage.stop(); set(stage.state[control.name] + by, GLIDE); };
      return button;
    });
    input.oninput = () => { stage.stop(); set(Number(input.value), 0); };
    play.onclick = () => stage.play();
    return {
      box: labelled("steps", control, back, input, forth, output, play),
      show(x, state) {
        const last = lastOf(control, state, stage.data);
        input.max = last;
        input.value = x;
        output.textContent = (control.write ?? String)(Math.min(x, last));
        input.setAttribute("aria-valuetext", output.textContent);
        play.textContent = stage.playing ? "❚❚" : "▶";
        play.setAttribute("aria-label", stage.playing ? "Pause" : "Play");
        back.disabled = x <= 0;
        forth.disabled = x >= last;
      },
    };
  },

  choice(control, stage) {
    const group = element("div", { class: "cd-group", role: "radiogroup" }, []);
    const set = (v) => { stage.stop(); stage.set({ [control.name]: v }, GLIDE); };
    const buttons = control.options.map(([v, text], i) => {
      const button = element("button", { type: "button", role: "radio", text }, []);
      button.onclick = () => set(v);
      button.onkeydown = (event) => {
        const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!by) return;
        const next = (i + by + buttons.length) % buttons.length;
        set(control.options[next][0]);
        buttons[next].focus();
        event.preventDefault();
        event.stopPropagation();
      };
      return button;
    });
    group.append(...buttons);
    return {
      box: labelled("choice", control, group),
      show(x) {
        buttons.forEach((button, i) => {
          const chosen = control.options[i][0] === x;
          button.setAttribute("aria-checked", chosen);
          button.tabIndex = chosen ? 0 : -1;
        });
      },
    };
  },

  again(control, stage) {
    const button = element("button", { type: "button", text: `↻ ${control.label}` }, []);
    button.onclick = () => { stage.stop(); stage.set({ ...control.also, [control.name]: stage.state[control.name] + 1 }, GLIDE); };
    return { box: element("div", { class: "cd-control again" }, [button]), show() {} };
  },

  words(control, stage) {
    const input = element("input", { type: "text", maxlength: control.longest ?? 200, spellcheck: "false", autocomplete: "off" }, []);
    let waiting = null;
    input.oninput = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => stage.set({ ...control.also, [control.name]: input.value }, GLIDE), control.patience ?? 250);
    };
    return { box: labelled("words", control, input), show(x) { if (document.activeElement !== input) input.value = x; } };
  },
};
