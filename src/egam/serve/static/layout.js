// Where stops go on the screen: a box of the user's coordinates, fitted undistorted into a rectangle of pixels.
// A table of travel costs without coordinates is laid out by classical multidimensional scaling.

const MARGIN = 26; // pixels around the outermost stops

/** The part of the world that a map shows, as [left, bottom, right, top]. */
export function boxOf(draft) {
  const box = draft.drawn ? [0, 0, 100, 100] : [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of draft.stops) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  }
  if (!Number.isFinite(box[0])) return [0, 0, 100, 100];
  const least = Math.max(box[2] - box[0], box[3] - box[1]) * 0.05 || 1;
  for (const side of [0, 1]) {
    const lacking = least - (box[side + 2] - box[side]);
    if (lacking > 0) {
      box[side] -= lacking / 2;
      box[side + 2] += lacking / 2;
    }
  }
  return box;
}

/** How a degree of latitude compares with one of longitude there. */
function aspectOf(draft, box) {
  if (!draft.geographic) return 1;
  return 1 / Math.max(Math.cos(((box[1] + box[3]) / 2) * (Math.PI / 180)), 0.1);
}

export class View {
  constructor(draft, width, height) {
    this.box = boxOf(draft);
    const aspect = aspectOf(draft, this.box);
    const [left, bottom, right, top] = this.box;
    const wide = (width - 2 * MARGIN) / (right - left);
    const high = (height - 2 * MARGIN) / ((top - bottom) * aspect);
    this.scaleX = Math.max(Math.min(wide, high), 1e-12);
    this.scaleY = this.scaleX * aspect;
    this.middle = [(left + right) / 2, (bottom + top) / 2];
    this.centre = [width / 2, height / 2];
  }

  toPixels(x, y) {
    return [
      this.centre[0] + (x - this.middle[0]) * this.scaleX,
      this.centre[1] - (y - this.middle[1]) * this.scaleY,
    ];
  }

  toWorld(left, top) {
    return [
      this.middle[0] + (left - this.centre[0]) / this.scaleX,
      this.middle[1] - (top - this.centre[1]) / this.scaleY,
    ];
  }
}

/** Positions whose distances are near the costs: the two leading eigenvectors of the centred squares. */
export function placedByCost(matrix) {
  const size = matrix.length;
  const squares = matrix.map((row, i) => row.map((cost, j) => (i === j ? 0 : ((cost + matrix[j][i]) / 2) ** 2)));
  const means = squares.map((row) => row.reduce((sum, value) => sum + value, 0) / size);
  const mean = means.reduce((sum, value) => sum + value, 0) / size;
  const table = squares.map((row, i) => row.map((value, j) => -0.5 * (value - means[i] - means[j] + mean)));
  const axes = [0, 1].map((which) => leadingAxis(table, which));
  return matrix.map((_, node) => [axes[0][node], axes[1][node]]);
}

/** sqrt(eigenvalue) x eigenvector by power iteration; the table loses this axis. */
function leadingAxis(table, which) {
  const size = table.length;
  let vector = table.map((_, k) => Math.sin(k * 12.9898 + which + 1));
  let value = 0;
  for (let turn = 0; turn < 100; turn += 1) {
    const next = table.map((row) => row.reduce((sum, entry, k) => sum + entry * vector[k], 0));
    value = Math.hypot(...next);
    if (value === 0) return new Array(size).fill(0);
    vector = next.map((entry) => entry / value);
  }
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j < size; j += 1) table[i][j] -= value * vector[i] * vector[j];
  }
  return vector.map((entry) => Math.round(entry * Math.sqrt(value) * 1000) / 1000);
}
