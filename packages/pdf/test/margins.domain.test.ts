// Headers and footers that end in a table, whose last row must fit together with the space below its text.
import { expect, test } from 'vitest'
import { hasPoppler, render, textLines } from './tools.ts'

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
