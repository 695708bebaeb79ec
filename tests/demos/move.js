// Drags marks of the picture and moves sliders, each by so many steps → the milliseconds of each step, drawing and layout.
(steps) => {
  const svg = document.querySelector('svg.cd-picture'), took = [];
  const seen = (node) => node.getClientRects().length && node.getBoundingClientRect().width > 0;
  const say = (node, type, x, y) => node.dispatchEvent(new MouseEvent(type, {clientX: x, clientY: y, bubbles: true, view: window}));
  for (const grab of [...svg.querySelectorAll('.grab')].filter(seen).slice(0, 4)) {
    const box = grab.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    say(grab, 'mousedown', x, y);
    for (let i = 1; i <= steps; i++) {
      const from = performance.now();
      say(window, 'mousemove', x + 3 * (i % 16), y - 3 * (i % 16));
      svg.getBoundingClientRect();
      took.push(performance.now() - from);
    }
    say(window, 'mouseup', x + 30, y - 30);
  }
  for (const range of [...document.querySelectorAll('.cd-controls input[type=range]')].filter(seen)) for (let i = 0; i <= steps; i++) {
    const from = performance.now();
    range.value = Number(range.min) + (range.max - range.min) * i / steps;
    range.dispatchEvent(new Event('input', {bubbles: true}));
    svg.getBoundingClientRect();
    took.push(performance.now() - from);
  }
  return took;
}
