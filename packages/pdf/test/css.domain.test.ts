// The renderer against its documentation: every line of docs/css.md is rendered, read back, and compared as pictures with a
// browser's print of the same HTML.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { size } from '../../../test/support/sizes.ts'
import { BROWSER, PrintingBrowser } from './browser.ts'
import { FIXTURES } from './fixtures.ts'
import { differences, type Picture, pictures } from './pictures.ts'
import { coloursOf, hasPoppler, render, textPages } from './tools.ts'

/** The margin of both. A whole number of the browser's pixels, to which it rounds its margins. */
const MARGIN_POINTS = 54
const margin = `${MARGIN_POINTS}pt`
const LAYOUT = { marginTop: margin, marginRight: margin, marginBottom: margin, marginLeft: margin }

/** The differences from browsers that docs/css.md documents, as CSS for the browser. */
const OUR_WAYS = `
  :root { font-family: 'Noto Sans', 'DejaVu Sans'; line-height: 1.2; text-rendering: geometricPrecision }
  body { margin: 0 }
  table { border-collapse: collapse }
  table[border] :is(td, th) { border: 0.75pt solid gray }
  [rowspan] { vertical-align: top }
  pre, code { font: inherit }
  sub, sup { font-size: 58% }`

let browser: PrintingBrowser | undefined
beforeAll(async () => {
  if (BROWSER && hasPoppler) browser = await PrintingBrowser.start()
})
afterAll(async () => {
  await browser?.close()
})

/** The browser finds the configuration's fonts by their names. */
const LOCAL_FONT = 'local("DejaVu Sans Mono")'

const printed = (html: string): Promise<Uint8Array> =>
  browser!.print(
    `<!doctype html><style>${OUR_WAYS}</style>${html.replace(/url\([^)]*Mono[^)]*\)/g, LOCAL_FONT)}`,
    {
      printBackground: true,
      paperWidth: 595.28 / 72,
      paperHeight: 841.89 / 72,
      marginTop: MARGIN_POINTS / 72,
      marginRight: MARGIN_POINTS / 72,
      marginBottom: MARGIN_POINTS / 72,
      marginLeft: MARGIN_POINTS / 72,
    },
  )

test('every line of docs/css.md has a fixture, and every fixture has a line', () => {
  const lines = readFileSync('docs/css.md', 'utf8').matchAll(/^\|.*\| `(\w+)`\s*\|$/gm)
  expect([...lines].map(([, name]) => name).sort()).toEqual(Object.keys(FIXTURES).sort())
})

/** These are compared in `npm test`, and all in `npm run test:full`. */
const MOST_TELLING = ['alignment', 'borders', 'colours', 'lists', 'tables', 'widths']

describe.each(Object.entries(FIXTURES))('%s', (name, { html, text, colours = [], pages = 1, alone }) => {
  test.runIf(hasPoppler)('has the expected text, colours and number of pages', async () => {
    const pdf = await render(html)
    const sheets = textPages(pdf)
    expect(sheets).toHaveLength(pages)
    const seen = sheets.flat()
    const known = [...seen]
    for (const line of text) {
      const at = known.findIndex(one => one === line || one === `• ${line}` || one === `◦ ${line}`)
      expect(at, `${line}\nin\n${seen.join('\n')}`).toBeGreaterThanOrEqual(0)
      known.splice(0, at + 1)
    }
    if (colours.length === 0) return
    const all = new Set(pictures(pdf).flatMap(sheet => [...coloursOf(sheet)]))
    for (const colour of colours) expect([...all]).toContain(colour)
  })
  const isCompared = alone === undefined && size(MOST_TELLING.includes(name), true)
  test.runIf(hasPoppler && BROWSER !== undefined && isCompared)(
    'looks like the print of a browser',
    async () => {
      const [ours, theirs] = [pictures(await render(html, LAYOUT)), pictures(await printed(html))]
      expect(ours).toHaveLength(theirs.length)
      expect(ours.flatMap((page, at) => differences(page, theirs[at]!))).toEqual([])
    },
  )
})

const PAGE =
  '<p style="text-align:right">right</p><div style="background:#ffeeee;padding:6pt">box</div><table style="width:60%"><tr><td style="width:50%;border-bottom:0.75pt solid gray">one</td><td>two</td></tr></table><p>after</p>'

describe.runIf(hasPoppler)('The comparison of pages', () => {
  let one: Picture | undefined
  beforeAll(async () => {
    one = pictures(await render(PAGE))[0]
  })

  test('finds no difference between a page and itself', () => {
    expect(differences(one!, one!)).toEqual([])
  })
  test.each([
    ['another alignment', 'text-align:right', 'text-align:center'],
    ['a pale background that is missing', 'background:#ffeeee;', ''],
    ['a pale background of another colour', '#ffeeee', '#eeeeff'],
    ['a hair line that is missing', 'border-bottom:0.75pt solid gray', ''],
    ['a line of another colour', 'solid gray', 'solid red'],
    ['another column width', 'width:50%', 'width:46%'],
    ['another table width', 'width:60%', 'width:64%'],
    ['a margin of 3 points', 'padding:6pt', 'padding:6pt;margin-left:3pt'],
    ['a padding of 3 points less', 'padding:6pt', 'padding:3pt'],
    ['other words', 'after', 'other words'],
    ['letters of another colour', 'two', '<span style="color:red">two</span>'],
  ])('detects %s', async (_, from, to) => {
    const [other] = pictures(await render(PAGE.replace(from, to)))
    expect(differences(one!, other!)).not.toEqual([])
  })
})
