// What a template printed, as a page: images of the configuration in their places; for documents of type html the
// blocks of header and footer as elements of HTML, and the one page that there is.
import type { StaticFiles } from './archive-files.ts'

/** What `image_url` prints for an image of the configuration, until it is there itself. */
export const imageName = (name: string): string =>
  /^(?:data|https?):/i.test(name) ? name : `bindery-image:${encodeURIComponent(name)}`

const NAMED = /bindery-image:([A-Za-z0-9%._~!*'()-]+)/g

/** The HTML with every image as a data address; or the name of one that there is not. */
export async function withImages(
  html: string,
  files: StaticFiles,
): Promise<{ text: string } | { missing: string }> {
  const addresses = new Map<string, string>()
  for (const [, name] of html.matchAll(NAMED)) {
    if (addresses.has(name!)) continue
    const bytes = await files(decodeURIComponent(name!))
    if (!bytes) return { missing: decodeURIComponent(name!) }
    const type = bytes[0] === 0x89 ? 'png' : 'jpeg'
    addresses.set(name!, `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`)
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
