// Generated content, and the boxes of lists.
import { describe, expect, test } from 'vitest'
import { PIXEL } from './fixtures.ts'
import { hasPoppler, render, rendered, textLines, wordBoxes } from './tools.ts'

describe.runIf(hasPoppler)('generated content', () => {
  test.each([
    [
      'a sign by its code',
      'li::before { content: "\\2713  " }',
      '<ul style="list-style: none"><li>Locks</ul>',
      ['✓ Locks'],
    ],
    [
      'old selectors',
      'p:before { content: "before " } p:after { content: \' after\' }',
      '<p>middle</p>',
      ['before middle after'],
    ],
    [
      'an attribute',
      'p::after { content: " (" attr(data-form) ")" }',
      '<p data-form="HO 3">m</p>',
      ['m (HO 3)'],
    ],
    ['quotes', 'q::before { content: open-quote } q::after { content: close-quote }', '<q>m</q>', ['“m”']],
    ['nothing', 'p::before { content: none } p::after { content: "x"; display: none }', '<p>m</p>', ['m']],
    [
      'a number of sections and clauses',
      'body { counter-reset: s } h2 { counter-increment: s; counter-reset: c } h2::before { content: counter(s, upper-roman) ". " } h3 { counter-increment: c } h3::before { content: counter(s) "." counter(c, lower-alpha) " " }',
      '<h2>One</h2><h3>x</h3><h3>y</h3><div><h2>Two</h2><h3>z</h3></div>',
      ['I. One', '1.a x', '1.b y', 'II. Two', '2.a z'],
    ],
    [
      'the numbers of nested lists',
      'ol { list-style: none; counter-reset: i } li { counter-increment: i } li::before { content: counters(i, ".") " " }',
      '<ol><li>first<ol><li>b</li><li>c</li></ol></li><li>second<ol><li>e</li></ol></li></ol>',
      ['1 first', '1.1 b', '1.2 c', '2 second', '2.1 e'],
    ],
    [
      'nothing for what is not printed',
      'p { counter-increment: n } p::before { content: counter(n) } .no { display: none }',
      '<p>a</p><p class="no">b</p><p>c</p>',
      ['1a', '2c'],
    ],
  ])('%s', async (_, sheet, html, lines) => {
    expect(textLines(await render(`<style>${sheet}</style>${html}`))).toEqual(lines)
  })

  test('an empty block after floats ends them', async () => {
    const html =
      '<style>.f:after { content: ""; display: table; clear: both }</style><div class="f"><div style="float: left; width: 40%; height: 90pt">left</div></div><p>below</p>'
    const [left, below] = wordBoxes(await render(html))
    expect(below!.left).toBeCloseTo(left!.left, 1)
    expect(below!.middle - left!.middle).toBeGreaterThan(85)
  })

  test('counts each element, and grows with them', async () => {
    const of = async (count: number) =>
      (await rendered(`<style>p::before { content: counter(n) "x" }</style>${'<p>a</p>'.repeat(count)}`))
        .work!
    expect(await of(400)).toBeLessThan(2.2 * (await of(200)))
    await expect(of(3_100)).rejects.toThrow(/more than 6000 elements/)
  })
})

describe.runIf(hasPoppler)('lists', () => {
  test('an item begins after the padding of the list and of its own, and its marker before both', async () => {
    const list = (own: string) => `<ol style="padding-left: 30pt"><li style="${own}">text</li></ol>`
    const [marker, text] = wordBoxes(await render(list('')))
    const [moved, inner] = wordBoxes(await render(list('padding-left: 20pt; background: #eee')))
    expect(inner!.left - text!.left).toBeCloseTo(20, 1)
    expect(moved!.left).toBeCloseTo(marker!.left, 1)
  })

  test('a list without padding begins where its block does', async () => {
    const [text, item] = wordBoxes(
      await render('<p>text</p><ul style="list-style: none; padding-left: 0"><li>item</li></ul>'),
    )
    expect(item!.left).toBeCloseTo(text!.left, 1)
  })

  test('the padding of a list moves what is in it', async () => {
    const html = (padding: string) => `<p>a</p><ul style="margin: 0; ${padding}"><li>b</li></ul><p>c</p>`
    const middles = async (padding: string) =>
      wordBoxes(await render(html(padding)))
        .filter(({ text }) => /^[abc]$/.test(text))
        .map(({ middle }) => middle)
    const [[, b, c], [, lower, last]] = [await middles(''), await middles('padding: 10pt 0 15pt 30pt')]
    expect([lower! - b!, last! - c!]).toEqual([expect.closeTo(10, 1), expect.closeTo(25, 1)])
  })
})

describe.runIf(hasPoppler)('flex rows', () => {
  test('items share the row by their growth, and `flex` gives the width of others', async () => {
    const row = (...items: string[]) =>
      `<div style="display: flex">${items.map((flex, at) => `<div style="flex: ${flex}">w${at}</div>`).join('')}</div>`
    const lefts = async (...items: string[]) =>
      wordBoxes(await render(row(...items), { marginLeft: '0', marginRight: '0' })).map(({ left }) => left)
    const width = 595.28
    expect((await lefts('3', '1'))[1]).toBeCloseTo(width * 0.75, 0)
    expect((await lefts('0 0 calc(50% - 10pt)', '1'))[1]).toBeCloseTo(width / 2 - 10, 0)
  })
})

test.runIf(hasPoppler)(
  'an image is at most as large as its `max-width` and `max-height`, and is not enlarged',
  async () => {
    const below = async (style: string) =>
      wordBoxes(await render(`<img src="${PIXEL}" style="display: block; ${style}"><p>below</p>`))[0]!.middle
    const plain = await below('')
    expect(await below('max-width: 100%; height: auto')).toBeCloseTo(plain, 1)
    const large = await below('width: 100pt')
    expect(large - plain).toBeCloseTo(94, 1)
    expect(await below('width: 100pt; max-width: 40pt')).toBeCloseTo(large - 60, 1)
    expect(await below('width: 100pt; max-height: 50pt')).toBeCloseTo(large - 50, 1)
  },
)
