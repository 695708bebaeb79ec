// A QR code for each demo of the gallery, of the address under which the page itself was opened.
for (const details of document.querySelectorAll(".gallery details")) {
  details.hidden = !location.protocol.startsWith("http");
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("svg")) return;
    const code = qrcode(0, "M"), address = new URL(details.dataset.page, location.href).href;
    code.addData(address);
    code.make();
    details.insertAdjacentHTML("beforeend", code.createSvgTag({ scalable: true, margin: 2, title: `QR code of ${address}` }));
  });
}
