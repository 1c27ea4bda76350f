// SHA-1 (FIPS 180-4) for derived locators, which are UUIDs of version 5. Nothing secret is hashed with it. The platform's own
// digest leaves the engine, at many times the cost of hashing a short text.

/** The words of a block and what follows from them; one of each is enough, since nothing here waits. */
const words = new Int32Array(80)
const state = new Int32Array(5)
const START = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]

const BLOCK_BYTES = 64
/** A one bit after the text, and eight bytes with its length in bits, of which four are enough here. */
const END_BYTES = 9

const encoder = new TextEncoder()
const shortMessage = new Uint8Array(16 * BLOCK_BYTES)
const digest = new Uint8Array(20)

/** The 20 bytes of the digest of the text in UTF-8. They are valid until the next call. */
export function sha1(text: string): Uint8Array {
  // A character is three bytes at most.
  const most = text.length * 3 + END_BYTES + BLOCK_BYTES
  const message = most <= shortMessage.length ? shortMessage : new Uint8Array(most)
  const { written } = encoder.encodeInto(text, message)
  const end = Math.ceil((written + END_BYTES) / BLOCK_BYTES) * BLOCK_BYTES
  message.fill(0, written, end)
  message[written] = 0x80
  const bits = written * 8
  for (let at = 1; at <= 4; at += 1) message[end - at] = bits >>> (8 * (at - 1))
  for (let at = 0; at < START.length; at += 1) state[at] = START[at]!
  for (let at = 0; at < end; at += BLOCK_BYTES) addBlock(message, at)
  for (let at = 0; at < digest.length; at += 1) digest[at] = state[at >> 2]! >>> (24 - 8 * (at & 3))
  return digest
}

function addBlock(message: Uint8Array, from: number): void {
  for (let at = 0; at < 16; at += 1) {
    const byte = from + 4 * at
    words[at] =
      (message[byte]! << 24) | (message[byte + 1]! << 16) | (message[byte + 2]! << 8) | message[byte + 3]!
  }
  for (let at = 16; at < 80; at += 1) {
    const word = words[at - 3]! ^ words[at - 8]! ^ words[at - 14]! ^ words[at - 16]!
    words[at] = (word << 1) | (word >>> 31)
  }
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  // A loop for each function of the rounds: choosing it within one loop takes three times as long.
  let at = 0
  for (; at < 20; at += 1) {
    const next = (((a << 5) | (a >>> 27)) + (d ^ (b & (c ^ d))) + e + 0x5a827999 + words[at]!) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  for (; at < 40; at += 1) {
    const next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0x6ed9eba1 + words[at]!) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  for (; at < 60; at += 1) {
    const next = (((a << 5) | (a >>> 27)) + ((b & c) | (d & (b | c))) + e - 0x70e44324 + words[at]!) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  for (; at < 80; at += 1) {
    const next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e - 0x359d3e2a + words[at]!) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
}
