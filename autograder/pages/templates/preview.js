"use strict";
// Asks once a second whether the pages were made again (version.js beside them calls `made`). What was open stays open.
let version = null;
const key = "preview " + location.pathname;
for (const place of JSON.parse(sessionStorage.getItem(key) || "[]")) {
  const details = document.querySelectorAll("details")[place];
  if (details) details.open = true;
}
function made(now, busy) {
  document.getElementById("busy").classList.toggle("on", busy);
  if (version !== null && now !== version) {
    const open = [...document.querySelectorAll("details")].flatMap((details, place) => (details.open ? [place] : []));
    sessionStorage.setItem(key, JSON.stringify(open));
    location.reload();
  }
  version = now;
}
setInterval(() => {
  const asked = document.createElement("script");
  asked.src = "version.js?" + Date.now();
  asked.onload = asked.onerror = () => asked.remove();
  document.head.append(asked);
}, 1000);
