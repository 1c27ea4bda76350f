// Where pages break, as in browsers: adjoining breaks are one, and none creates an empty page at the beginning or the end.
import { expect, test } from 'vitest'
import { hasPoppler, render, textPages } from './tools.ts'

const BEFORE = 'page-break-before: always'
const AFTER = 'page-break-after: always'

test.runIf(hasPoppler).each([
  ['before each part', `<div style="${BEFORE}">one</div><div style="${BEFORE}">two</div>`],
  ['after each part', `<div style="${AFTER}">one</div><div style="${AFTER}">two</div>`],
  ['after one and before the next', `<div style="${AFTER}">one</div><div style="${BEFORE}">two</div>`],
  [
    'of blocks within such',
    `<div style="${AFTER}"><p style="${AFTER}">one</p></div><div style="${BEFORE}"><h1 style="${BEFORE}">two</h1></div>`,
  ],
  ['of a part without text', `one<div style="${AFTER}"></div><div style="${BEFORE}">two</div>`],
  ['before and after one part', `<div>one</div><div style="${BEFORE};${AFTER}">two</div>`],
  [
    'within a box',
    `<div style="padding: 3pt"><p style="${BEFORE}">one</p><p style="${BEFORE}">two</p></div>`,
  ],
  [
    'within a width',
    `<div style="width: 400px"><p style="${AFTER}">one</p><p style="${AFTER}">two</p></div>`,
  ],
  [
    'of boxes',
    `<div style="border: 1px solid; ${AFTER}">one</div><div style="padding: 3pt; ${BEFORE}">two</div>`,
  ],
  ['after a rule', `one<hr style="${AFTER}">two`],
  ['before a rule', `one<hr style="${BEFORE}">two`],
  ['of a line break, as word processors write it', `<p>one<br clear="all" style="${BEFORE}">two</p>`],
  ['after a line break', `<div>one<br style="${AFTER}">two</div>`],
  ['of a row without cells', `<table><tr><td>one<tr style="${BEFORE}"></tr><tr><td>two</table>`],
  [
    'of rows without cells',
    `<table><tr><td>one<tr></tr><tr style="${AFTER}"></tr><tr></tr><tr><td>two</table>`,
  ],
  ['of a first row without cells', `one<table><tr style="${BEFORE}"></tr><tr><td>two</table>`],
  ['of a last row without cells', `<table><tr><td>one<tr style="${AFTER}"></tr></table>two`],
  ['of tables', `<table style="${BEFORE}"><tr><td>one</table><table style="${BEFORE}"><tr><td>two</table>`],
])('two parts are on two pages with page breaks %s', async (_, html) => {
  expect(textPages(await render(html))).toEqual([['one'], ['two']])
})

test.runIf(hasPoppler)('page breaks after two parts without text leave an empty page', async () => {
  const html = `one<div style="${AFTER}"></div><div style="${AFTER}"></div>two`
  expect(textPages(await render(html))).toEqual([['one'], [], ['two']])
})

const head = '<thead><tr><th>Head</th></tr></thead>'
const rowsOf = (name: string, style = ''): string =>
  `<tr><td>${name}1</td></tr><tr style="${style}"><td>${name}2</td></tr>`

test.runIf(hasPoppler).each([
  ['before a row', `<table>${rowsOf('a', BEFORE)}</table>`, [['a1'], ['a2']]],
  [
    'before a row below a head',
    `<table>${head}${rowsOf('a', BEFORE)}</table>`,
    [
      ['Head', 'a1'],
      ['Head', 'a2'],
    ],
  ],
  [
    'after a row',
    `<table>${rowsOf('a', AFTER)}${rowsOf('b')}</table>`,
    [
      ['a1', 'a2'],
      ['b1', 'b2'],
    ],
  ],
  [
    'before the first row',
    `one<table>${head}<tr style="${BEFORE}"><td>two</table>`,
    [['one'], ['Head', 'two']],
  ],
  ['after the last row', `<table>${rowsOf('a', AFTER)}</table>end`, [['a1', 'a2'], ['end']]],
  [
    'before and after the only row',
    `one<table><tr style="${BEFORE};${AFTER}"><td>two</table>end`,
    [['one'], ['two'], ['end']],
  ],
  [
    'before and after a row group',
    `<table>${head}<tbody>${rowsOf('a')}</tbody><tbody style="${BEFORE};${AFTER}">${rowsOf('b')}</tbody><tbody>${rowsOf('c')}</tbody></table>`,
    [
      ['Head', 'a1', 'a2'],
      ['Head', 'b1', 'b2'],
      ['Head', 'c1', 'c2'],
    ],
  ],
  [
    'within the rows of a cell, which they cannot separate',
    `<table><tr><td rowspan="2">span</td><td>a</td></tr><tr style="${BEFORE}"><td>b</td></tr></table>`,
    [['span a', 'b']],
  ],
  [
    'of a row of a table in a cell',
    `<table><tr><td><table>${rowsOf('a', BEFORE)}</table></td><td>x</td></tr></table>`,
    [['a1 x'], ['a2']],
  ],
  [
    'in cells of a table in a cell in a box',
    `<div style="padding: 4pt"><table><tr><td><table><tr><td>one<p style="${BEFORE}">two</p><p style="${BEFORE}">three</p></table></table></div>`,
    [['one'], ['two'], ['three']],
  ],
])('page breaks %s', async (_, html, pages) => {
  expect(textPages(await render(html))).toEqual(pages)
})

const AVOID = 'break-inside: avoid'

test.runIf(hasPoppler).each([
  ['rows of a group', `<tbody style="${AVOID}">${rowsOf('a')}${rowsOf('b')}</tbody>`],
  ['rows of a group below a head', `${head}<tbody style="${AVOID}">${rowsOf('a')}${rowsOf('b')}</tbody>`],
  ['a row and the next', `<tr style="break-after: avoid"><td>a1</td></tr><tr><td>b2</td></tr>`],
  [
    'rows that a cell spans',
    `<tr><td rowspan="3">a1</td><td>x</td></tr><tr><td>x</td></tr><tr><td>b2</td></tr>`,
  ],
  ['a long row', `<tr style="${AVOID}"><td>a1 ${'text '.repeat(300)} b2</td></tr>`],
  ['a row beside long rows', `<tr><td>a1<br>x<br>b2</td></tr><tr><td>${'text '.repeat(300)}</td></tr>`],
])('%s stay on one page', async (_, rows) => {
  for (let above = 560; above < 720; above += 16) {
    const html = `<div style="height: ${above}pt"></div><table border="1"><tr><td>first</td></tr>${rows}</table>`
    const pages = textPages(await render(html.replace('<tr><td>first</td></tr><thead>', '<thead>')))
    const pageOf = (name: string): number => pages.findIndex(lines => lines.join(' ').includes(name))
    expect(pageOf('b2'), `${above} points above`).toBe(pageOf('a1'))
    expect(pageOf('a1')).toBeGreaterThanOrEqual(0)
  }
})

test.runIf(hasPoppler)('a table with break-inside: avoid stays on one page', async () => {
  for (const rows of [rowsOf('a').repeat(4), `${head}${rowsOf('a').repeat(4)}`]) {
    const html = `<div style="height: 640pt"></div><table style="${AVOID}">${rows}</table>`
    expect((await render(html).then(textPages)).map(({ length }) => length > 0)).toEqual([false, true])
  }
})

test.runIf(hasPoppler)(
  'a row group that is to stay on one page and is higher than a page breaks',
  async () => {
    const lines = Array.from({ length: 80 }, (_, at) => `line ${at}`)
    const rows = lines.map(line => `<tr><td>${line}</td></tr>`).join('')
    const pages = textPages(await render(`<table>${head}<tbody style="${AVOID}">${rows}</tbody></table>`))
    expect(pages.length).toBe(2)
    expect(pages.flat().filter(line => line !== 'Head')).toEqual(lines)
  },
)
