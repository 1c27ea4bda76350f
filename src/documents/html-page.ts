// What a template printed, as a page: images of the configuration in their places; for documents of type html the
// blocks of header and footer as elements of HTML, and the one page that there is.
import type { StaticFiles } from './archive-files.ts'

/** What `image_url` prints for an image of the configuration, until it is there itself. */
export const imageName = (name: string): string =>
  /^(?:data|https?):/i.test(name) ? name : `bindery-image:${encodeURIComponent(name)}`

const NAMED = /bindery-image:([A-Za-z0-9%._~!*'()-]+)/g

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
  const tooMany = `its images, each as often as it is shown, are more than ${(MOST_IMAGE_CHARACTERS * 3) / 4_000_000} MB together`
  for (const [, name] of html.matchAll(NAMED)) {
    if (addresses.has(name!)) {
      if (!count(name!)) return { problem: tooMany }
      continue
    }
    const bytes = await files(decodeURIComponent(name!))
    if (!bytes) return { problem: `there is no image '${decodeURIComponent(name!)}' in static_documents` }
    const type = bytes[0] === 0x89 ? 'png' : 'jpeg'
    addresses.set(name!, `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`)
    if (!count(name!)) return { problem: tooMany }
  }
  return {
    text: addresses.size === 0 ? html : html.replace(NAMED, (_, name: string) => addresses.get(name)!),
  }
}

/** A document of type html: it has one page, whose header and footer are parts of it. */
export const finishedHtml = (html: string): string =>
  html
    .replaceAll(/<(\/?)bindery-(header|footer)>/g, '<$1$2>')
    .replaceAll(/<bindery-page-(?:number|count)><\/bindery-page-(?:number|count)>/g, '1')
