// The wheel zooms at the mouse, dragging moves, a double click shows all again.
(function () {
  const svg = document.currentScript.ownerSVGElement;
  const all = svg.getAttribute("viewBox").split(" ").map(Number);
  let view = all.slice();
  if (svg === document.documentElement) {
    svg.setAttribute("width", "100%");
    svg.setAttribute("height", "100%");
  }
  const show = () => svg.setAttribute("viewBox", view.join(" "));
  const at = (e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
  svg.addEventListener("wheel", (e) => {
    e.preventDefault();
    const p = at(e);
    const width = Math.min(all[2], Math.max(all[2] / 500, view[2] * Math.exp(e.deltaY / 500)));
    const f = width / view[2];
    view = [p.x - (p.x - view[0]) * f, p.y - (p.y - view[1]) * f, width, view[3] * f];
    if (width === all[2]) view = all.slice();
    show();
  }, { passive: false });
  let held = null;
  svg.addEventListener("pointerdown", (e) => {
    held = at(e);
    svg.setPointerCapture(e.pointerId);
  });
  svg.addEventListener("pointermove", (e) => {
    if (!held) return;
    const p = at(e);
    view[0] += held.x - p.x;
    view[1] += held.y - p.y;
    show();
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { held = null; });
  svg.addEventListener("dblclick", () => {
    view = all.slice();
    show();
  });
})();
