// Random numbers that a seed decides, the same in every browser (mulberry32).

export class Chance {
  constructor(seed) {
    this.state = Math.floor(Number(seed) || 0) >>> 0;
  }

  /** In [0, 1). */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  between(low, high) {
    return low + (high - low) * this.next();
  }

  /** A whole number, `low` to `high` inclusive. */
  whole(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }
}

/** In [0, 1), the same for the same three numbers. */
export function fixedShare(seed, from, to) {
  const chance = new Chance(seed * 2654435761 + from * 40503 + to * 9973);
  chance.next();
  return chance.next();
}
