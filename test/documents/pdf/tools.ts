// PDFs read back with poppler's tools, and made by a browser to compare with; each may be missing on a machine.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { renderPdf } from '../../../src/bundles/renderer.bundle.mjs'
import type { FontFiles } from '../../../src/documents/pdf/fonts.ts'
import { pageOf } from '../../../src/documents/pdf/page.ts'

const fontFile = (path: string): ArrayBuffer => {
  const { buffer, byteOffset, byteLength } = readFileSync(`node_modules/${path}`)
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}
const noto = (name: string): ArrayBuffer =>
  fontFile(`@expo-google-fonts/noto-sans/${name}/NotoSans_${name}.ttf`)

let fonts: FontFiles | undefined

/** The PDF as the service makes it. */
export function render(html: string, layout: Parameters<typeof pageOf>[0] = {}): Promise<Uint8Array> {
  fonts ??= {
    regular: noto('400Regular'),
    bold: noto('700Bold'),
    italic: noto('400Regular_Italic'),
    boldItalic: noto('700Bold_Italic'),
    otherRegular: fontFile('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
    otherBold: fontFile('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
  }
  return renderPdf(html, pageOf(layout), fonts)
}

function isInstalled(...names: string[]): string | undefined {
  for (const name of names)
    try {
      execFileSync('which', [name], { stdio: 'ignore' })
      return name
    } catch {}
  return undefined
}

const missing = (tool: string): false => {
  console.warn(`SKIPPED: ${tool} is not installed, so PDFs are made and not read back.`)
  return false
}

export const hasPoppler = isInstalled('pdftotext') !== undefined || missing('pdftotext (poppler-utils)')
export const browser = isInstalled('chromium', 'chromium-browser', 'google-chrome')
if (!browser) missing('a browser to compare with (chromium)')

function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-pdf-'))
  try {
    return work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Lines of the text with something in them, blanks as one. */
export const textLines = (pdf: Uint8Array): string[] =>
  inFolder(folder => {
    const file = join(folder, 'document.pdf')
    writeFileSync(file, pdf)
    return execFileSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8' })
      .split(/[\n\f]/)
      .map(line =>
        line
          .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
          .replace(/\s+/g, ' ')
          .trim(),
      )
      .filter(line => line !== '')
  })

export type Picture = { width: number; height: number; pixels: Uint8Array }

/** The pages as pictures of three bytes a pixel. */
export const pictures = (pdf: Uint8Array, dotsPerInch: number): Picture[] =>
  inFolder(folder => {
    const file = join(folder, 'document.pdf')
    writeFileSync(file, pdf)
    execFileSync('pdftoppm', ['-r', String(dotsPerInch), file, join(folder, 'page')])
    return execFileSync('ls', [folder], { encoding: 'utf8' })
      .split('\n')
      .filter(name => name.endsWith('.ppm'))
      .sort()
      .map(name => readPicture(readFileSync(join(folder, name))))
  })

function readPicture(file: Buffer): Picture {
  const head = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(file.subarray(0, 40).toString('latin1'))!
  return { width: Number(head[1]), height: Number(head[2]), pixels: file.subarray(head[0].length) }
}

/** Colours seen, as #rrggbb. */
export function coloursOf({ pixels }: Picture): Set<string> {
  const seen = new Set<number>()
  for (let at = 0; at + 2 < pixels.length; at += 3)
    seen.add((pixels[at]! << 16) | (pixels[at + 1]! << 8) | pixels[at + 2]!)
  return new Set([...seen].map(one => `#${one.toString(16).padStart(6, '0')}`))
}

/** The same HTML printed by the browser, with the same margins. */
export const printed = (html: string): Uint8Array =>
  inFolder(folder => {
    const [page, file] = [join(folder, 'page.html'), join(folder, 'page.pdf')]
    writeFileSync(
      page,
      `<style>@page { size: A4; margin: 20mm } body { margin: 0; font-family: 'DejaVu Sans' }</style>${html}`,
    )
    execFileSync(
      browser!,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--no-pdf-header-footer',
        `--print-to-pdf=${file}`,
        page,
      ],
      { stdio: 'ignore', timeout: 60_000 },
    )
    return readFileSync(file)
  })
