// Sizes of boxes, with and without `box-sizing`, and double borders, measured in pictures of the page.
import { describe, expect, test } from 'vitest'
import { pictures } from './pictures.ts'
import { hasPoppler, render } from './tools.ts'

const LAYOUT = { marginTop: '50pt', marginRight: '50pt', marginBottom: '50pt', marginLeft: '50pt' }

/** A pixel per point. Margins end at a whole pixel. */
async function page(html: string) {
  const [picture] = pictures(await render(html, LAYOUT), 72)
  const { width, height, pixels } = picture!
  const isGreen = (x: number, y: number): boolean => {
    const [red, green, blue] = pixels.subarray(3 * (y * width + x))
    return red! < 128 && green! > 128 && blue! < 128
  }
  return { width, height, isGreen }
}

/** Returns the width and height of what is green, in points. */
async function greenSize(html: string): Promise<[width: number, height: number]> {
  const { width, height, isGreen } = await page(html)
  const [rows, columns] = [new Set<number>(), new Set<number>()]
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      if (isGreen(x, y)) {
        rows.add(y)
        columns.add(x)
      }
  const extent = (of: Set<number>): number => Math.max(...of) - Math.min(...of) + 1
  return [extent(columns), extent(rows)]
}

const BOX = 'border: 5pt solid #00ff00; padding: 10pt 20pt'

describe.runIf(hasPoppler)('The size of a box', () => {
  test.each([
    ['without padding and borders', '', 'width: 200pt; height: 60pt', 250, 90],
    ['with border-box', '', 'width: 200pt; height: 60pt; box-sizing: border-box', 200, 60],
    ['with border-box for all', '* { box-sizing: border-box }', 'width: 200pt; height: 60pt', 200, 60],
    ['with border-box for other elements', 'p { box-sizing: border-box }', 'width: 200pt', 250, 44],
    [
      'with border-box that the root gives to all',
      'html { box-sizing: border-box } *, *:before { box-sizing: inherit } div { box-sizing: inherit }',
      'width: 200pt; height: 60pt',
      200,
      60,
    ],
    ['in per cent', '', 'width: 50%', 298, 44],
    ['in per cent with a margin', '', 'width: 50%; margin-left: 30pt', 298, 44],
    ['in per cent with border-box', '', 'width: 50%; box-sizing: border-box', 248, 44],
    ['that is all of the page', '', 'width: 100%', 495, 44],
    ['of a float', '', 'float: left; width: 200pt', 250, 44],
    ['of an inline block', '', 'display: inline-block; width: 50%', 298, 44],
    ['outside of the flow', '', 'position: absolute; top: 0; left: 0; width: 200pt; height: 60pt', 250, 90],
  ])('%s is that of browsers', async (_, sheet, style, width, height) => {
    const size = await greenSize(`<style>${sheet}</style><div style="${BOX}; ${style}">text</div>`)
    expect(size[0]).toBeGreaterThanOrEqual(width - 1)
    expect(size[0]).toBeLessThanOrEqual(width + 1)
    expect(Math.abs(size[1] - height)).toBeLessThanOrEqual(1.5)
  })

  test('of a cell is without its padding, and with it for border-box', async () => {
    const table = (sizing: string): string =>
      `<table><tr><td style="width: 100pt; padding: 0 20pt; background: #00ff00; ${sizing}">text</td><td>next</td></tr></table>`
    expect((await greenSize(table('')))[0]).toBe(140)
    expect((await greenSize(table('box-sizing: border-box')))[0]).toBe(100)
  })

  test('of a table is with its borders', async () => {
    const html =
      '<table style="width: 200pt; border: 5pt solid #00ff00"><tr><td>text</td><td>next</td></tr></table>'
    expect((await greenSize(html))[0]).toBe(200)
  })
})

describe.runIf(hasPoppler)('A double border', () => {
  /** Returns the lengths of alternately green and other pixels, from the first green one. */
  async function stripes(html: string, x: number): Promise<number[]> {
    const { height, isGreen } = await page(html)
    const greens = Array.from({ length: height }, (_, y) => isGreen(x, y))
    return greens
      .slice(greens.indexOf(true), greens.lastIndexOf(true) + 1)
      .reduce<number[]>((lengths, one, at, all) => {
        if (at > 0 && all[at - 1] === one) lengths[lengths.length - 1]! += 1
        else lengths.push(1)
        return lengths
      }, [])
  }

  test.each([
    ['a box', '<div style="border: 9pt double #00ff00; height: 50pt"></div>', 100, [3, 3, 3, 50, 3, 3, 3]],
    [
      'a row',
      '<table style="width: 100%"><tr><td style="border-top: 9pt double #00ff00">x</td></tr></table>',
      400,
      [3, 3, 3],
    ],
    ['a rule', '<hr style="border: 0; border-bottom: 9pt double #00ff00">', 400, [3, 3, 3]],
    ['a line that is too thin for two', '<div style="border-top: 2pt double #00ff00">x</div>', 400, [2]],
  ])('of %s has a gap of a third of its width', async (_, html, x, expected) => {
    expect(await stripes(html, x)).toEqual(expected)
  })

  test('is closed at its corners', async () => {
    const box = '<div style="border: 9pt double #00ff00; height: 50pt; width: 182pt"></div>'
    for (const x of [51, 248]) expect(await stripes(box, x)).toEqual([68])
    for (const x of [54, 245]) expect(await stripes(box, x)).toEqual([3, 62, 3])
    for (const x of [57, 242]) expect(await stripes(box, x)).toEqual([3, 3, 56, 3, 3])
  })
})

test.runIf(hasPoppler).each([
  ['width: 50%', '', 248, 1],
  ['', 'width="100" size="8"', 75, 6],
  ['width: 200pt; height: 4pt', '', 200, 4],
])(
  'a rule with the style "%s" and the attributes "%s" has its size',
  async (style, attributes, width, height) => {
    const html = `<hr ${attributes} style="border: 0; background: #00ff00; ${style}">`
    const size = await greenSize(html)
    expect(Math.abs(size[0] - width)).toBeLessThanOrEqual(1)
    expect(size[1]).toBe(height)
  },
)
