// Finds the lines that differ between two texts, with the shortest edit script of Myers ("An O(ND) Difference Algorithm and Its
// Variations", 1986).
import type { Hunk } from './change.ts'

/**
 * The most edits to search for. Texts with more have little in common, and the search would take time proportional to the square of
 * their lines. Everything between their common beginning and end is then one hunk.
 */
const MOST_EDITS = 1_000

/** Returns the hunks in order; none if the lines are equal. Line endings and trailing blanks do not count. */
export function lineHunks(before: string, after: string): Hunk[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let [oldEnd, nowEnd] = [old.length, now.length]
  while (oldEnd > start && nowEnd > start && old[oldEnd - 1] === now[nowEnd - 1]) {
    oldEnd -= 1
    nowEnd -= 1
  }
  const middle = [old.slice(start, oldEnd), now.slice(start, nowEnd)] as const
  const kept = commonLines(...middle)
  return hunksBetween(middle[0], middle[1], kept, start)
}

const linesOf = (text: string): string[] => {
  const lines = text.split(/\r\n|\r|\n/).map(line => line.trimEnd())
  while (lines.at(-1) === '') lines.pop()
  return lines
}

/** The indexes of a common line in the old and in the new text. */
type Common = readonly [number, number]

function hunksBetween(
  old: readonly string[],
  now: readonly string[],
  kept: readonly Common[],
  offset: number,
): Hunk[] {
  const hunks: Hunk[] = []
  let [x, y] = [0, 0]
  for (const [a, b] of [...kept, [old.length, now.length] as const]) {
    if (a > x || b > y)
      hunks.push({
        oldLine: offset + x + 1,
        newLine: offset + y + 1,
        removed: old.slice(x, a),
        added: now.slice(y, b),
      })
    x = a + 1
    y = b + 1
  }
  return hunks
}

/** The longest list of common lines, in order. Empty if finding it would take more than `MOST_EDITS` edits. */
function commonLines(old: readonly string[], now: readonly string[]): Common[] {
  const most = Math.min(old.length + now.length, MOST_EDITS)
  // reached[k + most] is the farthest line of the old text on diagonal k.
  const reached = new Int32Array(2 * most + 2)
  const trace: Int32Array[] = []
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(reached.slice())
    for (let k = -edits; k <= edits; k += 2) {
      const goesDown = k === -edits || (k !== edits && reached[k - 1 + most]! < reached[k + 1 + most]!)
      let x = goesDown ? reached[k + 1 + most]! : reached[k - 1 + most]! + 1
      let y = x - k
      while (x < old.length && y < now.length && old[x] === now[y]) {
        x += 1
        y += 1
      }
      reached[k + most] = x
      if (x >= old.length && y >= now.length) return walkBack(trace, edits, [old.length, now.length], most)
    }
  }
  return []
}

function walkBack(trace: readonly Int32Array[], edits: number, [endX, endY]: Common, most: number): Common[] {
  const common: Common[] = []
  let [x, y] = [endX, endY]
  for (let at = edits; at > 0; at -= 1) {
    const reached = trace[at]!
    const k = x - y
    const goesDown = k === -at || (k !== at && reached[k - 1 + most]! < reached[k + 1 + most]!)
    const from = goesDown ? k + 1 : k - 1
    const [fromX, fromY] = [reached[from + most]!, reached[from + most]! - from]
    const afterEdit = goesDown ? fromX : fromX + 1
    while (x > afterEdit) {
      x -= 1
      y -= 1
      common.push([x, y])
    }
    x = fromX
    y = fromY
  }
  while (x > 0) {
    x -= 1
    common.push([x, x])
  }
  return common.reverse()
}
