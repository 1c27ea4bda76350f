// Pages as pictures (poppler's pdftoppm), and the differences between two of them that a reader would notice.
import { execFileSync } from 'node:child_process'

export type Picture = { width: number; height: number; pixels: Uint8Array }

/** The resolution at which pages are compared, in dots per inch. A hairline of 0.75 pt is one dot. */
export const COMPARED_AT = 100

/** Returns the pages as pictures of three bytes per pixel. */
export function pictures(pdf: Uint8Array, dotsPerInch = COMPARED_AT): Picture[] {
  const all = execFileSync('pdftoppm', ['-r', String(dotsPerInch), '-'], {
    input: pdf,
    maxBuffer: 1_000_000_000,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const pages: Picture[] = []
  for (let at = 0; at < all.length; ) {
    const head = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(all.subarray(at, at + 40).toString('latin1'))!
    const [width, height] = [Number(head[1]), Number(head[2])]
    at += head[0].length
    pages.push({ width, height, pixels: all.subarray(at, at + width * height * 3) })
    at += width * height * 3
  }
  return pages
}

/** A mark may be displaced by this many pixels: half a millimetre. */
const REACH = 3
/** Pages are compared in squares of this many pixels, 5 mm. */
const SQUARE = 20
/** How many marks of a square may be missing in the other page: where letters touch, and at the ends of lines. */
const FEW = 24
/** A pixel fainter than this, of 255, is not a mark. */
const FAINT = 8
/**
 * How much two marks of one colour may differ: by this fraction of the mark's difference from white, and at most by this amount.
 */
const [PART, MOST] = [0.5, 60]

/**
 * Returns the squares, as `left,top in mm: n marks`, in which marks of one picture have no mark of their colour near them in the
 * other. Does not notice letters that are slightly bolder or displaced; notices a border, a column, a colour, a margin.
 */
export function differences(ours: Picture, theirs: Picture): string[] {
  const [mine, other] = [softened(ours), softened(theirs)]
  const found: string[] = []
  for (const [name, missing] of [
    ['only ours', missingIn(other, mine)],
    ['only theirs', missingIn(mine, other)],
  ] as const)
    for (const [square, count] of missing)
      if (count > FEW) {
        const [column, row] = [square % 1_000, Math.floor(square / 1_000)]
        const millimetres = (squares: number): number => Math.round((squares * SQUARE * 25.4) / COMPARED_AT)
        found.push(`${millimetres(column)},${millimetres(row)} mm: ${count} marks ${name}`)
      }
  return found
}

/** A picture of means, with the rows that may have marks. The others are white. */
type Soft = Picture & { readonly rows: readonly number[] }

/** Replaces each pixel by the mean of the nine around it, so that it does not matter where a thin line meets the pixel grid. */
function softened({ width, height, pixels }: Picture): Soft {
  const row = width * 3
  const white = new Uint8Array(row).fill(255)
  const across = new Uint16Array(pixels.length).fill(765)
  const inked: boolean[] = []
  for (let y = 0; y < height; y += 1) {
    const [from, to] = [y * row, (y + 1) * row]
    const line = pixels.subarray(from, to)
    inked.push(Buffer.compare(line, white) !== 0 && line.some(value => value < 255 - FAINT))
    if (!inked[y]) continue
    for (let at = from; at < to; at += 1) {
      const left = at - 3 < from ? 255 : pixels[at - 3]!
      const right = at + 3 >= to ? 255 : pixels[at + 3]!
      across[at] = left + pixels[at]! + right
    }
  }
  const soft = new Uint8Array(pixels.length).fill(255)
  const rows: number[] = []
  for (let y = 1; y < height - 1; y += 1) {
    if (!inked[y - 1] && !inked[y] && !inked[y + 1]) continue
    rows.push(y)
    for (let at = y * row; at < (y + 1) * row; at += 1)
      soft[at] = (across[at - row]! + across[at]! + across[at + row]!) / 9
  }
  return { width, height, pixels: soft, rows }
}

/** Counts the marks that are not in `other`, by square. */
function missingIn(other: Picture, { width, pixels, rows }: Soft): Map<number, number> {
  const counts = new Map<number, number>()
  for (const y of rows)
    for (let x = 0, at = y * width * 3; x < width; x += 1, at += 3) {
      const ink = 255 - Math.min(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!)
      if (ink <= FAINT || isNear(pixels, at, Math.min(MOST, ink * PART), other, x, y)) continue
      const square = Math.floor(y / SQUARE) * 1_000 + Math.floor(x / SQUARE)
      counts.set(square, (counts.get(square) ?? 0) + 1)
    }
  return counts
}

/** Whether the other picture has the colour at this pixel or around it. Searches ring after ring. */
function isNear(
  pixels: Uint8Array,
  at: number,
  tolerance: number,
  other: Picture,
  x: number,
  y: number,
): boolean {
  const [red, green, blue] = [pixels[at]!, pixels[at + 1]!, pixels[at + 2]!]
  for (let distance = 0; distance <= REACH; distance += 1)
    for (let down = -distance; down <= distance; down += 1) {
      const step = Math.abs(down) === distance ? 1 : 2 * distance
      for (let across = -distance; across <= distance; across += step) {
        const [toX, toY] = [x + across, y + down]
        if (toX < 0 || toY < 0 || toX >= other.width || toY >= other.height) continue
        const there = (toY * other.width + toX) * 3
        if (
          Math.abs(other.pixels[there]! - red) <= tolerance &&
          Math.abs(other.pixels[there + 1]! - green) <= tolerance &&
          Math.abs(other.pixels[there + 2]! - blue) <= tolerance
        )
          return true
      }
    }
  return false
}
