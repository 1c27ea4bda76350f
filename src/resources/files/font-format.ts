// What a font is, by its first bytes (resources brief 4.1).
import { Refusal } from '../../platform/errors.ts'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '\0\x01\0\0': 'font/ttf',
  true: 'font/ttf',
  OTTO: 'font/otf',
  wOFF: 'font/woff',
  wOF2: 'font/woff2',
}

/** The media type of the font; refuses (400) what is none. */
export function fontMediaType(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('latin1')
  const found = Object.hasOwn(MEDIA_TYPES, head) ? MEDIA_TYPES[head] : undefined
  if (!found)
    throw new Refusal(
      'invalidRequest',
      'The file is no font; send a TrueType, OpenType, WOFF or WOFF2 file (of a collection, one font).',
    )
  return found
}
