// PNGs that differ from what they declare, as data URLs.
import { deflateSync } from 'node:zlib'

function chunk(type: string, data: Buffer): Buffer {
  const [head, check] = [Buffer.alloc(8), Buffer.alloc(4)]
  head.writeUInt32BE(data.length)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, data, check])
}

/** A PNG of this size and colour type (6 is with transparency) with these bytes as its compressed pixels. */
export function pngAddress(width: number, height: number, colourType: number, packed: Buffer): string {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  head[8] = 8
  head[9] = colourType
  const parts = [chunk('IHDR', head), chunk('IDAT', packed), chunk('IEND', Buffer.alloc(0))]
  const file = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts])
  return `data:image/png;base64,${file.toString('base64')}`
}

/** Compressed pixels that are all the same. */
export const packedZeros = (bytes: number): Buffer => deflateSync(Buffer.alloc(bytes))
