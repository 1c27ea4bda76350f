// PDFs as the service renders them, read back with poppler's tools, which a machine may lack.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { renderPdf } from '../../../src/bundles/renderer.bundle.mjs'
import type { FontFiles, OwnFontFiles } from '../fonts.ts'
import { pageOf, type RenderedPdf } from '../page.ts'
import type { Picture } from './pictures.ts'

const fontFile = (path: string): ArrayBuffer => {
  const { buffer, byteOffset, byteLength } = readFileSync(`node_modules/${path}`)
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}
const noto = (name: string): ArrayBuffer =>
  fontFile(`@expo-google-fonts/noto-sans/${name}/NotoSans_${name}.ttf`)

let fonts: FontFiles | undefined

/** The creation time of all PDFs: 2026-11-21T12:00:00Z. */
export const MADE_AT = 1_795_262_400_000

/** Fonts such as a configuration brings. */
const OWN_FONTS: OwnFontFiles = new Map(
  ['DejaVuSansMono.ttf', 'DejaVuSansMono-Bold.ttf'].map(name => [
    name,
    new Uint8Array(fontFile(`dejavu-fonts-ttf/ttf/${name}`)),
  ]),
)

/** Returns the PDF as the service renders it. */
export async function render(html: string, layout: Parameters<typeof pageOf>[0] = {}): Promise<Uint8Array> {
  return (await rendered(html, layout)).bytes
}

/** Like `render`, with the service's findings about the document. */
export function rendered(
  html: string,
  layout: Parameters<typeof pageOf>[0] = {},
  own: OwnFontFiles = OWN_FONTS,
): Promise<RenderedPdf> {
  fonts ??= {
    regular: noto('400Regular'),
    bold: noto('700Bold'),
    italic: noto('400Regular_Italic'),
    boldItalic: noto('700Bold_Italic'),
    otherRegular: fontFile('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
    otherBold: fontFile('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
  }
  return renderPdf(html, pageOf(layout), fonts, own, MADE_AT)
}

/** Whether PDFs can be read back here. If not, tests only render them. */
export const hasPoppler = ['pdftotext', 'pdftoppm'].every(tool => {
  try {
    execFileSync('which', [tool], { stdio: 'ignore' })
    return true
  } catch {
    console.warn(`SKIPPED: ${tool} (poppler-utils) is not installed, so PDFs are made and not read back.`)
    return false
  }
})

/** Returns the lines of text that are not empty, with runs of blanks as one. */
export const textLines = (pdf: Uint8Array): string[] => textPages(pdf).flat()

/** Like `textLines`, page by page. */
export const textPages = (pdf: Uint8Array): string[][] =>
  execFileSync('pdftotext', ['-layout', '-', '-'], { input: pdf, encoding: 'utf8' })
    // Each page ends with a form feed, including the last.
    .split('\f')
    .slice(0, -1)
    .map(page =>
      page
        .split('\n')
        .map(line =>
          line
            .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
            .replace(/\s+/g, ' ')
            .trim(),
        )
        .filter(line => line !== ''),
    )

/** In points. `middle` is measured from the top of the page. Pages are counted from 0. */
type WordBox = { text: string; page: number; left: number; right: number; middle: number; pageWidth: number }

/** Returns the position of each word. */
export function wordBoxes(pdf: Uint8Array): WordBox[] {
  const found = execFileSync('pdftotext', ['-bbox', '-', '-'], { input: pdf, encoding: 'utf8' })
  return found
    .split('<page ')
    .slice(1)
    .flatMap((text, page) => {
      const pageWidth = Number(/^width="([\d.]+)"/.exec(text)![1])
      const words = text.matchAll(
        /<word xMin="(-?[\d.]+)" yMin="(-?[\d.]+)" xMax="(-?[\d.]+)" yMax="(-?[\d.]+)">(.*)<\/word>/g,
      )
      return [...words].map(([, left, top, right, bottom, word]) => ({
        text: word!,
        page,
        left: Number(left),
        right: Number(right),
        middle: (Number(top) + Number(bottom)) / 2,
        pageWidth,
      }))
    })
}

/** Returns the words that another word overlaps. */
export const coveredIn = (boxes: readonly WordBox[]): WordBox[] =>
  boxes.filter((one, at) =>
    boxes.slice(at + 1).some(other => {
      const isBeside = one.right <= other.left + 0.5 || other.right <= one.left + 0.5
      return one.page === other.page && !isBeside && Math.abs(one.middle - other.middle) < 5
    }),
  )

/** Returns the colours in the picture, as #rrggbb. */
export function coloursOf({ pixels }: Picture): Set<string> {
  const seen = new Set<number>()
  let last = -1
  for (let at = 0; at + 2 < pixels.length; at += 3) {
    const colour = (pixels[at]! << 16) | (pixels[at + 1]! << 8) | pixels[at + 2]!
    if (colour !== last) seen.add(colour)
    last = colour
  }
  return new Set([...seen].map(one => `#${one.toString(16).padStart(6, '0')}`))
}
