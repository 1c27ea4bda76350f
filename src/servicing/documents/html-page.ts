// What a template printed, as a page: images of the configuration in their places; for documents of type html the
// blocks of header and footer as elements of HTML, and the one page that there is.
import { fontNames, type OwnFontFiles } from '../../../packages/pdf/fonts.ts'
import type { StaticFiles } from '../../product/cache.ts'
import { MOST_FONTS } from '../../product/resources.ts'

/** What `image_url` prints for an image of the configuration, until it is there itself. */
export const imageName = (name: string): string =>
  /^(?:data|https?):/i.test(name) ? name : `bindery-image:${encodeURIComponent(name)}`

const NAMED = /bindery-image:([A-Za-z0-9%._~!*'()-]+)/g

/** The name of the image; a template may write what `image_url` never prints, which is then its own name. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Characters of all images in their places: each counts as often as the page shows it. */
const MOST_IMAGE_CHARACTERS = 20_000_000

/** The HTML with every image as a data address; or what is wrong with one. */
export async function withImages(
  html: string,
  files: StaticFiles,
): Promise<{ text: string } | { problem: string }> {
  const addresses = new Map<string, string>()
  let characters = 0
  const count = (name: string): boolean => {
    characters += addresses.get(name)!.length
    return characters <= MOST_IMAGE_CHARACTERS
  }
  await files.expect?.([...html.matchAll(NAMED)].map(([, name]) => decoded(name!)))
  const tooMany = `its images, each as often as it is shown, are more than ${(MOST_IMAGE_CHARACTERS * 3) / 4_000_000} MB together`
  for (const [, name] of html.matchAll(NAMED)) {
    if (addresses.has(name!)) {
      if (!count(name!)) return { problem: tooMany }
      continue
    }
    const bytes = await files(decoded(name!))
    if (!bytes)
      return { problem: `there is no image '${decoded(name!)}' in static_documents or among the resources` }
    const type = bytes[0] === 0x89 ? 'png' : bytes[0] === 0xff ? 'jpeg' : 'svg+xml'
    addresses.set(name!, `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`)
    if (!count(name!)) return { problem: tooMany }
  }
  return {
    text: addresses.size === 0 ? html : html.replace(NAMED, (_, name: string) => addresses.get(name)!),
  }
}

/**
 * The HTML with a family of the name of each font, which is the font in force of that static name: what a document's
 * `customFonts` lists needs no `@font-face` (resources brief 4.2). A style sheet's own family of the name comes after it.
 */
export function withFamilies(html: string, staticNames: readonly string[]): string {
  if (staticNames.length === 0) return html
  const rules = staticNames.map(name => `@font-face{font-family:"${name}";src:url("${name}.ttf")}`)
  const style = `<style>${rules.join('')}</style>`
  const [opening] = /<head(?:\s[^>]*)?>/i.exec(html) ?? /<html(?:\s[^>]*)?>/i.exec(html) ?? []
  return opening === undefined ? style + html : html.replace(opening, () => opening + style)
}

/** Of all fonts of one document together. */
const MOST_FONT_BYTES = 24_000_000

/** The fonts of the configuration that the HTML's `@font-face` rules name; or what is wrong with one. */
export async function fontsOf(
  html: string,
  files: StaticFiles,
): Promise<{ fonts: OwnFontFiles } | { problem: string }> {
  const fonts = new Map<string, Uint8Array>()
  let total = 0
  const names = fontNames(html)
  await files.expect?.(names)
  for (const name of names) {
    const bytes = await files(name)
    if (!bytes) return { problem: `there is no font '${name}' in static_documents or among the resources` }
    fonts.set(name, bytes)
    total += bytes.length
    if (fonts.size > MOST_FONTS || total > MOST_FONT_BYTES)
      return {
        problem: `its fonts are more than ${MOST_FONTS} or ${MOST_FONT_BYTES / 1_000_000} MB together`,
      }
  }
  return { fonts }
}

/** A document of type html: it has one page, whose header and footer are parts of it. */
export const finishedHtml = (html: string): string =>
  html
    .replaceAll(/<(\/?)bindery-(header|footer)>/g, '<$1$2>')
    .replaceAll(/<bindery-page-(?:number|count)><\/bindery-page-(?:number|count)>/g, '1')

/** Most characters that a warning names. */
const MOST_NAMED = 20

/** What the author of a document is told of characters that no font has, each once in `missing`. */
export function missingLetters(missing: string): string {
  const all = [...missing]
  const named = all
    .slice(0, MOST_NAMED)
    .map(one => `${one} (U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')})`)
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : ''
  return `no font has ${named.join(', ')}${more}; boxes stand in their places. Upload a font that has them, or put it into static_documents, and name it by @font-face.`
}
