// How far a slide's parts run over its edge, and its smallest type, both in pixels.
() => {
  const slide = Reveal.getCurrentSlide(), box = slide.getBoundingClientRect();
  const parts = [...slide.children].filter((part) => part.tagName !== 'ASIDE' && part.getClientRects().length);
  const over = parts.map((part) => part.getBoundingClientRect()).map((part) => Math.max(part.bottom - box.bottom, part.right - box.right));
  const texts = [...slide.querySelectorAll('h1,h2,p')].filter((text) => !text.closest('aside'));
  return [Math.max(...over), Math.min(99, ...texts.map((text) => parseFloat(getComputedStyle(text).fontSize)))];
}
