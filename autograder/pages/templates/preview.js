"use strict";
// Asks once a second whether the pages were made again. What was open, and where the author was, is kept.
let version = null;
const key = "preview " + location.pathname;
for (const place of JSON.parse(sessionStorage.getItem(key) || "[]")) {
  const details = document.querySelectorAll("details")[place];
  if (details) details.open = true;
}
async function look() {
  try {
    const [now, busy] = (await (await fetch("version")).text()).split(" ");
    document.getElementById("busy").classList.toggle("on", busy === "busy");
    if (version !== null && now !== version) {
      const open = [...document.querySelectorAll("details")].flatMap((details, place) => (details.open ? [place] : []));
      sessionStorage.setItem(key, JSON.stringify(open));
      location.reload();
    }
    version = now;
  } catch {
    // the preview was ended, or is being started again
  }
}
setInterval(look, 1000);
look();
