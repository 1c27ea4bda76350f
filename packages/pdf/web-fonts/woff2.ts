// WOFF2 unpacked (W3C WOFF 2.0): all tables are one Brotli stream, in which outlines and widths may be written in another
// way than in a font file.
import { brotliDecompressSync } from 'node:zlib'
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

// Outlines as WOFF2 writes them, in seven streams, made what a TrueType file has: the tables `glyf` and `loca`.
type PlainGlyphs = {
  readonly glyf: Uint8Array
  /** With long offsets. */
  readonly loca: Uint8Array
  /** Where each outline begins at the left, for bearings that are left out. */
  readonly leftmost: Int16Array
}

const COMPOSITE = 0xffff
/** Left, bottom, right, top of an outline: 8 bytes. */
const BOX_BYTES = 8
const MOST_POINTS = 65_536

type Streams = Readonly<
  Record<'contours' | 'points' | 'flags' | 'glyphs' | 'composites' | 'boxes' | 'instructions', ByteReader>
>

function plainGlyphs(table: Uint8Array): PlainGlyphs {
  const header = viewOf(table)
  const count = header.getUint16(4)
  const overlaps = (header.getUint16(2) & 1) === 1
  const reader = new ByteReader(table.subarray(36))
  const stream = (index: number): Uint8Array => reader.take(header.getUint32(8 + index * 4))
  const [contours, points, flags, glyphs, composites, boxBytes, instructions] = Array.from(
    { length: 7 },
    (_, index) => stream(index),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array]
  const bitmapSize = ((count + 31) >> 5) << 2
  const overlapping = overlaps ? reader.take((count + 7) >> 3) : undefined
  const streams: Streams = {
    contours: new ByteReader(contours),
    points: new ByteReader(points),
    flags: new ByteReader(flags),
    glyphs: new ByteReader(glyphs),
    composites: new ByteReader(composites),
    boxes: new ByteReader(boxBytes.subarray(bitmapSize)),
    instructions: new ByteReader(instructions),
  }
  const isSet = (bitmap: Uint8Array, glyph: number): boolean =>
    ((bitmap[glyph >> 3]! >> (7 - (glyph & 7))) & 1) === 1
  const made: Uint8Array[] = []
  const loca = new DataView(new ArrayBuffer((count + 1) * 4))
  const leftmost = new Int16Array(count)
  let at = 0
  for (let glyph = 0; glyph < count; glyph += 1) {
    const box = isSet(boxBytes, glyph) ? streams.boxes : undefined
    const outline = outlineOf(streams, box, overlapping !== undefined && isSet(overlapping, glyph))
    loca.setUint32(glyph * 4, at)
    if (outline.length > 0) leftmost[glyph] = viewOf(outline).getInt16(2)
    made.push(outline)
    at += outline.length
  }
  loca.setUint32(count * 4, at)
  return { glyf: new Uint8Array(Buffer.concat(made)), loca: new Uint8Array(loca.buffer), leftmost }
}

/** What `glyf` has of the next outline, in a whole number of four bytes. */
function outlineOf(streams: Streams, box: ByteReader | undefined, overlaps: boolean): Uint8Array {
  const contours = streams.contours.uint16()
  if (contours === 0) {
    if (box) throw new FontError('it is damaged')
    return new Uint8Array()
  }
  return contours === COMPOSITE
    ? compositeOutline(streams, box)
    : simpleOutline(streams, contours, box, overlaps)
}

const ARGUMENTS_ARE_WORDS = 0x01
const MORE_COMPONENTS = 0x20
const HAS_INSTRUCTIONS = 0x100
/** Bytes of what a component is scaled by. */
const SCALES = [
  [0x08, 2],
  [0x40, 4],
  [0x80, 8],
] as const

function compositeOutline(streams: Streams, box: ByteReader | undefined): Uint8Array {
  if (!box) throw new FontError('it is damaged')
  const parts: Uint8Array[] = [Uint8Array.of(0xff, 0xff), box.take(BOX_BYTES)]
  let [flags, hasInstructions] = [MORE_COMPONENTS, false]
  while ((flags & MORE_COMPONENTS) !== 0) {
    const head = streams.composites.take(2)
    flags = (head[0]! << 8) | head[1]!
    hasInstructions ||= (flags & HAS_INSTRUCTIONS) !== 0
    const scale = SCALES.find(([flag]) => (flags & flag) !== 0)?.[1] ?? 0
    parts.push(head, streams.composites.take(2 + ((flags & ARGUMENTS_ARE_WORDS) === 0 ? 2 : 4) + scale))
  }
  if (hasInstructions) parts.push(...instructionsOf(streams))
  return padded(parts)
}

function instructionsOf({ glyphs, instructions }: Streams): [Uint8Array, Uint8Array] {
  const size = glyphs.short255()
  return [Uint8Array.of(size >> 8, size & 0xff), instructions.take(size)]
}

type Point = { readonly dx: number; readonly dy: number; readonly isOnCurve: boolean }

function simpleOutline(
  streams: Streams,
  contours: number,
  box: ByteReader | undefined,
  overlaps: boolean,
): Uint8Array {
  const head = new Uint8Array(2 + BOX_BYTES + contours * 2)
  const view = viewOf(head)
  view.setInt16(0, contours)
  let total = 0
  for (let contour = 0; contour < contours; contour += 1) {
    total += streams.points.short255()
    if (total > MOST_POINTS) throw new FontError('it is damaged')
    view.setUint16(2 + BOX_BYTES + contour * 2, total - 1)
  }
  const points = Array.from({ length: total }, () => pointOf(streams))
  const instructions = instructionsOf(streams)
  if (box) head.set(box.take(BOX_BYTES), 2)
  else writeBox(view, points)
  return padded([head, ...instructions, ...coordinates(points, overlaps)])
}

const signed = (flag: number, size: number): number => ((flag & 1) === 1 ? size : -size)

/** A step to the next point, in one to four bytes beside its flag. */
function pointOf({ flags, glyphs }: Streams): Point {
  const byte = flags.byte()
  const isOnCurve = byte < 0x80
  const flag = byte & 0x7f
  const [a = 0, b = 0, c = 0, d = 0] = glyphs.take(flag < 84 ? 1 : flag < 120 ? 2 : flag < 124 ? 3 : 4)
  const step = (x: number, y: number): Point => ({ dx: signed(flag, x), dy: signed(flag >> 1, y), isOnCurve })
  if (flag < 10) return { dx: 0, dy: signed(flag, ((flag & 14) << 7) + a), isOnCurve }
  if (flag < 20) return { dx: signed(flag, (((flag - 10) & 14) << 7) + a), dy: 0, isOnCurve }
  if (flag < 84) {
    const high = flag - 20
    return step(1 + (high & 0x30) + (a >> 4), 1 + ((high & 0x0c) << 2) + (a & 0x0f))
  }
  if (flag < 120) {
    const high = flag - 84
    return step(1 + (Math.floor(high / 12) << 8) + a, 1 + (((high % 12) >> 2) << 8) + b)
  }
  if (flag < 124) return step((a << 4) + (b >> 4), ((b & 0x0f) << 8) + c)
  return step((a << 8) + b, (c << 8) + d)
}

function writeBox(view: DataView, points: readonly Point[]): void {
  let [x, y] = [0, 0]
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { dx, dy } of points) {
    x += dx
    y += dy
    left = Math.min(left, x)
    right = Math.max(right, x)
    bottom = Math.min(bottom, y)
    top = Math.max(top, y)
  }
  if (points.length === 0) [left, bottom, right, top] = [0, 0, 0, 0]
  for (const [index, edge] of [left, bottom, right, top].entries()) view.setInt16(2 + index * 2, edge)
}

const [ON_CURVE, SHORT_X, SHORT_Y, SAME_X, SAME_Y, OVERLAP] = [0x01, 0x02, 0x04, 0x10, 0x20, 0x40]

/** Flags, then steps across, then steps up, each as short as it can be. */
function coordinates(points: readonly Point[], overlaps: boolean): Uint8Array[] {
  const flags = new Uint8Array(points.length)
  const [across, up]: [number[], number[]] = [[], []]
  const step = (size: number, short: number, same: number, bytes: number[]): number => {
    if (size === 0) return same
    if (Math.abs(size) > 0xff) {
      bytes.push((size >> 8) & 0xff, size & 0xff)
      return 0
    }
    bytes.push(Math.abs(size))
    return size > 0 ? short | same : short
  }
  for (const [index, { dx, dy, isOnCurve }] of points.entries())
    flags[index] =
      (isOnCurve ? ON_CURVE : 0) |
      (overlaps && index === 0 ? OVERLAP : 0) |
      step(dx, SHORT_X, SAME_X, across) |
      step(dy, SHORT_Y, SAME_Y, up)
  return [flags, Uint8Array.from(across), Uint8Array.from(up)]
}

function padded(parts: readonly Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  const whole = new Uint8Array((size + 3) & ~3)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
