// Merging PDFs when one of them cannot be trusted: a PDF that would fill the memory or never end is rejected by name.
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { processorClock } from '../../../test/support/scaling.ts'
import { mergePdfs } from '../merge.ts'
import { pngAddress } from './png-files.ts'
import { hasPoppler, render, textLines } from './tools.ts'

type Part = string | Uint8Array
const joined = (parts: readonly Part[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(parts.map(part => Buffer.from(part as string, 'latin1'))))

const PAGES =
  '1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj 2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj 3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>> endobj\n'
const pdf = (...parts: Part[]): Uint8Array<ArrayBuffer> =>
  joined(['%PDF-1.7\n', PAGES, ...parts, '\ntrailer <</Root 1 0 R/Size 9>>\n%%EOF'])
const stream = (entries: string, contents: Uint8Array, filter = '/FlateDecode'): Part[] => [
  `7 0 obj <<${entries}/Length ${contents.length}/Filter${filter}>> stream\n`,
  contents,
  '\nendstream endobj',
]
/** Page trees that each list the next one twice: 2^30 pages in thirty objects. */
const doubling = Array.from(
  { length: 30 },
  (_, at) => `${at + 10} 0 obj <</Type/Pages/Kids[${at + 11} 0 R ${at + 11} 0 R]/Count 2>> endobj\n`,
)

const failure = async (bytes: Uint8Array): Promise<string> =>
  await mergePdfs([{ name: 'own.pdf', bytes }], 'All', 0).then(
    () => 'merged',
    problem => problem.message,
  )

test.each([
  ['as it is', pdf(), 'merged'],
  [
    'that repeats a long page',
    pdf(`3 0 obj <</Type/Page/MediaBox[0 0 99 99]/X[${'1 '.repeat(100_000)}]>> endobj
2 0 obj <</Type/Pages/Kids[${'3 0 R '.repeat(2_000)}]/Count 2000>> endobj`),
    "'own.pdf' cannot be merged: it has more than 33554432 bytes of page descriptions, with those of the files before it.",
  ],
  [
    'whose pages inherit much',
    pdf(
      `2 0 obj <</Type/Pages/Kids[${'3 0 R '.repeat(2_000)}]/Count 2000/Resources<</X[${'1 '.repeat(100_000)}]>>>> endobj`,
    ),
    "'own.pdf' cannot be merged: it has more than 33554432 bytes of page descriptions, with those of the files before it.",
  ],
  [
    'that unpacks to much',
    pdf(...stream('/Type/ObjStm/N 1/First 4', deflateSync(Buffer.alloc(200_000_000)))),
    "'own.pdf' cannot be merged: it has more than 25165824 bytes of unpacked objects.",
  ],
  [
    'that unpacks to much, packed twice',
    pdf(
      ...stream(
        '/Type/ObjStm/N 1/First 4',
        deflateSync(deflateSync(Buffer.alloc(200_000_000))),
        '[/FlateDecode/FlateDecode]',
      ),
    ),
    "'own.pdf' cannot be merged: it has more than 25165824 bytes of unpacked objects.",
  ],
  [
    'of millions of objects',
    pdf(`8 0 obj [${'1 '.repeat(2_000_000)}] endobj`),
    "'own.pdf' cannot be merged: it has more than 400000 objects.",
  ],
  [
    'that says that it has a billion objects',
    pdf(...stream('/Type/XRef/Size 1000000000/W[0 0 0]/Root 1 0 R', deflateSync(Buffer.alloc(9)))),
    'merged',
  ],
  [
    'whose pages are named again and again',
    joined([
      '%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 10 0 R>> endobj\n',
      ...doubling,
      '40 0 obj <</Type/Pages/Kids[]/Count 0>> endobj trailer <</Root 1 0 R/Size 9>>\n%%EOF',
    ]),
    "'own.pdf' cannot be merged: it has more than 2000 pages.",
  ],
  [
    'whose pages are within themselves',
    joined([
      '%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj 2 0 obj <</Type/Pages/Kids[2 0 R]/Count 1>> endobj trailer <</Root 1 0 R/Size 9>>\n%%EOF',
    ]),
    "'own.pdf' cannot be merged: it has more than 2000 pages.",
  ],
  [
    'that nests deep',
    pdf(`8 0 obj ${'['.repeat(300_000)} endobj`),
    /^(?:merged|'own.pdf' cannot be merged: it is not a readable PDF.)$/,
  ],
])('mergePdfs merges or rejects a PDF %s', async (_, bytes, outcome) => {
  expect(await failure(bytes)).toMatch(
    typeof outcome === 'string' ? new RegExp(`^${outcome.replace(/[.()]/g, '\\$&')}$`) : outcome,
  )
})

test.runIf(hasPoppler)(
  'merging the same documents gives the same bytes each time, with all of their text',
  async () => {
    const sources = await Promise.all(
      ['one', 'two'].map(async name => ({ name, bytes: await render(`<p>paper ${name}</p>`) })),
    )
    const [first, again] = [await mergePdfs(sources, 'All', 0), await mergePdfs(sources, 'All', 0)]
    expect(Buffer.compare(first, again)).toBe(0)
    expect(textLines(first)).toEqual(['paper one', 'paper two'])
  },
)

/** A picture of pixels that cannot be compressed. */
function noisyImage(): string {
  let seed = 7
  const row = () => [
    0,
    ...Array.from({ length: 128 * 3 }, () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return seed >>> 24
    }),
  ]
  return pngAddress(128, 128, 2, deflateSync(Uint8Array.from(Array.from({ length: 128 }, row).flat())))
}

test('the descriptions of the pages of all sources count together', async () => {
  const bytes = pdf(`3 0 obj <</Type/Page/MediaBox[0 0 99 99]/X[${'1 '.repeat(100_000)}]>> endobj
2 0 obj <</Type/Pages/Kids[${'3 0 R '.repeat(100)}]/Count 100>> endobj`)
  const source = (name: string) => ({ name, bytes })
  await expect(mergePdfs([source('first.pdf'), source('second.pdf')], 'All', 0)).rejects.toThrow(
    "'second.pdf' cannot be merged: it has more than 33554432 bytes of page descriptions, with those of the files before it.",
  )
})

test('streams that refer to the same long list are compared in linear time', async () => {
  const streams = Array.from(
    { length: 4_000 },
    (_, at) => `${at + 10} 0 obj <</Length 1/List 9 0 R>> stream\n${at % 10}\nendstream endobj\n`,
  )
  const named = streams.map((_, at) => `/X${at} ${at + 10} 0 R`).join('')
  const resources = `<</XObject<<${named}>>>>`
  const bytes = pdf(
    `3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Resources${resources}>> endobj\n`,
    `9 0 obj [${'1 '.repeat(100_000)}] endobj\n`,
    ...streams,
  )
  const taken = processorClock()
  expect(await failure(bytes)).toBe('merged')
  expect(taken()).toBeLessThan(4_000)
})

test('a merged PDF has an image that several documents show only once', async () => {
  const image = noisyImage()
  const paper = (text: string) => render(`<img src="${image}"><p>${text}</p>`)
  const [one, two] = [await paper('one'), await paper('two')]
  const whole = await mergePdfs(
    [
      { name: 'one', bytes: one },
      { name: 'two', bytes: two },
    ],
    'All',
    0,
  )
  expect(image.length).toBeGreaterThan(50_000)
  expect(whole.length).toBeLessThan(one.length + two.length - 0.6 * image.length)
  if (hasPoppler) expect(textLines(whole)).toEqual(['one', 'two'])
})
