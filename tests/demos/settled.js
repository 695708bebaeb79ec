// Waits until the page shows what it will show: a picture is fitted to its place one frame after the words around it
// (a ResizeObserver), which is later than a key's answer on a busy machine.
async () => {
  await document.fonts.ready;
  const frame = () => new Promise(requestAnimationFrame), svg = document.querySelector('svg.cd-picture');
  const shown = () => JSON.stringify(document.querySelector('.cd-screen').getBoundingClientRect()) + svg.outerHTML;
  for (let before = ''; before !== shown();) {
    before = shown();
    await frame();
    await frame();
    await Promise.all(document.getAnimations().map((one) => one.finished.catch(() => null)));
  }
}
