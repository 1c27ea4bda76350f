// The page of a document comes from its layout, otherwise from its style sheets, otherwise it is A4.
import { expect, test } from 'vitest'
import type { pageOf } from '../page.ts'
import { hasPoppler, render, rendered, textLines } from './tools.ts'

/** Returns width and height of the first page, in points. */
const size = async (css: string, layout: Parameters<typeof pageOf>[0] = {}): Promise<string> => {
  const pdf = await render(`<style>${css}</style><p>text</p>`, layout)
  return /\/MediaBox \[0 0 ([\d.]+ [\d.]+)\]/.exec(Buffer.from(pdf).toString('latin1'))![1]!
}

test.each([
  ['', {}, '595.28 841.89'],
  ['', { pageSize: 'letter' }, '612 792'],
  ['', { pageSize: 'legal', orientation: 'landscape' }, '1008 612'],
  ['@page { size: letter }', {}, '612 792'],
  ['@page { size: landscape }', {}, '841.89 595.28'],
  ['@page { size: B5 landscape }', {}, '708.66 498.9'],
  ['@page { size: 5in 4in }', {}, '360 288'],
  ['@page { size: 4in }', {}, '288 288'],
  ['@page { size: letter }', { pageSize: 'A5' }, '419.53 595.28'],
  ['@page { size: letter }', { orientation: 'landscape' }, '792 612'],
  ['@page { size: 1px 1px }', {}, '595.28 841.89'],
  ['@page { size: 99999in }', {}, '595.28 841.89'],
  ['@page { size: nonsense; margin: nonsense }', {}, '595.28 841.89'],
  [
    '@page :first { size: A3 } @media screen { @page { size: A3 } } @media print { @page { size: A5 } }',
    {},
    '419.53 595.28',
  ],
] as const)('the style %s with the layout %j gives a page of %s points', async (css, layout, expected) => {
  expect(await size(css, layout)).toBe(expected)
})

test.runIf(hasPoppler).each([
  ['a paragraph', '<p>one<br>two<br>three</p>', ['one', 'two', 'three']],
  ['a heading', '<h1>one</h1>', ['one']],
  [
    'paragraphs in cells',
    '<table><tr><td><p>one<br>two<br>three</p></td></tr></table>',
    ['one', 'two', 'three'],
  ],
  ['a heading in a cell', '<table width="100%"><tr><td><h1>one</h1></td></tr></table>', ['one']],
  [
    'a cell with a wide margin beside a short one',
    '<table><tr><td><p style="margin-bottom: 60px">one</p></td><td style="vertical-align: bottom">two</td></tr></table>',
    ['one', 'two'],
  ],
])('%s in header and footer is shown above and below the text', async (_, block, lines) => {
  const pdf = await render(
    `<bindery-header>${block}</bindery-header><h1>text</h1><bindery-footer>${block}</bindery-footer>`,
  )
  expect(textLines(pdf)).toEqual([...lines, 'text', ...lines])
})

test('a heading in a header costs less than 1.5 times as much work as a paragraph', async () => {
  const work = async (block: string) =>
    (await rendered(`<bindery-header>${block}</bindery-header>text`)).work!
  expect(await work('<h1>one</h1>')).toBeLessThan(1.5 * (await work('<p>one</p>')))
})
