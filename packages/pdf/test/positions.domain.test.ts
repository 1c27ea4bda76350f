// Content outside of the flow: where it is placed, that it takes no room, and that nothing of it is lost.
import { expect, test } from 'vitest'
import { hasPoppler, render, textPages, wordBoxes } from './tools.ts'

/** The text area of the page: 40 pt from each side. */
const LAYOUT = { marginTop: '40pt', marginRight: '40pt', marginBottom: '40pt', marginLeft: '40pt' }
const [PAGE_WIDTH, PAGE_HEIGHT, MARGIN] = [595.28, 841.89, 40]

const placesOf = async (html: string) =>
  wordBoxes(await render(`<style>body { font-size: 10pt }</style>${html}`, LAYOUT))
const placeOf = async (html: string, word: string) => {
  const found = (await placesOf(html)).filter(({ text }) => text === word)
  expect(found).toHaveLength(1)
  return found[0]!
}

const at = (style: string, text = 'logo'): string => `<div style="position: absolute; ${style}">${text}</div>`
const CONTAINER = 'position: relative; width: 200pt; height: 100pt'
/** Half of a line of 10 pt. */
const HALF = 6

test.runIf(hasPoppler)('offsets are distances from the text area of the first page', async () => {
  const logo = await placeOf(`<p>text</p>${at('top: 30pt; left: 60pt')}`, 'logo')
  expect(logo.left).toBeCloseTo(MARGIN + 60, 0)
  expect(logo.middle).toBeCloseTo(MARGIN + 30 + HALF, -0.5)
  const stamp = await placeOf(`<p>text</p>${at('bottom: 0; right: 0')}`, 'logo')
  expect(stamp.right).toBeCloseTo(PAGE_WIDTH - MARGIN, 0)
  expect(stamp.middle).toBeCloseTo(PAGE_HEIGHT - MARGIN - HALF, -0.5)
})

test.runIf(hasPoppler)('offsets are distances from the nearest element with a position', async () => {
  const around = (inner: string, style = ''): string =>
    `<p style="margin: 0">above</p><div style="${CONTAINER}; ${style}">${inner}</div><p>below</p>`
  const corner = await placesOf(around(at('bottom: 0; right: 0')))
  const [above, logo] = ['above', 'logo'].map(word => corner.find(({ text }) => text === word)!)
  expect(logo!.right).toBeCloseTo(MARGIN + 200, 0)
  expect(logo!.middle).toBeCloseTo(above!.middle + 100, -0.5)
  const bordered = await placeOf(around(at('top: 0; left: 0'), 'border: 5pt solid; padding: 20pt'), 'logo')
  expect(bordered.left).toBeCloseTo(MARGIN + 5, 0)
})

test.runIf(hasPoppler)('content outside of the flow takes no room', async () => {
  const [one, two] = (
    await placesOf(`<p>one</p>${at('top: 300pt')}${at('right: 0', 'beside')}<p>two</p>`)
  ).filter(({ text }) => ['one', 'two'].includes(text))
  const [first, second] = await placesOf('<p>one</p><p>two</p>')
  expect([one!.middle, two!.middle]).toEqual([first!.middle, second!.middle])
})

test.runIf(hasPoppler)('without top and bottom, it is next to the block after it', async () => {
  const boxes = await placesOf(`<p>above</p>${at('right: 0')}<p>beside</p>`)
  const [logo, beside] = ['logo', 'beside'].map(word => boxes.find(({ text }) => text === word)!)
  expect(logo!.middle).toBeCloseTo(beside!.middle, 0)
  expect(logo!.right).toBeCloseTo(PAGE_WIDTH - MARGIN, 0)
})

test.runIf(hasPoppler)('fixed content is on every page, with the number of the page', async () => {
  const fixed =
    '<div style="position: fixed; bottom: 0; right: 0">SPECIMEN <bindery-page-number></bindery-page-number></div>'
  const pages = textPages(
    await render(`${fixed}<p>one</p><p style="page-break-before: always">two</p>`, LAYOUT),
  )
  expect(pages).toEqual([
    ['one', 'SPECIMEN 1'],
    ['two', 'SPECIMEN 2'],
  ])
})

const KEPT: Readonly<Record<string, (html: string) => string>> = {
  'a table row': html =>
    `<table><tr><td>cell</td><td><div style="${CONTAINER}">${html}</div></td></tr></table>`,
  'a cell with a position': html =>
    `<table><tr><td style="position: relative; height: 80pt">cell${html}</td></tr></table>`,
  'a block that is kept together': html =>
    `<div style="page-break-inside: avoid"><div style="${CONTAINER}">inside${html}</div></div>`,
  'a float': html => `<div style="float: right; ${CONTAINER}">float${html}</div><p>text</p>`,
  'a flex item': html =>
    `<div style="display: flex"><div style="${CONTAINER}">item${html}</div><div>other</div></div>`,
  'a list': html => `<ul><li style="position: relative">item${html}</li></ul>`,
  'a heading': html => `<h2 style="position: relative">heading${html}</h2><p>text</p>`,
  'a header': html =>
    `<bindery-header><div style="${CONTAINER}; height: 50pt">head${html}</div></bindery-header><p>text</p>`,
  'an element outside of the flow': html =>
    `<div style="position: absolute; top: 90pt; left: 0; width: 90pt">outer${html}</div>`,
  'an element without content': html => `<div style="${CONTAINER}">${html}</div>`,
}

test.runIf(hasPoppler).each(Object.entries(KEPT))(
  'in %s, nothing is lost at any place on a page',
  async (_, around) => {
    for (const above of [0, 600, 660, 700, 740]) {
      const html = `<div style="height: ${above}pt">space</div>${around(at('bottom: 0; right: 0', 'corner') + at('top: -2000pt', 'high'))}<p>end</p>`
      const words = await placesOf(html)
      for (const word of ['corner', 'high', 'end']) {
        const found = words.filter(({ text }) => text === word)
        expect(new Set(found.map(({ page }) => page)).size, `${word} below ${above}`).toBe(found.length)
        expect(found.length, `${word} below ${above}`).toBeGreaterThan(0)
        const { left, right, middle } = found[0]!
        expect(left >= 0 && right <= PAGE_WIDTH && middle > 0 && middle < PAGE_HEIGHT, word).toBe(true)
      }
    }
  },
)

test.runIf(hasPoppler)('what cannot be placed stays in the text', async () => {
  const tab = '<span style="position: absolute; left: 90pt">value</span>'
  const inLine = textPages(await render(`<p>name ${tab}<br>other</p>`))
  expect(inLine).toEqual([['name value', 'other']])
  const high = textPages(await render(`<p>text</p>${at('top: 0', '<p>high</p>'.repeat(60))}`))
  expect(high.flat().filter(line => line === 'high')).toHaveLength(60)
  const header = textPages(await render(`<bindery-header>head${at('top: 0')}</bindery-header><p>text</p>`))
  expect(header.flat()).toEqual(['head', 'logo', 'text'])
})

test.runIf(hasPoppler)('content beyond the paper moves onto it', async () => {
  for (const style of [
    'top: -900pt; left: -900pt',
    'top: 5000pt; left: 5000pt',
    'right: -900pt; bottom: -900pt',
  ]) {
    const { left, right, middle } = await placeOf(`<p>text</p>${at(style)}`, 'logo')
    expect(left >= 0 && right <= PAGE_WIDTH && middle > 0 && middle < PAGE_HEIGHT, style).toBe(true)
  }
})

test.runIf(hasPoppler)('a place on a later page is that of the later page', async () => {
  const logo = await placeOf(
    `<p>one</p><p style="page-break-before: always">two</p>${at('top: 800pt')}`,
    'logo',
  )
  expect(logo.page).toBe(1)
})

test.runIf(hasPoppler)(
  'elements within each other that are higher than the page do not multiply the work',
  async () => {
    const nested = `${'<div style="position: absolute; top: 0">'.repeat(80)}${'<p>high</p>'.repeat(60)}`
    const pages = textPages(await render(nested))
    expect(pages.flat().filter(line => line === 'high')).toHaveLength(60)
  },
)
