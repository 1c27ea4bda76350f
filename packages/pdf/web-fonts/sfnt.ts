// Font files of tables: what TrueType and OpenType are.

export type Table = { readonly tag: number; readonly bytes: Uint8Array }

/** The platform wants room for a piece more than comes out. */
export const UNPACKING_ROOM = 65_536

/** The file is no font, or is damaged, or too large once it is unpacked. */
export class FontError extends Error {}

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/** `true` and 0x00010000: TrueType; `OTTO`: OpenType with PostScript outlines. */
export const PLAIN = new Set([0x74727565, 0x00010000, 0x4f54544f])

const [SFNT_HEADER, SFNT_ENTRY] = [12, 16]
const aligned = (size: number): number => (size + 3) & ~3

export function assembled(flavor: number, tables: readonly Table[]): Uint8Array {
  if (!PLAIN.has(flavor)) throw new FontError('it is a collection of fonts; use one of them')
  const sorted = [...tables].sort((a, b) => a.tag - b.tag)
  const head = SFNT_HEADER + sorted.length * SFNT_ENTRY
  const size = sorted.reduce((sum, { bytes }) => sum + aligned(bytes.length), head)
  const file = new Uint8Array(size)
  const view = viewOf(file)
  const power = 2 ** Math.floor(Math.log2(Math.max(1, sorted.length)))
  view.setUint32(0, flavor)
  view.setUint16(4, sorted.length)
  view.setUint16(6, power * SFNT_ENTRY)
  view.setUint16(8, Math.log2(power))
  view.setUint16(10, (sorted.length - power) * SFNT_ENTRY)
  let at = head
  for (const [index, { tag, bytes }] of sorted.entries()) {
    const entry = SFNT_HEADER + index * SFNT_ENTRY
    file.set(bytes, at)
    view.setUint32(entry, tag)
    view.setUint32(entry + 4, checksum(view, at, aligned(bytes.length)))
    view.setUint32(entry + 8, at)
    view.setUint32(entry + 12, bytes.length)
    at += aligned(bytes.length)
  }
  return file
}

function checksum(view: DataView, from: number, size: number): number {
  let sum = 0
  for (let at = from; at < from + size; at += 4) sum = (sum + view.getUint32(at)) >>> 0
  return sum
}

// Bytes read one after the other, by the ways in which WOFF2 writes numbers. Whatever reaches beyond the end throws.
export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  take(size: number): Uint8Array {
    if (this.#at + size > this.#bytes.length) throw new RangeError('It ends too early.')
    this.#at += size
    return this.#bytes.subarray(this.#at - size, this.#at)
  }

  byte(): number {
    return this.take(1)[0]!
  }

  uint16(): number {
    const [high, low] = this.take(2)
    return (high! << 8) | low!
  }

  int16(): number {
    return (this.uint16() << 16) >> 16
  }

  uint32(): number {
    return this.uint16() * 0x1_0000 + this.uint16()
  }

  /** Seven bits a byte, five bytes at most. */
  base128(): number {
    let value = 0
    for (let index = 0; index < 5; index += 1) {
      const byte = this.byte()
      if (index === 0 && byte === 0x80) break
      value = value * 128 + (byte & 0x7f)
      if (byte < 0x80) return value
    }
    throw new RangeError('It is no number.')
  }

  /** One byte, or up to three for numbers from 253 on. */
  short255(): number {
    const code = this.byte()
    if (code === 253) return this.uint16()
    if (code === 254) return this.byte() + 506
    return code === 255 ? this.byte() + 253 : code
  }
}
