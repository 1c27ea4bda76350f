// No content is outside of the paper or overlaps its neighbour, no matter how wide a template says that it is: content that is
// wider than its room is narrowed, and words break where they must.
import { expect, test } from 'vitest'
import { coveredIn, hasPoppler, render, wordBoxes } from './tools.ts'

const LONG = 'Haftpflichtversicherungsbedingungen'

const cells = (count: number, style: string): string =>
  Array.from({ length: count }, (_, at) => `<td style="${style}">cell${at}</td>`).join('')

test.runIf(hasPoppler).each([
  ['a table that is wider than the page', `<table width="1200"><tr>${cells(3, '')}</tr></table><p>after</p>`],
  ['columns that are wider than the page', `<table><tr>${cells(5, 'width: 240px')}</tr></table>`],
  [
    'a table beyond the cell that it is in',
    `<table><tr><td><table><tr><td style="width:100%"></td><td>${LONG} sums</td></tr></table></td><td>beside ${LONG}</td><td>${LONG}</td></tr></table>`,
  ],
  [
    'a table in a float',
    `<div style="float: left; width: 20%"><table border="1"><tr><td>${LONG}</td><td>${LONG}</td></tr></table></div><div style="float: left; width: 80%">beside</div>`,
  ],
  [
    'floats in a cell',
    `<table width="100%"><tr><td width="50%"><div style="float: left; width: 300px">wide</div><div style="float: left; width: 300px">float</div></td><td>beside</td></tr></table>`,
  ],
  [
    'items of a flex row',
    `<div style="display: flex"><div style="width: 500px">first</div><div style="width: 500px">second</div><div>${LONG}</div></div>`,
  ],
  [
    'items of a flex row with gaps that leave no room',
    `<div style="width: 10pt"><div style="display: flex; gap: 10pt"><div style="width: 50%">i</div><div style="width: 50%">l</div></div></div><p>after</p>`,
  ],
  [
    'a table beside a narrow margin',
    `<style>@page { margin: 10pt }</style><table border="1"><tr><td>${LONG.repeat(2)}</td><td>beside</td></tr></table>`,
  ],
  [
    'margins and padding that leave no room',
    `<table border="1"><tr>${cells(24, 'padding: 0')}<td><blockquote>in</blockquote></td><td><table cellpadding="20"><tr><td>a</td><td>b</td></tr></table></td></tr></table>`,
  ],
])('all text is on the paper and nothing overlaps: %s', async (_, html) => {
  const boxes = wordBoxes(await render(html))
  const letters = (text: string): string => [...text.replace(/\s/g, '')].sort().join('')
  const visible = html.replace(/<style>.*<\/style>/, '').replace(/<[^>]*>/g, '')
  expect(letters(boxes.map(({ text }) => text).join(''))).toBe(letters(visible))
  const beyond = boxes.filter(({ left, right, pageWidth }) => left < 0 || right > pageWidth)
  expect(beyond).toEqual([])
  expect(coveredIn(boxes)).toEqual([])
})

test.runIf(hasPoppler)('a table with a width is wider if its words need it, as in browsers', async () => {
  const html = `<table style="width: 60pt" border="1"><tr><td>${LONG}</td></tr></table>`
  expect(wordBoxes(await render(html)).map(({ text }) => text)).toEqual([LONG])
})
