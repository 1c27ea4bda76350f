// Packs fonts as WOFF and WOFF2 with the platform's own compression, without transforming outlines. A library that also
// transforms outlines packs the fonts of web-fonts.domain.test.ts.
import { brotliCompressSync, constants, deflateSync } from 'node:zlib'
import { viewOf } from '../web-fonts.ts'

type Own = { readonly tag: number; readonly bytes: Uint8Array }

function tablesOf(font: Uint8Array): Own[] {
  const view = viewOf(font)
  return Array.from({ length: view.getUint16(4) }, (_, index) => {
    const at = 12 + index * 16
    const offset = view.getUint32(at + 8)
    return { tag: view.getUint32(at), bytes: font.subarray(offset, offset + view.getUint32(at + 12)) }
  })
}

/** Compresses every table separately. */
export function woffOf(font: Uint8Array): Uint8Array<ArrayBuffer> {
  const entries = tablesOf(font).map(({ tag, bytes }) => {
    const packed = deflateSync(bytes)
    return { tag, size: bytes.length, bytes: packed.length < bytes.length ? packed : bytes }
  })
  const head = Buffer.alloc(44 + entries.length * 20)
  head.write('wOFF', 0, 'latin1')
  head.writeUInt32BE(viewOf(font).getUint32(0), 4)
  head.writeUInt16BE(entries.length, 12)
  let offset = head.length
  for (const [index, { tag, size, bytes }] of entries.entries()) {
    for (const [place, value] of [tag, offset, bytes.length, size].entries())
      head.writeUInt32BE(value, 44 + index * 20 + place * 4)
    offset += bytes.length
  }
  return new Uint8Array(Buffer.concat([head, ...entries.map(({ bytes }) => bytes)]))
}

/** Compresses all tables in one stream. */
export function woff2Of(font: Uint8Array): Uint8Array<ArrayBuffer> {
  const tables = tablesOf(font)
  const directory = tables.flatMap(({ tag, bytes: { length } }) => {
    const isOutlines = tag === 0x676c7966 || tag === 0x6c6f6361
    const size = [length >> 21, length >> 14, length >> 7, length].map(
      (part, at) => (part & 0x7f) | (at < 3 ? 0x80 : 0),
    )
    const first = size.findIndex((byte, at) => byte !== 0x80 || at === 3)
    return [
      63 | (isOutlines ? 3 << 6 : 0),
      tag >>> 24,
      (tag >> 16) & 0xff,
      (tag >> 8) & 0xff,
      tag & 0xff,
      ...size.slice(first),
    ]
  })
  const stream = brotliCompressSync(Buffer.concat(tables.map(({ bytes }) => bytes)), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5 },
  })
  const head = Buffer.alloc(48)
  head.write('wOF2', 0, 'latin1')
  head.writeUInt32BE(viewOf(font).getUint32(0), 4)
  head.writeUInt16BE(tables.length, 12)
  head.writeUInt32BE(stream.length, 20)
  return new Uint8Array(Buffer.concat([head, Uint8Array.from(directory), stream]))
}
