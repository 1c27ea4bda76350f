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
  ['of tables', `<table style="${BEFORE}"><tr><td>one</table><table style="${BEFORE}"><tr><td>two</table>`],
])('two parts are on two pages with page breaks %s', async (_, html) => {
  expect(textPages(await render(html))).toEqual([['one'], ['two']])
})

test.runIf(hasPoppler)('page breaks after two parts without text leave an empty page', async () => {
  const html = `one<div style="${AFTER}"></div><div style="${AFTER}"></div>two`
  expect(textPages(await render(html))).toEqual([['one'], [], ['two']])
})
