// Content that is kept together but is higher than a page breaks, and no part of a document is lost.
import { expect, test } from 'vitest'
import { coveredIn, hasPoppler, rendered, textLines, wordBoxes } from './tools.ts'

const LINES = Array.from({ length: 90 }, (_, at) => `line${at}`)
const TALL = LINES.join('<br>')

test.runIf(hasPoppler).each([
  ['a cell of many short lines', `<table border="1"><tr><td>${TALL}</td><td>beside</td></tr></table>`],
  [
    'the first row after a head',
    `<table><thead><tr><th>Head</th></tr></thead><tr><td>${TALL}</td></tr></table>`,
  ],
  ['the head of a table', `<table><thead><tr><th>${TALL}</th></tr></thead><tr><td>x</td></tr></table>`],
  [
    'a cell over two rows',
    `<table><tr><td rowspan="2">${TALL}</td><td>a</td></tr><tr><td>b</td></tr></table>`,
  ],
  [
    'a table within a cell',
    `<table><tr><td><table><tr><td>${TALL}</td></tr></table></td><td>b</td></tr></table>`,
  ],
  ['a block that is to be kept together', `<p>x</p><div style="page-break-inside: avoid">${TALL}</div>`],
  [
    'such a block within another, with a heading before it',
    `<h1>x</h1><div style="page-break-inside: avoid"><p style="page-break-inside: avoid; border: 1px solid">${TALL}</p></div>`,
  ],
  [
    'a cell beside a narrow one that is higher than a page',
    `<table><tr><td><div style="width: 40pt; font-size: 8pt">${TALL}</div></td><td><div style="width: 60pt">begin<br>${'beside<br>'.repeat(40)}end</div></td></tr></table>`,
  ],
  ['a float', `<div style="float: left">${TALL}</div><div style="float: right">beside</div>`],
  ['what is beside a float', `<div style="float: right; width: 40%">beside</div><div>${TALL}</div>`],
  ['an inline block', `<span style="display: inline-block; width: 40pt">${TALL}</span> beside`],
  ['an item of a flex row', `<div style="display: flex"><div>${TALL}</div><div>beside</div></div>`],
  ['a row with a height', `<p>${TALL}</p><table><tr style="height: 3000px"><td>row</td></tr></table>`],
])('no text is lost when pages break within %s', async (_, html) => {
  const { bytes } = await rendered(`<p>before</p>${html}<p>after</p>`)
  const words = textLines(bytes).join(' ').split(/\s+/)
  expect(LINES.filter(line => !words.includes(line))).toEqual([])
  const own = ['row', 'begin', 'beside', 'end'].filter(word => html.includes(`${word}<`))
  const others = ['before', ...own, 'after']
  expect(others.filter(word => !words.includes(word))).toEqual([])
})

test('a block that fits on a page stays whole, even if another one is too tall for a page', async () => {
  const lines = (count: number): string => '<br>line'.repeat(count)
  const kept = (count: number): string => `<div style="page-break-inside: avoid">Block ${lines(count)}</div>`
  const pages = ({ bytes }: { bytes: Uint8Array }): number =>
    Buffer.from(bytes)
      .toString('latin1')
      .match(/\/Type \/Page\b(?!s)/g)?.length ?? 0
  expect(pages(await rendered(kept(30) + kept(30)))).toBe(2)
  expect(pages(await rendered(`${kept(30)}${kept(30)}${kept(120)}`))).toBe(5)
})

test.runIf(hasPoppler)(
  'a letter that is taller than its page is cut off, and the text continues after it',
  async () => {
    const html = '<p>before</p><p style="font-size: 400pt">Q</p><p>after</p>'
    const { bytes } = await rendered(html, { pageSize: 'A5', orientation: 'landscape' })
    expect(textLines(bytes).join(' ').split(/\s+/)).toEqual(expect.arrayContaining(['before', 'Q', 'after']))
  },
)

test.runIf(hasPoppler)('only words that would push a column off the paper are broken', async () => {
  const long = 'Binnenschifffahrtshaftpflichtversicherungsgesellschaft'.repeat(2)
  const table = (word: string): string =>
    `<table border="1"><tr><td>DE89370400440532013000</td><td>${word}</td><td>1.234.567,89</td></tr></table>`
  const words = async (word: string) =>
    textLines((await rendered(table(word))).bytes)
      .join(' ')
      .split(/\s+/)
  const broken = await words(long)
  expect(broken).not.toContain(long)
  expect(broken).toEqual(expect.arrayContaining(['DE89370400440532013000', '1.234.567,89']))
  expect(broken.filter(word => !/\d/.test(word)).join('')).toBe(long)
  expect(await words('Versicherungsgesellschaft')).toContain('Versicherungsgesellschaft')
})

test.runIf(hasPoppler)('no letter overlaps its neighbour in a table of many columns', async () => {
  const cells = (tag: string, text: string): string => `<${tag}>${text}</${tag}>`.repeat(45)
  const html = `<table width="100%"><tr>${cells('th', 'WMW')}</tr><tr>${cells('td', '<p>WM</p>10,000')}</tr></table>`
  const boxes = wordBoxes((await rendered(html)).bytes)
  expect(coveredIn(boxes)).toEqual([])
  expect(
    boxes
      .map(({ text }) => text)
      .join('')
      .match(/W/g),
  ).toHaveLength(45 * 3)
})

test('text keeps its size in a column that is as narrow as a letter', async () => {
  const table = (widths: string): string => `<table><tr><td ${widths}>1</td><td>2</td></tr></table>`
  const text = async (html: string): Promise<string> =>
    Buffer.from((await rendered(html)).bytes)
      .toString('latin1')
      .replace(/\/ID \[.*?\]/s, '')
  expect(await text(table('width="1"'))).toBe(await text(table('')))
})
