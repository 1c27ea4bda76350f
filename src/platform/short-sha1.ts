// SHA-1 of short ASCII text. The platform's own is a call out of the engine that costs ten times what there is to do here, and the
// answer for a large policy takes ten thousand of them.

/** Two blocks of 64 bytes, of which padding and length take nine. */
const MOST_BYTES = 119

const words = new Int32Array(80)
const state = new Int32Array(5)

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by))

/**
 * The digest's five words of 32 bits, which the next call overwrites; undefined for text of another kind, which is for the
 * platform.
 */
export function shortSha1(text: string): Int32Array | undefined {
  const { length } = text
  if (length > MOST_BYTES) return undefined
  state[0] = 0x67452301
  state[1] = 0xefcdab89
  state[2] = 0x98badcfe
  state[3] = 0x10325476
  state[4] = 0xc3d2e1f0
  const blocks = length + 9 > 64 ? 2 : 1
  for (let block = 0; block < blocks; block += 1) {
    for (let word = 0; word < 16; word += 1) {
      let bits = 0
      for (let byte = 0; byte < 4; byte += 1) {
        const at = block * 64 + word * 4 + byte
        const code = at < length ? text.charCodeAt(at) : at === length ? 0x80 : 0
        if (code > 0x7f && at < length) return undefined
        bits = (bits << 8) | code
      }
      words[word] = bits
    }
    if (block === blocks - 1) words[15] = length * 8
    mix()
  }
  return state
}

function mix(): void {
  for (let at = 16; at < 80; at += 1)
    words[at] = rotated(words[at - 3]! ^ words[at - 8]! ^ words[at - 14]! ^ words[at - 16]!, 1)
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  for (let at = 0; at < 20; at += 1) {
    const next = (rotated(a, 5) + ((b & c) | (~b & d)) + e + words[at]! + 0x5a827999) | 0
    e = d
    d = c
    c = rotated(b, 30)
    b = a
    a = next
  }
  for (let at = 20; at < 40; at += 1) {
    const next = (rotated(a, 5) + (b ^ c ^ d) + e + words[at]! + 0x6ed9eba1) | 0
    e = d
    d = c
    c = rotated(b, 30)
    b = a
    a = next
  }
  for (let at = 40; at < 60; at += 1) {
    const next = (rotated(a, 5) + ((b & c) | (b & d) | (c & d)) + e + words[at]! + 0x8f1bbcdc) | 0
    e = d
    d = c
    c = rotated(b, 30)
    b = a
    a = next
  }
  for (let at = 60; at < 80; at += 1) {
    const next = (rotated(a, 5) + (b ^ c ^ d) + e + words[at]! + 0xca62c1d6) | 0
    e = d
    d = c
    c = rotated(b, 30)
    b = a
    a = next
  }
  state[0] = state[0]! + a
  state[1] = state[1]! + b
  state[2] = state[2]! + c
  state[3] = state[3]! + d
  state[4] = state[4]! + e
}
