// A figure opens at its full size.
for (const picture of document.querySelectorAll(".cell_output img")) {
  const link = document.createElement("a");
  link.href = picture.src;
  picture.replaceWith(link);
  link.append(picture);
}
// What is folded is called by its words.
for (const fold of document.querySelectorAll("details.hide > summary")) fold.removeAttribute("aria-label");
// What scrolls sideways can be reached by keys.
for (const part of document.querySelectorAll("pre, .cell_output")) if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
