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
