// The documents of the examples as last approved: golden/NAME.txt is the text, and golden/NAME.1.png … are the pages.
// `BINDERY_GOLDEN=write npx vitest run test/documents/examples` writes them again; look at the changes before committing. Runs on
// Node, in the server that reads PDFs (test/support/pdf-reader-server.ts).
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { differences, type Picture, pictures } from '../../packages/pdf/test/pictures.ts'

const FOLDER = 'test/documents/golden'

export type GoldenComparison = { text: string; goldenText: string; differences: string[] }

/** Compares a PDF with the golden one of that name: its text, without numbers of records, and its pages. */
export function comparedWithGolden(name: string, pdf: Buffer): GoldenComparison {
  if (!/^\w+$/.test(name)) throw new Error(`'${name}' is no name of a golden PDF.`)
  const text = textOf(pdf)
  const pages = pictures(pdf)
  const textFile = `${FOLDER}/${name}.txt`
  if (process.env.BINDERY_GOLDEN === 'write') {
    writeFileSync(textFile, `${text}\n`)
    for (const [at, page] of pages.entries()) writeFileSync(pageFile(name, at), pngOf(page))
  }
  if (!existsSync(textFile)) return { text, goldenText: '(none)', differences: [] }
  const found = existsSync(pageFile(name, pages.length)) ? ['the golden PDF has more pages'] : []
  for (const [at, page] of pages.entries())
    if (!existsSync(pageFile(name, at))) found.push(`page ${at + 1} has no golden picture`)
    else
      found.push(
        ...differences(greyed(page), pictureOf(readFileSync(pageFile(name, at)))).map(
          one => `page ${at + 1} at ${one}`,
        ),
      )
  return { text, goldenText: readFileSync(textFile, 'utf8').trim(), differences: found }
}

const pageFile = (name: string, at: number): string => `${FOLDER}/${name}.${at + 1}.png`

/** Lines that are not blank, with single spaces, and with numbers of records, which differ from run to run, as #. */
const textOf = (pdf: Buffer): string =>
  execFileSync('pdftotext', ['-layout', '-', '-'], { input: pdf, encoding: 'utf8' })
    .split(/[\n\f]/)
    .map(line => line.replace(/\s+/g, ' ').trim())
    .filter(line => line !== '')
    .join('\n')
    .replace(/\b1\d{8}\b/g, '#')

/** Sixteen shades of grey, two pixels per byte: a page of text takes about 20 KB. */
const greyOf = (red: number, green: number, blue: number): number =>
  Math.round((red * 0.3 + green * 0.59 + blue * 0.11) / 17)

function greyed({ width, height, pixels }: Picture): Picture {
  const grey = new Uint8Array(pixels.length)
  for (let at = 0; at < pixels.length; at += 3)
    grey.fill(greyOf(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!) * 17, at, at + 3)
  return { width, height, pixels: grey }
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

function pngOf({ width, height, pixels }: Picture): Buffer {
  const line = Math.ceil(width / 2)
  const raw = Buffer.alloc((line + 1) * height)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3
      const grey = greyOf(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!)
      raw[y * (line + 1) + 1 + (x >> 1)]! |= x % 2 === 0 ? grey << 4 : grey
    }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head[8] = 4
  const parts: [string, Buffer][] = [
    ['IHDR', head],
    ['IDAT', deflateSync(raw, { level: 9 })],
    ['IEND', Buffer.alloc(0)],
  ]
  return Buffer.concat([SIGNATURE, ...parts.map(([type, data]) => chunk(type, data))])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** Reads the PNG files that `pngOf` writes. */
function pictureOf(png: Buffer): Picture {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const data = png.subarray(41, 41 + png.readUInt32BE(33))
  const raw = inflateSync(data)
  const line = Math.ceil(width / 2)
  const pixels = new Uint8Array(width * height * 3)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const two = raw[y * (line + 1) + 1 + (x >> 1)]!
      const at = (y * width + x) * 3
      pixels.fill((x % 2 === 0 ? two >> 4 : two & 15) * 17, at, at + 3)
    }
  return { width, height, pixels }
}
