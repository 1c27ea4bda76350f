// The cost of a PDF grows in proportion to its text, no matter what the text consists of, and no document costs more than the
// limits.
import bidiFactory from 'bidi-js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timesAsLong } from '../../../test/support/scaling.ts'
import { size } from '../../../test/support/sizes.ts'
import { embeddingLevels } from '../bidi.ts'
import { CONVERSION_LIMITS } from '../limits.ts'
import { rendered } from './tools.ts'

const times = (count: number, text: string): string => text.repeat(count)

const rows = (count: number, cells: string): string => `<table>${times(count, `<tr>${cells}`)}</table>`

/** A document of `size` parts. Each part has about fifty characters. */
const GROWING: readonly (readonly [name: string, html: (size: number) => string])[] = [
  ['a paragraph of Latin text', size => `<p>${times(size * 10, 'word ')}`],
  ['a paragraph of Hebrew text', size => `<p dir="rtl">${times(size * 10, 'שלום ')}`],
  ['a paragraph of Arabic text', size => `<p dir="rtl">${times(size * 10, 'سلام ')}`],
  ['both directions', size => `<p dir="rtl">${times(size * 2, 'שלום abc 123, (سلام) ')}`],
  ['both directions in a paragraph from the left', size => `<p>${times(size * 2, 'שלום abc (سلام) 9 ')}`],
  ['numbers from the right', size => `<p dir="rtl">${times(size * 25, '1 ')}`],
  ['brackets from the right', size => `<p dir="rtl">ש${times(size * 15, '(a)')}`],
  ['isolates', size => `<p dir="rtl">${times(size * 50, '\u2068')}`],
  ['one word', size => `<p>${times(size * 50, 'x')}`],
  ['one word of Hebrew', size => `<p>${times(size * 50, 'ש')}`],
  ['letters of two fonts by turns', size => `<p>${times(size * 15, 'שx')}`],
  ['text that nothing breaks', size => `<p style="white-space:nowrap">${times(size * 10, 'word ')}`],
  ['justified text', size => `<p style="text-align:justify">${times(size * 10, 'word ')}`],
  ['blanks that are kept', size => `<pre>${times(size * 50, ' ')}!</pre>`],
  ['line breaks that are kept', size => `<pre>${times(size * 5, 'abc\n')}</pre>`],
  ['spans', size => `<p>${times(size, '<b>wo</b>x ')}`],
  ['spans within a word', size => `<p>${times(size, '<b>w</b>x')}`],
  ['spans within one another', size => `<p>${times(90, '<b>')}${times(size * 10, 'word ')}`],
  ['paragraphs', size => times(size, '<p>item')],
  ['headings', size => times(size / 2, '<h3>item</h3><p>x')],
  [
    'placed content',
    size =>
      `<div style="position: relative">${times(size / 2, '<p style="position: absolute; top: 5pt">item')}</div>`,
  ],
  [
    'content placed behind',
    size => times(size / 2, '<p style="position: absolute; top: 5pt; z-index: -1">item'),
  ],
  [
    'content placed in the text',
    size => times(size / 2, '<div style="position: absolute; right: 0">a</div><p>item'),
  ],
  ['boxes within a line', size => times(size, '<i style="display: inline-block; width: 9pt"></i>')],
  ['isolated words', size => `<p>${times(size, '<bdi>שx</bdi> ')}`],
  [
    'sections',
    size => `<style>@page W { size: A5 } .w { page: W }</style>${times(size / 20, '<p class="w">a<p>b')}`,
  ],
  ['a list', size => `<ol>${times(size, '<li>item')}</ol>`],
  ['rows of a table', size => rows(size / 4, '<td>a<td>b<td>c')],
  ['cells of a row', size => rows(size / 60, times(60, '<td>a'))],
  ['a cell over many rows', size => rows(1, `<td rowspan="1000">x<td>y${times(size / 4, '<tr><td>a')}`)],
  ['text of a cell', size => rows(1, `<td>${times(size * 10, 'word ')}<td>x`)],
  ['Hebrew text of a cell', size => rows(1, `<td dir="rtl">${times(size * 10, 'שלום ')}<td>x`)],
  ['text within boxes', size => `${times(30, '<div style="padding:1pt">')}${times(size * 10, 'word ')}`],
  ['floats', size => times(size, '<div style="float:left">item</div>')],
  ['text beside a float', size => `<img width="9" height="9000" align="left">${times(size, '<p>item')}`],
  ['inline blocks', size => times(size, '<span style="display:inline-block;width:30pt">item</span> ')],
  ['items of a flex row', size => `<div style="display:flex">${times(size, '<div>item</div>')}</div>`],
  [
    'floats within one another',
    size => times(size / 40, `${times(40, '<div style="float:left">x')}${times(40, '</div>')}`),
  ],
  ['pages', size => times(size / 4, '<p style="page-break-after:always">x')],
  ['classes of an element', size => `<style>.b{color:red}</style><p class="${times(size * 25, 'a ')}">x`],
  ['declarations', size => `<style>p{${times(size * 5, 'color:red;')}}</style><p>x`],
  ['blanks in declarations', size => times(size / 40, `<p style="color:a${times(1_900, ' ')}b">x`)],
]

test.each(GROWING)(
  '%s: the counted work grows in proportion when the document is doubled',
  async (_, html) => {
    const work: number[] = []
    for (const parts of size([80, 160], [120, 240, 480, 960])) work.push((await rendered(html(parts))).work!)
    // Work that does not depend on the size, such as the style of the page, is in all of them.
    for (let at = 1; at < work.length; at += 1) expect(work[at]! / work[at - 1]!).toBeLessThan(2.3)
    expect(work.at(-1)!).toBeGreaterThanOrEqual(work[0]!)
  },
)

/**
 * The work of the engine and its libraries within one step is not counted, so their time is measured for eight times as much
 * text.
 */
test.each(
  GROWING.filter(([name]) =>
    /Hebrew text$|both directions$|numbers|isolates|nothing breaks|blanks that are kept/.test(name),
  ),
)('%s: eight times as much text takes less than 24 times as long', async (_, html) => {
  await rendered(html(100))
  const few = size(125, 500)
  const most = 24
  const [small, large] = [html(few), html(8 * few)]
  // With quadratic work it would take sixty-four times as long. A page with nothing on it takes 20 ms.
  const times = await timesAsLong(
    () => rendered(small),
    () => rendered(large),
    { most, leastMs: 20 },
  )
  expect(times).toBeLessThan(most)
})

const CHARACTERS = [
  ...'aAאבسن19 -+,.%$()[]<>!\n\t',
  ...'\u0301\u200d\u200f\u200e\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u0660\u2329\u3009\u00a0',
]

test('embeddingLevels agrees with bidi-js on the Unicode bidirectional algorithm', () => {
  const bidi = bidiFactory()
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...CHARACTERS), { minLength: 1, maxLength: 60 }),
      fc.constantFrom(undefined, 'ltr' as const, 'rtl' as const),
      (characters, direction) => {
        const text = characters.join('')
        const expected = bidi.getEmbeddingLevels(text, direction)
        const found = embeddingLevels(text, direction)
        expect([...found.levels]).toEqual([...expected.levels])
        expect(found.base).toBe(expected.paragraphs[0]!.level)
      },
    ),
    { numRuns: 3_000 },
  )
})

/** Georgian letters, whose shapes are looked up before others, in a random order, so that no piece of text recurs. */
function letters(count: number): string {
  let state = 1
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647
    return String.fromCharCode(0x10d0 + (state % 32))
  }).join('')
}

const logo = (rects: number): string =>
  `<img src="data:image/svg+xml,<svg width='9' height='9'>${times(rects, "<rect width='1' height='1'/>")}</svg>">`

test.each([
  ['words', `<p>${times(150_100, 'x ')}<bindery-page-count></bindery-page-count>`, '300000 words and blocks'],
  [
    'letters in a narrow column',
    `<div style="width:8pt;font-size:6pt">${letters(60_000)}</div>`,
    'add blanks to them',
  ],
  [
    'heads of tables',
    `<table style="font-size:.2pt"><thead>${times(400, '<tr><td style="border:.1pt solid red;padding:0">h</td></tr>')}</thead>${times(
      400,
      '<tr><td style="font-size:300pt">x',
    )}</table>`,
    'repeated table headings',
  ],
  ['drawings', times(50, logo(2_000)), 'characters in drawings'],
  [
    'clips that are used often',
    `<svg width="10" height="10"><clipPath id="a">${times(1_000, '<rect/>')}</clipPath>${times(
      1_000,
      '<rect clip-path="url(#a)"/>',
    )}</svg>`,
    'characters in drawings',
  ],
  [
    'declarations that match often',
    `<style>${Array.from({ length: 999 }, () => 'p').join()}{${Array.from({ length: 200 }, (_, at) => `a${at}:1`).join(';')}}</style>${times(60, '<p>x')}`,
    'comparisons of elements',
  ],
])(
  'rejects a document whose work does not show in its number of characters: %s',
  async (_, html, message) => {
    await expect(rendered(html)).rejects.toThrow(message)
  },
)

test('renders the longest paragraph within the limits (a fourth in the small size), in either direction', async () => {
  const half = CONVERSION_LIMITS.characters / size(40, 10)
  expect(
    (await rendered(`<p>${times(half, 'word ')}</p><p>${times(half / 2, 'שלום ')}</p>`)).bytes.length,
  ).toBeGreaterThan(10_000)
})
