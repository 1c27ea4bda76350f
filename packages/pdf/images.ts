// Images of a document, as data URLs: PNG and JPEG, whose size is in their first bytes, and SVG.
import { inflateSync } from 'node:zlib'
import type { ConversionBudget } from './limits.ts'
import { ConversionError } from './page.ts'
import { bytePixels } from './png-palettes.ts'
import { type Drawing, drawingOfText } from './svg.ts'

/** A picture with its key in the content and its size in pixels, or a drawing with its size in points. */
type DocumentImage = { readonly key: string; readonly width: number; readonly height: number } | Drawing

export class Images {
  readonly #budget: ConversionBudget
  readonly #known = new Map<string, DocumentImage>()
  /** The data URLs of pictures that the engine gets in another form, by their keys. */
  readonly #converted = new Map<string, string>()
  /** Images by URL, because headers request their images again on every page. */
  readonly #bySource = new Map<string, DocumentImage>()

  constructor(budget: ConversionBudget) {
    this.#budget = budget
  }

  /** The data URLs by the keys that the content uses. */
  get dictionary(): Record<string, string> {
    const pictures = [...this.#known].flatMap(([address, image]) =>
      'key' in image ? [[image.key, this.#converted.get(image.key) ?? address]] : [],
    )
    return Object.fromEntries(pictures)
  }

  /** Returns undefined for a URL that leads out of the document. Sizes are in pixels. `alt` is for messages. */
  take(source: string, alt = ''): DocumentImage | undefined {
    if (!/^data:/i.test(source)) return undefined
    const known = this.#bySource.get(source)
    if (known) return known
    const image = this.#named(source, alt)
    this.#bySource.set(source, image)
    return image
  }

  /** Names the image in the messages about it: its number, its `alt`, and how its address begins. */
  #named(source: string, alt: string): DocumentImage {
    try {
      return this.#read(source)
    } catch (problem) {
      if (!(problem instanceof ConversionError)) throw problem
      const named = alt.trim() === '' ? '' : ` with the alt '${alt.trim().slice(0, 100)}'`
      throw new ConversionError(
        `${problem.message} It is image ${this.#bySource.size + 1} of the document${named}: ${source.slice(0, 60)}…`,
      )
    }
  }

  #read(source: string): DocumentImage {
    // Base64 may have blanks, and its signs may be percent-encoded. The engine reads `base64` only in this case.
    const address = source
      .replace(/\s+/g, '')
      .replace(/%(?:2b|2f|3d)/gi, decodeURIComponent)
      .replace(/^[^,]*/, head => head.toLowerCase())
    const known = this.#known.get(address)
    if (known) return known
    this.#budget.count('images')
    this.#budget.count('imageBytes', Math.floor((address.length * 3) / 4))
    const isSvg = /^data:image\/svg\+xml/i.test(address)
    const drawing = isSvg ? drawingOfText(textOf(source), this.#budget) : undefined
    const image = drawing ?? this.#picture(address)
    this.#known.set(address, image)
    return image
  }

  #picture(address: string): DocumentImage {
    const base64 = /^data:[^,]*;base64,([A-Za-z0-9+/=]+)$/i.exec(address)?.[1]
    const bytes = base64 === undefined ? undefined : Buffer.from(base64, 'base64')
    const size = bytes && (isPng(bytes) ? this.#pngSize(bytes) : jpegSize(bytes))
    if (!size)
      throw new ConversionError(
        'An image is neither a PNG or JPEG in base64 nor an SVG. Use one of these formats.',
      )
    this.#budget.check('imagePixels', size.width * size.height)
    return { key: `image${this.#known.size}`, ...size }
  }

  /** Unpacks a PNG to at most its declared size, because the library does not report a damaged or oversized one. */
  #pngSize(bytes: Buffer): { width: number; height: number } {
    this.#budget.check('pngBytes', bytes.length)
    const png = readPng(bytes)
    if (!png) throw new ConversionError('A PNG is damaged. Create it again.')
    const { width, height, isUnpacked, unpackedBytes, data } = png
    this.#budget.check('imagePixels', width * height)
    if (isUnpacked) {
      this.#budget.count('unpackedPixels', width * height)
      try {
        const rows = inflateSync(data, { maxOutputLength: unpackedBytes })
        if (rows.length < unpackedBytes) throw new Error('too short')
        if (png.isPacked) {
          const file = bytePixels([...chunksOf(bytes)], rows, png)
          this.#converted.set(`image${this.#known.size}`, `data:image/png;base64,${file.toString('base64')}`)
        }
      } catch {
        throw new ConversionError('The pixel data of a PNG does not match its size. Create it again.')
      }
    }
    return { width, height }
  }
}

const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** Decodes base64 or percent encoding. */
function textOf(address: string): string {
  const comma = address.indexOf(',')
  const [head, data] = [address.slice(0, comma), address.slice(comma + 1)]
  try {
    return /;base64$/i.test(head.trim())
      ? Buffer.from(data, 'base64').toString('utf8')
      : decodeURIComponent(data)
  } catch {
    return data
  }
}

const isPng = (bytes: Buffer): boolean => bytes.length > 8 && bytes.readUInt32BE(0) === 0x89504e47

function jpegSize(bytes: Buffer): { width: number; height: number } | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  let at = 2
  let isTurned = false
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!
    if (isFrame(marker)) {
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)]
      return isTurned ? sizeIfPositive(height, width) : sizeIfPositive(width, height)
    }
    if (marker === EXIF) isTurned ||= isTurnedIn(bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2)))
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

const EXIF = 0xe1
/** Its values from 5 to 8 are photos of cameras that were held upright. The engine turns them. */
const ORIENTATION = 0x0112

/** Whether the camera's notes say that the picture is to be turned by 90 degrees, so that its width becomes its height. */
function isTurnedIn(notes: Buffer): boolean {
  if (notes.toString('latin1', 0, 6) !== 'Exif\0\0') return false
  const tiff = notes.subarray(6)
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const number = (at: number, bytes: 2 | 4): number => {
    if (at + bytes > tiff.length) return 0
    return isLittle ? tiff.readUIntLE(at, bytes) : tiff.readUIntBE(at, bytes)
  }
  const start = number(4, 4)
  for (let entry = 0; entry < number(start, 2); entry += 1) {
    const at = start + 2 + 12 * entry
    if (number(at, 2) === ORIENTATION) return number(at + 8, 2) > 4
  }
  return false
}

const sizeIfPositive = (width: number, height: number): { width: number; height: number } | undefined =>
  width > 0 && height > 0 ? { width, height } : undefined

type Png = {
  readonly width: number
  readonly height: number
  /** A PNG with transparency or interlacing, which a PDF stores in another form. Other PNGs are embedded unchanged. */
  readonly isUnpacked: boolean
  readonly bits: number
  /** Whether several pixels of a palette with transparency share a byte. */
  readonly isPacked: boolean
  /** The size of the unpacked pixels in bytes, including the filter byte of each row. */
  readonly unpackedBytes: number
  readonly data: Buffer
}

const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

/** Returns undefined for a truncated or invalid file. */
function readPng(bytes: Buffer): Png | undefined {
  const data: Buffer[] = []
  let header: PngHeader | undefined
  let isTransparent = false
  for (const { type, body } of chunksOf(bytes)) {
    if (type === 'IHDR' && body.length >= 13) header = headerOf(body)
    else if (type === 'tRNS') isTransparent = header?.colourType === 3
    else if (type === 'IDAT') data.push(body)
    else if (type === 'IEND')
      return header && data.length > 0 ? pngOf(header, isTransparent, data) : undefined
  }
  return undefined
}

/** Yields the chunks of a PNG after its signature, up to the first truncated one. */
function* chunksOf(bytes: Buffer): Generator<{ type: string; body: Buffer }> {
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const body = bytes.subarray(at + 8, at + 8 + length)
    if (body.length < length) return
    yield { type: bytes.toString('latin1', at + 4, at + 8), body }
    at += 12 + length
  }
}

type PngHeader = {
  readonly width: number
  readonly height: number
  readonly bits: number
  readonly colourType: number
  readonly isInterlaced: boolean
}

const headerOf = (body: Buffer): PngHeader => ({
  width: body.readUInt32BE(0),
  height: body.readUInt32BE(4),
  bits: body[8]!,
  colourType: body[9]!,
  isInterlaced: body[12] === 1,
})

function pngOf(header: PngHeader, isTransparent: boolean, data: Buffer[]): Png | undefined {
  const { width, height, bits, colourType, isInterlaced } = header
  const samples = SAMPLES[colourType]
  if (samples === undefined || ![1, 2, 4, 8, 16].includes(bits)) return undefined
  if (width < 1 || height < 1) return undefined
  return {
    width,
    height,
    bits,
    isPacked: isTransparent && bits < 8 && !isInterlaced,
    isUnpacked: colourType === 4 || colourType === 6 || isTransparent || isInterlaced,
    unpackedBytes: (isInterlaced ? interlacedBytes : rowsBytes)(width, height, bits * samples),
    data: Buffer.concat(data),
  }
}

const rowsBytes = (width: number, height: number, bitsOfPixel: number): number =>
  width === 0 ? 0 : height * (1 + Math.ceil((width * bitsOfPixel) / 8))

/** For each of the seven passes: offset across and down, then distance across and down, in pixels. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

const interlacedBytes = (width: number, height: number, bitsOfPixel: number): number =>
  PASSES.reduce((sum, [left, top, across, down]) => {
    const columns = Math.max(0, Math.ceil((width - left) / across))
    const rows = Math.max(0, Math.ceil((height - top) / down))
    return sum + rowsBytes(columns, rows, bitsOfPixel)
  }, 0)
