// Sections on pages of their own size, as word processors save them.
import { expect, test } from 'vitest'
import { hasPoppler, render, textPages, wordBoxes } from './tools.ts'

const RULES = `<style>
  @page { size: A4; margin: 50pt }
  @page Wide { size: 841.9pt 595.3pt; margin: 30pt }
  @page Narrow { margin-left: 150pt }
  .wide { page: Wide } .narrow { page: Narrow }
</style>`
/** As word processors write it. */
const BREAK = `<span style="font-size: 11pt"><br clear="all" style="page-break-before: always; mso-break-type: section-break"></span>\n`
const SECTIONS = `${RULES}<div>first</div>${BREAK}<div class="wide">wide<table style="width: 100%"><tr><td>left</td><td align="right">edge</td></tr></table></div>${BREAK}<div class="narrow">narrow</div><div class="narrow">same</div>`

test.runIf(hasPoppler)(
  'each section has the size and margins of its pages, and no empty page before it',
  async () => {
    const words = wordBoxes(await render(SECTIONS)).map(({ text, page, left, pageWidth }) => ({
      text,
      page,
      left: Math.round(left),
      pageWidth: Math.round(pageWidth),
    }))
    expect(words.filter(({ text }) => text !== 'edge')).toEqual([
      { text: 'first', page: 0, left: 50, pageWidth: 595 },
      { text: 'wide', page: 1, left: 30, pageWidth: 842 },
      { text: 'left', page: 1, left: 31, pageWidth: 842 },
      { text: 'narrow', page: 2, left: 150, pageWidth: 595 },
      { text: 'same', page: 2, left: 150, pageWidth: 595 },
    ])
    const edge = wordBoxes(await render(SECTIONS)).find(({ text }) => text === 'edge')!
    expect(edge.right).toBeCloseTo(842 - 30, -0.5)
  },
)

test.runIf(hasPoppler)('headers and footers fit the pages of each section', async () => {
  const margins =
    '<bindery-header><div style="text-align: right">Head <bindery-page-number></bindery-page-number></div></bindery-header><bindery-footer>Foot <bindery-page-count></bindery-page-count></bindery-footer>'
  const pdf = await render(margins + SECTIONS)
  expect(textPages(pdf).map(lines => [lines[0], lines.at(-1)])).toEqual([
    ['Head 1', 'Foot 3'],
    ['Head 2', 'Foot 3'],
    ['Head 3', 'Foot 3'],
  ])
  const heads = wordBoxes(pdf).filter(
    ({ text }, at, all) => /^\d$/.test(text) && all[at - 1]?.text === 'Head',
  )
  expect(heads.map(({ right, pageWidth }) => Math.round(pageWidth - right))).toEqual([50, 30, 50])
})

test.runIf(hasPoppler)(
  'a section over several pages keeps its size, and pages are counted through',
  async () => {
    const rows = '<tr><td>row</td></tr>'.repeat(60)
    const pdf = await render(
      `${RULES}<p>first</p><table class="wide"><thead><tr><th>Head</th></tr></thead>${rows}</table><p>last <bindery-page-number></bindery-page-number> of <bindery-page-count></bindery-page-count></p>`,
    )
    const pages = textPages(pdf)
    expect(pages.flat().filter(line => line === 'row')).toHaveLength(60)
    expect(pages.at(-1)).toEqual([`last ${pages.length} of ${pages.length}`])
    const widths = new Set(
      wordBoxes(pdf)
        .filter(({ text }) => text === 'row')
        .map(({ pageWidth }) => Math.round(pageWidth)),
    )
    expect([...widths]).toEqual([842])
  },
)

test.runIf(hasPoppler)("the document's pageLayout takes precedence over all @page rules", async () => {
  const words = wordBoxes(
    await render(SECTIONS, { pageSize: 'A5', orientation: 'portrait', marginLeft: '60pt' }),
  )
  expect(new Set(words.map(({ pageWidth }) => Math.round(pageWidth)))).toEqual(new Set([420]))
  expect(
    words
      .filter(({ text }) => ['first', 'wide', 'narrow'].includes(text))
      .map(({ left }) => Math.round(left)),
  ).toEqual([60, 60, 60])
})

test.runIf(hasPoppler)('a page break within the end of a section adds no page', async () => {
  const html = `${RULES}<div>first<p>&nbsp;</p><div style="page-break-after: always">end</div><p style="page-break-before: always"></p></div><div class="wide">wide</div>`
  const words = wordBoxes(await render(html)).map(({ text, page, pageWidth }) => [
    text,
    page,
    Math.round(pageWidth),
  ])
  expect(words).toEqual([
    ['first', 0, 595],
    ['end', 0, 595],
    ['wide', 1, 842],
  ])
})

test.runIf(hasPoppler)('a name without rules, and rules without use, change nothing', async () => {
  const html =
    '<style>@page Other { size: A3 } .x { page: Unknown }</style><div class="x">one</div><div>two</div>'
  const words = wordBoxes(await render(html))
  expect(new Set(words.map(({ pageWidth }) => Math.round(pageWidth)))).toEqual(new Set([595]))
})
