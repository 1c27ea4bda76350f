// Content that is kept on one page if possible, and breaks if it is taller than a page. None of it is lost.
import { expect, test } from 'vitest'
import { coveredIn, hasPoppler, render, textPages, wordBoxes } from './tools.ts'

const lines = (count: number, tag = 'p'): string =>
  Array.from({ length: count }, (_, at) => `<${tag}>line ${at}</${tag}>`).join('')

const rows = (count: number): string =>
  Array.from({ length: count }, (_, at) => `<tr><td>line ${at}</td><td>x</td></tr>`).join('')

const numbersOf = (pages: string[][]): number[] =>
  pages.flat().flatMap(line => [...line.matchAll(/line (\d+)/g)].map(([, number]) => Number(number)))

test.runIf(hasPoppler).each([
  ['a cell', `<table border="1"><tr><td>${lines(80)}</td><td>beside</td></tr></table>`],
  ['a cell of broken lines', `<table><tr><td>${lines(120, 'div')}</td></tr></table>`],
  [
    'the first row below a head',
    `<table><thead><tr><th>Head</th></tr></thead><tr><td>${lines(80)}</td></tr></table>`,
  ],
  [
    'the head of a table',
    `<table><thead><tr><th>${lines(80)}</th></tr></thead><tr><td>row</td></tr></table>`,
  ],
  ['a table in a cell', `<table><tr><td><table border="1">${rows(100)}</table></td></tr></table>`],
  [
    'a table in a cell in a cell',
    `<table><tr><td><table><tr><td><table>${rows(100)}</table></td></tr></table></td></tr></table>`,
  ],
  ['a part that is not to be broken', `<div style="page-break-inside: avoid">${lines(80)}</div>`],
  [
    'a cell with a page break',
    `<table><tr><td><p>line 0</p><div style="page-break-after: always"></div><p>line 1</p></td></tr></table>`,
  ],
])('all of %s is shown, on more than one page', async (_, html) => {
  const pages = textPages(await render(`<p>before</p>${html}<p>after</p>`))
  const shown = numbersOf(pages)
  expect(shown).toEqual(Array.from({ length: html.match(/line \d/g)!.length }, (_, at) => at))
  expect(pages.length).toBeGreaterThan(1)
  expect(pages[0]).toContain('before')
  expect(pages.at(-1)).toContain('after')
})

test.runIf(hasPoppler)(
  'a part that fits on a page stays on one, next to a part that does not fit',
  async () => {
    const part = `<div style="page-break-inside: avoid">${lines(20)}</div>`
    const tall = `<div style="page-break-inside: avoid">${lines(80)}</div>`
    const pages = textPages(await render(part + part + tall + part))
    const kept = numbersOf([pages[0]!])
    expect(kept).toEqual(Array.from({ length: 20 }, (_, at) => at))
    expect(numbersOf([pages[1]!]).slice(0, 20)).toEqual(kept)
    expect(numbersOf([pages.at(-1)!]).slice(-20)).toEqual(kept)
  },
)

test.runIf(hasPoppler).each([0, 20, 40])(
  'all rows are shown after a row that may break, %d pixels further down',
  async more => {
    const long = `<tr><td>${'text '.repeat(400)}</td><td>x</td></tr>`
    const pages = textPages(
      await render(`<p style="height: ${more}px"></p><table>${long}${rows(60)}</table><p>after</p>`),
    )
    expect(numbersOf(pages)).toEqual(Array.from({ length: 60 }, (_, at) => at))
    expect(pages.at(-1)).toContain('after')
  },
)

test.runIf(hasPoppler).each([
  ['', ''],
  [
    '<thead><tr><th rowspan="2">Head</th><th>of</th></tr><tr><th>two rows</th></tr></thead>',
    ', below a head',
  ],
])('a cell over several rows is shown at the end of a page%.0s%s', async head => {
  for (let above = 40; above < 51; above += 2) {
    const cells = `<tr><td rowspan="3">${lines(6)}</td><td>a</td></tr><tr><td>line 6</td></tr><tr><td>line 7</td></tr>`
    const html = `${'<div>above</div>'.repeat(above)}<table border="1">${head}${cells}</table><p>after</p>`
    const pages = textPages(await render(html))
    expect(numbersOf(pages).sort(), `${above} lines above`).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(pages.at(-1)).toContain('after')
  }
})

test.runIf(hasPoppler)('an empty cell over several rows hides nothing', async () => {
  const html = `<table border="1"><tr><td rowspan="2"></td><td>line 0</td></tr><tr><td>line 1</td></tr></table><p>after</p>`
  expect(textPages(await render(html))).toEqual([['line 0', 'line 1', 'after']])
})

test.runIf(hasPoppler)('rows do not overlap after a heading has moved to the next page', async () => {
  const tall = '<br>line'.repeat(5)
  const rows = Array.from({ length: 12 }, (_, at) => {
    const span = at % 3 === 0 ? '<td rowspan="3">span</td>' : ''
    return `<tr>${span}<td>row</td><td>tall${tall}</td></tr>`
  })
  const above = '<div>above</div>'.repeat(38)
  const html = `${above}<h2>Heading</h2><p style="font-size: 90pt">Q</p><table border="1">${rows.join('')}</table>`
  const boxes = wordBoxes(await render(html))
  expect(coveredIn(boxes)).toEqual([])
  expect(boxes.filter(({ text }) => text === 'row')).toHaveLength(12)
})

test.runIf(hasPoppler)(
  'cells next to a cell over two rows that breaks do not overlap the next row',
  async () => {
    const cell = (count: number): string => `<td>${'line<br>'.repeat(count)}</td>`
    const row = (at: number): string => `<tr>${cell(1)}${cell(1)}${cell(at % 5 === 4 ? 3 : 1)}</tr>`
    const rows = Array.from({ length: 20 }, (_, at) => {
      if (at === 2) return `<tr><td rowspan="2">${'line<br>'.repeat(8)}</td>${cell(1)}${cell(1)}</tr>`
      return at === 3 ? `<tr>${cell(1)}${cell(1)}</tr>` : row(at)
    })
    for (let above = 44; above < 51; above += 1) {
      const html = `${'<div>above</div>'.repeat(above)}<table border="1" width="100%">${rows.join('')}</table>`
      expect(coveredIn(wordBoxes(await render(html))), `${above} lines above`).toEqual([])
    }
  },
)

test.runIf(hasPoppler)('a cell over columns into which a cell above reaches is shown', async () => {
  const html = `<table border="1"><tr><td>line 0</td><td rowspan="3">line 1</td></tr><tr><td colspan="2">line 2</td></tr><tr><td>line 3</td><td>line 4</td></tr></table>`
  expect(numbersOf(textPages(await render(html))).sort()).toEqual([0, 1, 2, 3, 4])
})

test.runIf(hasPoppler)('the rows of a cell over several rows include those without cells', async () => {
  const html = `<table border="1"><tr><td rowspan="2">line 0</td><td>line 1</td></tr><tr></tr><tr><td>line 2</td><td>line 3</td></tr></table>`
  expect(textPages(await render(html))).toEqual([['line 0 line 1', 'line 2 line 3']])
})

test.runIf(hasPoppler)('content of a list outside of its items is shown without a marker', async () => {
  const html = '<ol>line <b>0</b><li>line 1</li>line 2<p>line 3</p><li>line 4</ol><ul>line 5</ul>'
  expect(textPages(await render(html))).toEqual([
    ['line 0', '1. line 1', 'line 2', 'line 3', '2. line 4', 'line 5'],
  ])
})

test.runIf(hasPoppler)('the marker of a list item is on the page of its text', async () => {
  for (let above = 600; above < 615; above += 1) {
    const html = `<div style="height: ${above}pt"></div><ol>${'<li>item</li>'.repeat(12)}</ol>`
    const items = textPages(await render(html)).flat()
    expect(
      items.filter(line => line.endsWith('item')),
      `${above} points above`,
    ).toEqual(Array.from({ length: 12 }, (_, at) => `${at + 1}. item`))
  }
})
