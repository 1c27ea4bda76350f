// Margins hide no text: in headers and footers that end in a table, whose last row must fit together with the space below its
// text, and if they are negative.
import { expect, test } from 'vitest'
import { hasPoppler, render, textLines, wordBoxes } from './tools.ts'

const PARAGRAPHS = '<p style="margin: 20px 0">one<br>two</p>'

test.runIf(hasPoppler).each([
  ['paragraphs in a table', `<table><tr><td>${PARAGRAPHS}</td></tr></table>`],
  ['a table in a table', `<table><tr><td><table><tr><td>${PARAGRAPHS}</td></tr></table></td></tr></table>`],
  [
    'a table at the right',
    `<div style="float: right; width: 50%"><table><tr><td>${PARAGRAPHS}</td></tr></table></div>`,
  ],
  [
    'blocks that begin a page',
    '<p style="page-break-before: always">one</p><p style="page-break-after: always">two</p>',
  ],
])('%s in header and footer are in the margins of every page, apart from its text', async (_, html) => {
  const pdf = await render(
    `<bindery-header>${html}</bindery-header><p>text</p><p style="page-break-before: always">more</p><bindery-footer>${html}</bindery-footer>`,
  )
  expect(textLines(pdf)).toEqual(['one', 'two', 'text', 'one', 'two', 'one', 'two', 'more', 'one', 'two'])
})

test.runIf(hasPoppler).each([
  ['above a paragraph', '<p>one</p><p style="margin-top: -900pt">two</p><p>three</p>'],
  ['below a paragraph', '<p style="margin-bottom: -900pt">one</p><p>two</p><p>three</p>'],
  ['below a heading', '<h1 style="margin-bottom: -900pt">one</h1><p>two</p><p>three</p>'],
  ['in a cell', '<table><tr><td>one<p style="margin-top: -900pt">two</p><p>three</p></td></tr></table>'],
])('negative margins %s move no text above the text of the page', async (_, html) => {
  const boxes = wordBoxes(await render(html))
  expect(boxes.map(({ text }) => text).sort()).toEqual(['one', 'three', 'two'])
  for (const { middle } of boxes) expect(middle).toBeGreaterThan(56)
})
