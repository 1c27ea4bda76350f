// What a font is, by its bytes (resources brief 4.1).
import { Refusal } from '../../kernel/errors.ts'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '\0\x01\0\0': 'font/ttf',
  true: 'font/ttf',
  OTTO: 'font/otf',
  wOFF: 'font/woff',
  wOF2: 'font/woff2',
}

/** Bytes of a font once it is unpacked: all fonts of a document have no more together. */
const MOST_UNPACKED_BYTES = 24_000_000

/** The font's media type. Refuses (400) what is no font, and one that nothing could be printed with. */
export async function fontFile({ bytes }: { bytes: Uint8Array }): Promise<{ mediaType: string }> {
  const mediaType = fontMediaType(bytes)
  // Code that nothing but an upload of a font needs.
  const { fontProblem } = await import('../../../packages/pdf/web-fonts/plain-font.ts')
  const problem = fontProblem(bytes, MOST_UNPACKED_BYTES)
  if (problem !== undefined)
    throw new Refusal('invalidRequest', `The font cannot be used: ${problem}. Send a whole font.`)
  return { mediaType }
}

function fontMediaType(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('latin1')
  const found = Object.hasOwn(MEDIA_TYPES, head) ? MEDIA_TYPES[head] : undefined
  if (!found)
    throw new Refusal(
      'invalidRequest',
      'The file is no font; send a TrueType, OpenType, WOFF or WOFF2 file (of a collection, one font).',
    )
  return found
}
