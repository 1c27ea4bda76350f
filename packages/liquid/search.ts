// Searches for a text within another in time that grows only with the longer one. The runtime's own search may compare the whole
// sought text at each place: half a million times "a" within a million takes minutes.

/** Shorter texts use the runtime's search, which is fast enough at each place. */
const LONGEST_SHORT = 32

/** For each length of a prefix of `sought`: the length of its longest proper suffix that is also a prefix (Knuth-Morris-Pratt). */
function endsOf(sought: string): Int32Array {
  const ends = new Int32Array(sought.length + 1)
  for (let at = 1, length = 0; at < sought.length; at += 1) {
    while (length > 0 && sought.charCodeAt(at) !== sought.charCodeAt(length)) length = ends[length]!
    if (sought.charCodeAt(at) === sought.charCodeAt(length)) length += 1
    ends[at + 1] = length
  }
  return ends
}

/** Yields each place of `sought`. Places may overlap. */
function* places(text: string, sought: string): Generator<number, void, undefined> {
  if (sought.length > text.length) return
  const ends = endsOf(sought)
  for (let at = 0, length = 0; at < text.length; at += 1) {
    while (length > 0 && text.charCodeAt(at) !== sought.charCodeAt(length)) length = ends[length]!
    if (text.charCodeAt(at) === sought.charCodeAt(length)) length += 1
    if (length < sought.length) continue
    yield at + 1 - length
    length = ends[length]!
  }
}

/** Like `text.indexOf(sought)`. */
export function firstPlace(text: string, sought: string): number {
  if (sought.length <= LONGEST_SHORT) return text.indexOf(sought)
  for (const place of places(text, sought)) return place
  return -1
}

/** Like `text.lastIndexOf(sought)`. */
export function lastPlace(text: string, sought: string): number {
  if (sought.length <= LONGEST_SHORT) return text.lastIndexOf(sought)
  let last = -1
  for (const place of places(text, sought)) last = place
  return last
}

/** Like `text.split(separator)`. */
export function splitBy(text: string, separator: string): string[] {
  if (separator.length <= LONGEST_SHORT) return text.split(separator)
  const parts: string[] = []
  let from = 0
  for (const place of places(text, separator)) {
    if (place < from) continue
    parts.push(text.slice(from, place))
    from = place + separator.length
  }
  parts.push(text.slice(from))
  return parts
}
