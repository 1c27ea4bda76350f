// WOFF2 unpacked (W3C WOFF 2.0): all tables are one Brotli stream, in which outlines and widths may be written in another
// way than in a font file.
import { brotliDecompressSync } from 'node:zlib'
import { plainGlyphs } from './glyphs.ts'
import { assembled, ByteReader, FontError, type Table, UNPACKING_ROOM, viewOf } from './sfnt.ts'

const KNOWN_TAGS =
  'cmapheadhheahmtxmaxpnameOS/2postcvt fpgmglyflocaprepCFF VORGEBDTEBLCgasphdmxkernLTSHPCLTVDMXvheavmtxBASEGDEFGPOSGSUBEBSCJSTFMATHCBDTCBLCCOLRCPALSVG sbixacntavarbdatblocbslncvarfdscfeatfmtxfvargvarhstyjustlcarmortmorxopbdproptrakZapfSilfGlatGlocFeatSill'
const OTHER_TAG = 63
const HEADER = 48

const tagOf = (name: string): number =>
  [...name].reduce((tag, sign) => ((tag << 8) | sign.charCodeAt(0)) >>> 0, 0)
const [GLYF, LOCA, HMTX, HEAD, HHEA] = ['glyf', 'loca', 'hmtx', 'head', 'hhea'].map(tagOf) as [
  number,
  number,
  number,
  number,
  number,
]

type Entry = { readonly tag: number; readonly isTransformed: boolean; readonly size: number }

/** Throws a FontError past `mostBytes`, and anything for what is damaged. */
export function unpackedWoff2(bytes: Uint8Array, mostBytes: number): Uint8Array {
  const header = viewOf(bytes)
  const reader = new ByteReader(bytes.subarray(HEADER))
  const entries = Array.from({ length: header.getUint16(12) }, () => readEntry(reader))
  const total = entries.reduce((sum, { size }) => sum + size, 0)
  if (total > mostBytes) throw new FontError(`it is larger than ${mostBytes} bytes once it is unpacked`)
  const stream = reader.take(header.getUint32(20))
  const data = new ByteReader(
    new Uint8Array(brotliDecompressSync(stream, { maxOutputLength: total + UNPACKING_ROOM })),
  )
  const tables = new Map(
    entries.map(({ tag, size, isTransformed }) => [tag, { bytes: data.take(size), isTransformed }]),
  )
  return assembled(header.getUint32(4), plainTables(tables))
}

function readEntry(reader: ByteReader): Entry {
  const flags = reader.byte()
  const known = flags & 0x3f
  const tag =
    known === OTHER_TAG ? reader.uint32() : tagOf(KNOWN_TAGS.slice(known * 4, known * 4 + 4).padEnd(4))
  const version = flags >> 6
  // Of outlines 3 says that they are as in a font file, of everything else 0 does.
  const isTransformed = tag === GLYF || tag === LOCA ? version !== 3 : version !== 0
  const size = reader.base128()
  return { tag, isTransformed, size: isTransformed ? reader.base128() : size }
}

type Packed = ReadonlyMap<number, { readonly bytes: Uint8Array; readonly isTransformed: boolean }>

function plainTables(packed: Packed): Table[] {
  const plain = new Map([...packed].map(([tag, { bytes }]) => [tag, bytes]))
  const outlines = packed.get(GLYF)
  if (outlines?.isTransformed) {
    const { glyf, loca, leftmost } = plainGlyphs(outlines.bytes)
    plain.set(GLYF, glyf).set(LOCA, loca)
    const head = new Uint8Array(plain.get(HEAD)!)
    // Offsets of outlines are long.
    viewOf(head).setInt16(50, 1)
    plain.set(HEAD, head)
    const widths = packed.get(HMTX)
    if (widths?.isTransformed) {
      const count = viewOf(plain.get(HHEA)!).getUint16(34)
      plain.set(HMTX, plainWidths(new ByteReader(widths.bytes), count, leftmost))
    }
  } else if (packed.get(HMTX)?.isTransformed) throw new FontError('it is damaged')
  return [...plain].map(([tag, bytes]) => ({ tag, bytes }))
}

/** Widths and left bearings; bearings that are left out are where the outlines begin. */
function plainWidths(reader: ByteReader, count: number, leftmost: Int16Array): Uint8Array {
  const flags = reader.byte()
  const glyphs = leftmost.length
  if (count > glyphs) throw new FontError('it is damaged')
  const widths = Array.from({ length: count }, () => reader.uint16())
  const bearings = Array.from({ length: glyphs }, (_, glyph) =>
    (glyph < count ? flags & 1 : flags & 2) ? leftmost[glyph]! : reader.int16(),
  )
  const table = new Uint8Array(count * 4 + (glyphs - count) * 2)
  const view = viewOf(table)
  for (const [glyph, bearing] of bearings.entries()) {
    const at = glyph < count ? glyph * 4 : count * 4 + (glyph - count) * 2
    if (glyph < count) view.setUint16(at, widths[glyph]!)
    view.setInt16(glyph < count ? at + 2 : at, bearing)
  }
  return table
}
