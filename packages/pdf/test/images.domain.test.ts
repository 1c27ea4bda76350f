// Pictures as cameras and templates write them.
import { deflateSync, inflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { bytePixels } from '../png-palettes.ts'
import { pictures } from './pictures.ts'
import { packedZeros, pngAddress } from './png-files.ts'
import { coloursOf, hasPoppler, render, wordBoxes } from './tools.ts'

/** The first bytes of a JPEG of this size, with the orientation that a camera noted. */
function jpegAddress(width: number, height: number, orientation?: number, isLittle = false): string {
  const short = (value: number): number[] =>
    isLittle ? [value & 255, value >> 8] : [value >> 8, value & 255]
  const long = (value: number): number[] => (isLittle ? [...short(value), 0, 0] : [0, 0, ...short(value)])
  const entry = (tag: number, value: number): number[] => [
    ...short(tag),
    ...short(3),
    ...long(1),
    ...short(value),
    0,
    0,
  ]
  const tiff = [...Buffer.from(isLittle ? 'II' : 'MM'), ...short(42), ...long(8), ...short(2)]
  const notes = [...Buffer.from('Exif\0\0'), ...tiff, ...entry(0x0100, 7), ...entry(0x0112, orientation ?? 1)]
  const segment = (marker: number, data: readonly number[]): number[] => [
    0xff,
    marker,
    (data.length + 2) >> 8,
    (data.length + 2) & 255,
    ...data,
  ]
  const size = [height >> 8, height & 255, width >> 8, width & 255]
  const frame = [8, ...size, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]
  const file = [
    ...[0xff, 0xd8],
    ...(orientation === undefined ? [] : segment(0xe1, notes)),
    ...segment(0xc0, frame),
    ...[0xff, 0xd9],
  ]
  return `data:image/jpeg;base64,${Buffer.from(file).toString('base64')}`
}

/** Returns the height of an image in points. */
async function heightOf(address: string, style = ''): Promise<number> {
  const middleOf = async (image: string): Promise<number> =>
    wordBoxes(await render(`${image}<div>below</div>`)).find(({ text }) => text === 'below')!.middle
  return (await middleOf(`<img src="${address}" style="display: block; ${style}">`)) - (await middleOf(''))
}

test.runIf(hasPoppler).each([
  ['without a note', undefined, false, 90],
  ['held level', 1, false, 90],
  ['upside down', 3, true, 90],
  ['held upright', 6, false, 150],
  ['held upright, by a camera that writes the low byte first', 8, true, 150],
] as const)('a photo %s has the height that it is shown with', async (_, orientation, isLittle, height) => {
  expect(await heightOf(jpegAddress(200, 120, orientation, isLittle))).toBeCloseTo(height, 0)
})

test.runIf(hasPoppler)('a photo of 20 million pixels is accepted', async () => {
  expect(await heightOf(jpegAddress(5_200, 3_900), 'width: 200pt')).toBeCloseTo(150, 0)
})

test.runIf(hasPoppler).each<[string, (address: string) => string]>([
  ['with a character set', address => address.replace(';', ';charset=utf-8;')],
  ['in capitals', address => address.replace('data:image/png;base64', 'DATA:IMAGE/PNG;BASE64')],
  ['with percent-encoded signs', address => address.replace(/[+/=]/g, encodeURIComponent)],
  ['over several lines', address => address.replace(/.{60}/g, '$&\n')],
  ['without the signs at its end', address => address.replace(/=+$/, '')],
])('an address %s is read', async (_, write) => {
  const address = pngAddress(40, 80, 2, packedZeros(80 * (1 + 3 * 40)))
  expect(await heightOf(write(address))).toBeCloseTo(60, 0)
})

describe('a PNG with a palette, transparency and several pixels per byte', () => {
  const head = Buffer.from([0, 0, 0, 4, 0, 0, 0, 2, 4, 3, 0, 0, 0])
  const palette = Buffer.from(
    Array.from({ length: 9 }, (_, at) => (at === 1 ? [255, 0, 0] : [0, 255, 0])).flat(),
  )
  const chunks = [
    { type: 'IHDR', body: head },
    { type: 'PLTE', body: palette },
    { type: 'tRNS', body: Buffer.from([255, 0]) },
    { type: 'IDAT', body: Buffer.alloc(0) },
    { type: 'IEND', body: Buffer.alloc(0) },
  ]
  const rowsWith = (filter: number, ...bytes: number[]) => Buffer.from([0, 0x12, 0x34, filter, ...bytes])
  const made = (rows: Buffer) => bytePixels(chunks, rows, { width: 4, height: 2, bits: 4 })

  test.each([
    [0, 0x56, 0x78],
    [1, 0x56, 0x22],
    [2, 0x44, 0x44],
    [3, 0x4d, 0x33],
    [4, 0x44, 0x22],
  ])('has the same pixels with a byte for each, of rows with filter %i', (filter, first, second) => {
    const file = made(rowsWith(filter, first, second))
    const at = file.indexOf('IDAT')
    const pixels = inflateSync(file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4)))
    expect([...pixels]).toEqual([0, 1, 2, 3, 4, 0, 5, 6, 7, 8])
    expect(file[24]).toBe(8)
  })

  test.runIf(hasPoppler)('prints in full, without the colour that is transparent', async () => {
    const part = (type: string, body: Buffer): Buffer => {
      const [start, check] = [Buffer.alloc(8), Buffer.alloc(4)]
      start.writeUInt32BE(body.length)
      start.write(type, 4, 'latin1')
      return Buffer.concat([start, body, check])
    }
    const data = deflateSync(rowsWith(0, 0x12, 0x34))
    const parts = chunks.map(({ type, body }) => part(type, type === 'IDAT' ? data : body))
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts]).toString('base64')
    const pdf = await render(`<img width="400" src="data:image/png;base64,${png}">`)
    const seen = coloursOf(pictures(pdf)[0]!)
    expect(seen).toContain('#00ff00')
    expect(seen).not.toContain('#ff0000')
  })
})
