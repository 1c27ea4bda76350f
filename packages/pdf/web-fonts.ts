// Converts fonts for the layout engine: TrueType and OpenType remain unchanged, WOFF and WOFF2 are unpacked. No WOFF2 library
// works here. Complete ones compile WebAssembly at run time, which the platform forbids, and fontkit cannot write letters
// composed of parts, such as `ü`, to a PDF.
import { brotliDecompressSync, inflateSync } from 'node:zlib'

type Table = { readonly tag: string; readonly bytes: Uint8Array }

/** The file is not a font, is damaged, or is too large once unpacked. */
export class FontError extends Error {}

export const damagedFontError = (): FontError => new FontError('it is damaged')

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

const tagAt = (bytes: Uint8Array, at: number): string =>
  Buffer.from(bytes.subarray(at, at + 4)).toString('latin1')

/** `true` and 0x00010000 are TrueType. `OTTO` is OpenType with PostScript outlines. */
const PLAIN = new Set([0x74727565, 0x00010000, 0x4f54544f])
const [WOFF, WOFF2] = [0x774f4646, 0x774f4632]

/** Returns the font, unpacked to at most `mostBytes`. Throws a FontError for anything else. */
export function plainFont(bytes: Uint8Array, mostBytes: number): Uint8Array {
  try {
    const signature = viewOf(bytes).getUint32(0)
    if (PLAIN.has(signature)) return bytes
    if (signature === WOFF) return unpackedWoff(bytes, mostBytes)
    if (signature === WOFF2) return unpackedWoff2(bytes, mostBytes)
  } catch (problem) {
    throw problem instanceof FontError ? problem : damagedFontError()
  }
  throw new FontError('it is neither TrueType, OpenType, WOFF nor WOFF2')
}

const [SFNT_HEADER, SFNT_ENTRY] = [12, 16]
const alignTo4 = (size: number): number => (size + 3) & ~3

/** Returns the tags of the font's tables. Throws a FontError if a table is beyond the end. */
export function tagsOf(font: Uint8Array): Set<string> {
  const view = viewOf(font)
  const tags = new Set<string>()
  for (let index = 0; index < view.getUint16(4); index += 1) {
    const at = SFNT_HEADER + index * SFNT_ENTRY
    if (view.getUint32(at + 8) + view.getUint32(at + 12) > font.length) throw damagedFontError()
    tags.add(tagAt(font, at))
  }
  return tags
}

/** Builds a font file from the tables. */
export function buildFontFile(flavor: number, tables: readonly Table[]): Uint8Array {
  if (!PLAIN.has(flavor)) throw new FontError('it is a collection of fonts; use a file with a single font')
  const sorted = [...tables].sort((a, b) => (a.tag < b.tag ? -1 : 1))
  const head = SFNT_HEADER + sorted.length * SFNT_ENTRY
  const file = new Uint8Array(sorted.reduce((sum, { bytes }) => sum + alignTo4(bytes.length), head))
  const view = viewOf(file)
  const power = 2 ** Math.floor(Math.log2(Math.max(1, sorted.length)))
  view.setUint32(0, flavor)
  const search = [sorted.length, power * SFNT_ENTRY, Math.log2(power), (sorted.length - power) * SFNT_ENTRY]
  for (const [index, value] of search.entries()) view.setUint16(4 + index * 2, value)
  let at = head
  for (const [index, { tag, bytes }] of sorted.entries()) {
    const entry = SFNT_HEADER + index * SFNT_ENTRY
    file.set(Buffer.from(tag, 'latin1'), entry)
    file.set(bytes, at)
    view.setUint32(entry + 4, checksum(view, at, alignTo4(bytes.length)))
    view.setUint32(entry + 8, at)
    view.setUint32(entry + 12, bytes.length)
    at += alignTo4(bytes.length)
  }
  return file
}

function checksum(view: DataView, from: number, size: number): number {
  let sum = 0
  for (let at = from; at < from + size; at += 4) sum = (sum + view.getUint32(at)) >>> 0
  return sum
}

/** The platform's decompressor needs room for one more piece. */
const UNPACKING_ROOM = 65_536

/** Throws a FontError above `mostBytes`, which applies to unpacked tables. */
function assertSize(bytes: number, mostBytes: number): void {
  if (bytes > mostBytes) throw new FontError(`it is larger than ${mostBytes} bytes when unpacked`)
}

const [WOFF_HEADER, WOFF_ENTRY] = [44, 20]

function unpackedWoff(bytes: Uint8Array, mostBytes: number): Uint8Array {
  const view = viewOf(bytes)
  const tables: Table[] = []
  let total = 0
  for (let index = 0; index < view.getUint16(12); index += 1) {
    const at = WOFF_HEADER + index * WOFF_ENTRY
    const [offset, packed, size] = [view.getUint32(at + 4), view.getUint32(at + 8), view.getUint32(at + 12)]
    total += size
    assertSize(total, mostBytes)
    if (offset + packed > bytes.length || packed > size) throw damagedFontError()
    const own = bytes.subarray(offset, offset + packed)
    const table =
      packed === size ? own : new Uint8Array(inflateSync(own, { maxOutputLength: size + UNPACKING_ROOM }))
    if (table.length !== size) throw damagedFontError()
    tables.push({ tag: tagAt(bytes, at), bytes: table })
  }
  return buildFontFile(view.getUint32(4), tables)
}

// WOFF2 (W3C WOFF 2.0): all tables are one Brotli stream, in which outlines and widths may have a different form from that in a
// font file.

/** Reads bytes in sequence, including the number formats of WOFF2. Throws beyond the end. */
class ByteReader {
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

  /** Reads seven bits per byte, from at most five bytes. */
  base128(): number {
    let value = 0
    for (let index = 0; index < 5; index += 1) {
      const byte = this.byte()
      if (index === 0 && byte === 0x80) break
      value = value * 128 + (byte & 0x7f)
      if (byte < 0x80) return value
    }
    throw new RangeError('It is not a number.')
  }

  /** Reads one byte, or up to three for numbers from 253. */
  short255(): number {
    const code = this.byte()
    if (code === 253) return this.uint16()
    if (code === 254) return this.byte() + 506
    return code === 255 ? this.byte() + 253 : code
  }
}

const KNOWN_TAGS =
  'cmapheadhheahmtxmaxpnameOS/2postcvt fpgmglyflocaprepCFF VORGEBDTEBLCgasphdmxkernLTSHPCLTVDMXvheavmtxBASEGDEFGPOSGSUBEBSCJSTFMATHCBDTCBLCCOLRCPALSVG sbixacntavarbdatblocbslncvarfdscfeatfmtxfvargvarhstyjustlcarmortmorxopbdproptrakZapfSilfGlatGlocFeatSill'
const OTHER_TAG = 63
const WOFF2_HEADER = 48

/** `size` is the size in the stream. */
type Woff2Entry = { readonly tag: string; readonly isTransformed: boolean; readonly size: number }

function unpackedWoff2(bytes: Uint8Array, mostBytes: number): Uint8Array {
  const header = viewOf(bytes)
  const reader = new ByteReader(bytes.subarray(WOFF2_HEADER))
  const entries = Array.from({ length: header.getUint16(12) }, () => readEntry(reader))
  const total = entries.reduce((sum, { size }) => sum + size, 0)
  assertSize(total, mostBytes)
  const packed = reader.take(header.getUint32(20))
  const unpacked = brotliDecompressSync(packed, { maxOutputLength: total + UNPACKING_ROOM })
  const data = new ByteReader(new Uint8Array(unpacked))
  const tables = new Map(entries.map(({ tag, size }) => [tag, data.take(size)]))
  const transformed = new Set(entries.filter(entry => entry.isTransformed).map(({ tag }) => tag))
  if (transformed.has('glyf')) {
    const { glyf, loca, leftmost } = plainGlyphs(tables.get('glyf')!)
    const head = new Uint8Array(tables.get('head')!)
    // Offsets of outlines are 32-bit.
    viewOf(head).setInt16(50, 1)
    tables.set('glyf', glyf).set('loca', loca).set('head', head)
    if (transformed.has('hmtx')) {
      const count = viewOf(tables.get('hhea')!).getUint16(34)
      tables.set('hmtx', plainWidths(new ByteReader(tables.get('hmtx')!), count, leftmost))
    }
  } else if (transformed.has('hmtx')) throw damagedFontError()
  return buildFontFile(
    header.getUint32(4),
    Array.from(tables, ([tag, table]) => ({ tag, bytes: table })),
  )
}

function readEntry(reader: ByteReader): Woff2Entry {
  const flags = reader.byte()
  const known = flags & 0x3f
  const tag = known === OTHER_TAG ? tagAt(reader.take(4), 0) : KNOWN_TAGS.slice(known * 4, known * 4 + 4)
  const version = flags >> 6
  // For outlines, 3 means unchanged; for all other tables, 0 does.
  const isTransformed = version !== (tag === 'glyf' || tag === 'loca' ? 3 : 0)
  const size = reader.base128()
  return { tag, isTransformed, size: isTransformed ? reader.base128() : size }
}

/** Rebuilds widths and left bearings. An omitted bearing is the left edge of the outline. */
function plainWidths(reader: ByteReader, count: number, leftmost: Int16Array): Uint8Array {
  const flags = reader.byte()
  const glyphs = leftmost.length
  if (count > glyphs) throw damagedFontError()
  const widths = Array.from({ length: count }, () => reader.uint16())
  const table = new Uint8Array(count * 4 + (glyphs - count) * 2)
  const view = viewOf(table)
  for (let glyph = 0; glyph < glyphs; glyph += 1) {
    const hasWidth = glyph < count
    const bearing = flags & (hasWidth ? 1 : 2) ? leftmost[glyph]! : reader.int16()
    if (hasWidth) view.setUint16(glyph * 4, widths[glyph]!)
    view.setInt16(hasWidth ? glyph * 4 + 2 : count * 4 + (glyph - count) * 2, bearing)
  }
  return table
}

// The TrueType tables `glyf` and `loca`, rebuilt from WOFF2's seven streams of outlines.
type PlainGlyphs = {
  readonly glyf: Uint8Array
  /** With long offsets. */
  readonly loca: Uint8Array
  /** Left edge of each outline, for omitted bearings. */
  readonly leftmost: Int16Array
}

const COMPOSITE = 0xffff
/** Left, bottom, right and top of an outline: 8 bytes. */
const BOX_BYTES = 8
const MOST_POINTS = 65_536

/** In the order of the table. */
const STREAMS = ['contours', 'points', 'flags', 'glyphs', 'composites', 'boxes', 'instructions'] as const
type Streams = Readonly<Record<(typeof STREAMS)[number], ByteReader>>

const isSet = (bitmap: Uint8Array, glyph: number): boolean =>
  ((bitmap[glyph >> 3]! >> (7 - (glyph & 7))) & 1) === 1

function plainGlyphs(table: Uint8Array): PlainGlyphs {
  const header = viewOf(table)
  const count = header.getUint16(4)
  const reader = new ByteReader(table.subarray(36))
  const streams = Object.fromEntries(
    STREAMS.map((name, index) => [name, new ByteReader(reader.take(header.getUint32(8 + index * 4)))]),
  ) as Streams
  const hasBox = streams.boxes.take(((count + 31) >> 5) << 2)
  const overlaps = (header.getUint16(2) & 1) === 1 ? reader.take((count + 7) >> 3) : undefined
  const outlines: Uint8Array[] = []
  const loca = new DataView(new ArrayBuffer((count + 1) * 4))
  const leftmost = new Int16Array(count)
  let at = 0
  for (let glyph = 0; glyph < count; glyph += 1) {
    const box = isSet(hasBox, glyph) ? streams.boxes.take(BOX_BYTES) : undefined
    const outline = outlineOf(streams, box, overlaps !== undefined && isSet(overlaps, glyph))
    if (outline.length > 0) leftmost[glyph] = viewOf(outline).getInt16(2)
    outlines.push(outline)
    at += outline.length
    loca.setUint32((glyph + 1) * 4, at)
  }
  return { glyf: new Uint8Array(Buffer.concat(outlines)), loca: new Uint8Array(loca.buffer), leftmost }
}

/** Returns the next outline in the form of `glyf`, padded to four bytes. */
function outlineOf(streams: Streams, box: Uint8Array | undefined, overlaps: boolean): Uint8Array {
  const contours = streams.contours.uint16()
  if (contours === 0 && !box) return new Uint8Array()
  if (contours === 0 || (contours === COMPOSITE && !box)) throw damagedFontError()
  const parts =
    contours === COMPOSITE ? composite(streams, box!) : simpleGlyph(streams, contours, box, overlaps)
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  return new Uint8Array(Buffer.concat(parts, alignTo4(size)))
}

const ARGUMENTS_ARE_WORDS = 0x01
const MORE_COMPONENTS = 0x20
const HAS_INSTRUCTIONS = 0x100
/** The number of bytes of a component's scale, by flag. */
const SCALES = [
  [0x08, 2],
  [0x40, 4],
  [0x80, 8],
] as const

function composite(streams: Streams, box: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [Uint8Array.of(0xff, 0xff), box]
  let [flags, hasInstructions] = [MORE_COMPONENTS, false]
  while ((flags & MORE_COMPONENTS) !== 0) {
    const head = streams.composites.take(2)
    flags = (head[0]! << 8) | head[1]!
    hasInstructions ||= (flags & HAS_INSTRUCTIONS) !== 0
    const scale = SCALES.find(([flag]) => (flags & flag) !== 0)?.[1] ?? 0
    parts.push(head, streams.composites.take(2 + ((flags & ARGUMENTS_ARE_WORDS) === 0 ? 2 : 4) + scale))
  }
  return hasInstructions ? [...parts, ...instructionsOf(streams)] : parts
}

function instructionsOf({ glyphs, instructions }: Streams): [Uint8Array, Uint8Array] {
  const size = glyphs.short255()
  return [Uint8Array.of(size >> 8, size & 0xff), instructions.take(size)]
}

type Point = { readonly dx: number; readonly dy: number; readonly isOnCurve: boolean }

function simpleGlyph(
  streams: Streams,
  contours: number,
  box: Uint8Array | undefined,
  overlaps: boolean,
): Uint8Array[] {
  const head = new Uint8Array(2 + BOX_BYTES + contours * 2)
  const view = viewOf(head)
  view.setInt16(0, contours)
  let total = 0
  for (let contour = 0; contour < contours; contour += 1) {
    total += streams.points.short255()
    if (total > MOST_POINTS) throw damagedFontError()
    view.setUint16(2 + BOX_BYTES + contour * 2, total - 1)
  }
  const points = Array.from({ length: total }, () => pointOf(streams))
  const instructions = instructionsOf(streams)
  if (box) head.set(box, 2)
  else for (const [index, edge] of boxOf(points).entries()) view.setInt16(2 + index * 2, edge)
  return [head, ...instructions, ...coordinates(points, overlaps)]
}

const applySign = (flag: number, size: number): number => ((flag & 1) === 1 ? size : -size)

function bytesOfStep(flag: number): number {
  if (flag < 84) return 1
  if (flag < 120) return 2
  return flag < 124 ? 3 : 4
}

/** Reads the step to the next point: one to four bytes in addition to its flag. */
function pointOf({ flags, glyphs }: Streams): Point {
  const byte = flags.byte()
  const flag = byte & 0x7f
  const [a = 0, b = 0, c = 0, d = 0] = glyphs.take(bytesOfStep(flag))
  const step = (x: number, y: number): Point => ({
    dx: applySign(flag, x),
    dy: applySign(flag < 10 ? flag : flag >> 1, y),
    isOnCurve: byte < 0x80,
  })
  if (flag < 10) return step(0, ((flag & 14) << 7) + a)
  if (flag < 20) return step((((flag - 10) & 14) << 7) + a, 0)
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

function boxOf(points: readonly Point[]): [left: number, bottom: number, right: number, top: number] {
  if (points.length === 0) return [0, 0, 0, 0]
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
  return [left, bottom, right, top]
}

const [ON_CURVE, SHORT_X, SHORT_Y, SAME_X, SAME_Y, OVERLAP] = [0x01, 0x02, 0x04, 0x10, 0x20, 0x40]

/** Returns the flags, then the horizontal steps, then the vertical steps, each in its shortest form. */
function coordinates(points: readonly Point[], overlaps: boolean): Uint8Array[] {
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
  const flags = Uint8Array.from(
    points,
    ({ dx, dy, isOnCurve }, index) =>
      (isOnCurve ? ON_CURVE : 0) |
      (overlaps && index === 0 ? OVERLAP : 0) |
      step(dx, SHORT_X, SAME_X, across) |
      step(dy, SHORT_Y, SAME_Y, up),
  )
  return [flags, Uint8Array.from(across), Uint8Array.from(up)]
}
