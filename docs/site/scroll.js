// What scrolls sideways can be reached by keys.
for (const part of document.querySelectorAll("pre, .cell_output")) if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
