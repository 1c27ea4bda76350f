// Images of a document: data addresses of PNG and JPEG, whose size is read from their first bytes.
import type { ConversionBudget } from './limits.ts'
import { ConversionError } from './page.ts'

export type DocumentImage = { readonly key: string; readonly width: number; readonly height: number }

/** The images of one document, each once. */
export class Images {
  readonly #budget: ConversionBudget
  readonly #known = new Map<string, DocumentImage>()

  constructor(budget: ConversionBudget) {
    this.#budget = budget
  }

  /** Data addresses by the keys that content names. */
  get dictionary(): Record<string, string> {
    return Object.fromEntries([...this.#known].map(([address, { key }]) => [key, address]))
  }

  /** The image of the address, its size in pixels; undefined for an address that leads out of the document. */
  take(source: string): DocumentImage | undefined {
    if (!/^data:/i.test(source)) return undefined
    const address = source.replace(/\s+/g, '')
    const known = this.#known.get(address)
    if (known) return known
    this.#budget.count('images')
    this.#budget.count('imageBytes', Math.floor((address.length * 3) / 4))
    const base64 = /^data:[^,]*;base64,([A-Za-z0-9+/=]+)$/.exec(address)?.[1]
    const size = base64 === undefined ? undefined : sizeOf(Buffer.from(base64, 'base64'))
    if (!size) throw new ConversionError('An image is neither PNG nor JPEG in base64; use one of the two.')
    this.#budget.check('imagePixels', size.width * size.height)
    const image = { key: `image${this.#known.size}`, ...size }
    this.#known.set(address, image)
    return image
  }
}

const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

function sizeOf(bytes: Buffer): { width: number; height: number } | undefined {
  if (bytes.length > 24 && bytes.readUInt32BE(0) === 0x89504e47)
    return positive(bytes.readUInt32BE(16), bytes.readUInt32BE(20))
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  let at = 2
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!
    if (isFrame(marker)) return positive(bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5))
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

const positive = (width: number, height: number): { width: number; height: number } | undefined =>
  width > 0 && height > 0 ? { width, height } : undefined
