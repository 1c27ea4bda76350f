// PNGs with a palette, transparency and fewer than 8 bits per pixel. The layout engine reads one byte per pixel of these, so
// their pixels become bytes.
import { crc32, deflateSync } from 'node:zlib'

export type PackedPixels = { readonly width: number; readonly height: number; readonly bits: number }

/** `rows` are unpacked, each after the byte of its filter. `chunks` are those of the file. Returns the whole file. */
export function bytePixels(
  chunks: readonly { type: string; body: Buffer }[],
  rows: Buffer,
  { width, height, bits }: PackedPixels,
): Buffer {
  const length = Math.ceil((width * bits) / 8)
  const pixels = Buffer.alloc(height * (width + 1))
  let above = Buffer.alloc(length)
  for (let row = 0; row < height; row += 1) {
    const at = row * (length + 1)
    const own = unfiltered(rows[at]!, rows.subarray(at + 1, at + 1 + length), above)
    for (let x = 0; x < width; x += 1) {
      const bit = x * bits
      const shift = 8 - bits - (bit % 8)
      pixels[row * (width + 1) + 1 + x] = (own[bit >> 3]! >> shift) & ((1 << bits) - 1)
    }
    above = own
  }
  const parts = chunks.flatMap(({ type, body }) => {
    if (type === 'IHDR')
      return [chunk(type, Buffer.concat([body.subarray(0, 8), Buffer.of(8), body.subarray(9)]))]
    return type === 'PLTE' || type === 'tRNS' ? [chunk(type, body)] : []
  })
  const data = [chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts, ...data])
}

/** Undoes the filter of a row, by the bytes to the left, above, and above to the left. */
function unfiltered(filter: number, row: Buffer, above: Buffer): Buffer {
  const own = Buffer.alloc(row.length)
  for (const [at, byte] of row.entries()) {
    const [left, up, corner] = [own[at - 1] ?? 0, above[at]!, above[at - 1] ?? 0]
    own[at] = byte + predicted(filter, left, up, corner)
  }
  return own
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  if (filter !== 4) return 0
  const [toLeft, toUp, toCorner] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs)
  if (toLeft! <= toUp! && toLeft! <= toCorner!) return left
  return toUp! <= toCorner! ? up : corner
}

function chunk(type: string, body: Buffer): Buffer {
  const [head, check] = [Buffer.alloc(8), Buffer.alloc(4)]
  head.writeUInt32BE(body.length)
  head.write(type, 4, 'latin1')
  check.writeUInt32BE(crc32(Buffer.concat([head.subarray(4), body])))
  return Buffer.concat([head, body, check])
}
