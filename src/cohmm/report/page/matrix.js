// The transitions as a matrix; on a canvas, since 200 topics have 40,000 squares.

const cursor = { row: 0, column: 0, shown: false };
let matrixSize = null;

function drawMatrix() {
  const place = $("matrix");
  const size = Math.min(26 + 110 * K, Math.max(260, Math.min(place.clientWidth || 560, 620)));
  const margin = (size - 24) / K >= 13 ? 26 : 6;
  const side = (size - margin) / K;
  matrixSize = { margin, side };
  let canvas = place.querySelector("canvas");
  if (!canvas) {
    canvas = h("canvas", { tabindex: 0, role: "img" });
    canvas.addEventListener("pointermove", (event) => pointAt(event));
    canvas.addEventListener("pointerleave", () => { cursor.shown = false; drawMatrix(); });
    canvas.addEventListener("click", (event) => { pointAt(event); choose(data.order[cursor.row]); });
    canvas.addEventListener("keydown", moveCursor);
    place.append(canvas);
  }
  canvas.setAttribute("aria-label", `Matrix of the transitions between ${count(K, names.one, names.many)}; the arrow keys go through it`);
  const scale = window.devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(size * scale);
  canvas.style.width = canvas.style.height = size + "px";
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const [accent, ink, ink2, panel] = ["accent", "ink", "ink2", "panel"].map(variable);
  const gap = side > 6 ? 1 : 0;
  pen.fillStyle = panel;
  pen.fillRect(margin, margin, size - margin, size - margin);
  data.order.forEach((i, row) => data.order.forEach((j, column) => {
    const value = i === j ? data.topics[i].stay : Math.sqrt(follows[i][j] / (strongestStep || 1));
    const off = state.topic !== null && i !== state.topic && j !== state.topic;
    pen.globalAlpha = value * (off ? 0.18 : 1);
    pen.fillStyle = i === j ? strong(i) : accent;
    pen.fillRect(margin + column * side, margin + row * side, side - gap, side - gap);
  }));
  pen.globalAlpha = 1;
  if (margin > 10) {
    pen.font = Math.min(12, 0.62 * side).toFixed(1) + "px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    data.order.forEach((k, at) => {
      pen.fillStyle = k === state.topic ? ink : ink2;
      pen.fillText(String(k), margin + (at + 0.5) * side, margin / 2);
      pen.fillText(String(k), margin / 2, margin + (at + 0.5) * side);
    });
  }
  if (cursor.shown) {
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    pen.strokeRect(margin + cursor.column * side, margin + cursor.row * side, side - gap, side - gap);
  }
}

function pointAt(event) {
  const at = (v) => Math.floor((v - matrixSize.margin) / matrixSize.side);
  const [row, column] = [at(event.offsetY), at(event.offsetX)];
  if (row < 0 || column < 0 || row >= K || column >= K) return;
  if (cursor.shown && row === cursor.row && column === cursor.column) return;
  Object.assign(cursor, { row, column, shown: true });
  drawMatrix();
  sayStep(data.order[row], data.order[column]);
}

function moveCursor(event) {
  const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] || [];
  if (down !== undefined) {
    if (cursor.shown) {
      cursor.row = Math.min(K - 1, Math.max(0, cursor.row + down));
      cursor.column = Math.min(K - 1, Math.max(0, cursor.column + right));
    }
    cursor.shown = true;
  } else if (event.key === "Enter" || event.key === " ") {
    choose(data.order[cursor.row]);
  } else return;
  event.preventDefault();
  drawMatrix();
  sayStep(data.order[cursor.row], data.order[cursor.column]);
}

function startMatrix() {
  drawMatrix();
  watch("topic size theme", drawMatrix);
}
