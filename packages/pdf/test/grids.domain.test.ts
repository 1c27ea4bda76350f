// Grids and flex rows: where their items are, in points from the left side of the paper. The margins are 20 mm (56.7 points).
import { describe, expect, test } from 'vitest'
import { CONVERSION_LIMITS } from '../limits.ts'
import { coveredIn, hasPoppler, render, rendered, textPages, wordBoxes } from './tools.ts'

const PAGE = { marginLeft: '50pt', marginRight: '45.28pt' }

/** Returns where each word begins, in a text area from 50 to 550 points. */
async function lefts(html: string): Promise<Record<string, number>> {
  const boxes = wordBoxes(await render(html, PAGE))
  return Object.fromEntries(boxes.map(({ text, left }) => [text, Math.round(left)]))
}

const grid = (columns: string, items: string, style = ''): string =>
  `<div style="display:grid;grid-template-columns:${columns};${style}">${items}</div>`

const items = (...names: string[]): string => names.map(name => `<div>${name}</div>`).join('')

describe.runIf(hasPoppler)('a grid', () => {
  test.each([
    ['1fr 3fr', '', { a: 50, b: 175 }],
    ['1fr 1fr 200pt', '', { a: 50, b: 200, c: 350 }],
    ['100px 25% 1fr', '', { a: 50, b: 125, c: 250 }],
    ['repeat(4, 1fr)', 'gap: 20pt', { a: 50, b: 180, c: 310 }],
    ['[start] 100pt [main] minmax(0, 1fr) 100pt', 'column-gap: 50pt', { a: 50, b: 200, c: 450 }],
    ['repeat(2, 50pt 100pt)', '', { a: 50, b: 100, c: 200 }],
    ['repeat(auto-fill, minmax(150pt, 1fr))', 'gap: 10pt', { a: 50, b: 220, c: 390 }],
    ['100pt 100pt', '', { a: 50, b: 150, c: 50 }],
  ])('with the columns %s has its items at these places', async (columns, style, expected) => {
    expect(await lefts(grid(columns, items('a', 'b', 'c'), style))).toMatchObject(expected)
  })

  test('places items by the lines that they ask for, and the others around them', async () => {
    const html = grid(
      'repeat(5, 100pt)',
      '<div style="grid-column: 2 / 4">a</div><div>b</div><div style="grid-column: span 2">c</div><div style="grid-column: -2">d</div><div style="grid-row: 1; grid-column: 1">e</div>',
    )
    expect(await lefts(html)).toEqual({ e: 50, a: 150, b: 350, c: 50, d: 450 })
    const lines = textPages(await render(html, PAGE)).flat()
    expect(lines).toEqual(['e a b', 'c d'])
  })

  test('lets an item span rows', async () => {
    const html = grid('100pt 100pt', `<div style="grid-row: span 2">tall</div>${items('b', 'c', 'd')}`)
    expect(await lefts(html)).toEqual({ tall: 50, b: 150, c: 150, d: 50 })
  })

  test('in a text from the right begins on the right', async () => {
    expect(await lefts(grid('100pt 400pt', items('a', 'b'), 'direction: rtl; text-align: left'))).toEqual({
      a: 450,
      b: 50,
    })
  })

  test('breaks between its rows, and loses nothing', async () => {
    const names = Array.from({ length: 300 }, (_, at) => `item${at}`)
    const pages = textPages(await render(grid('repeat(3, 1fr)', items(...names), 'gap: 10pt')))
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.flat().join(' ').split(' ')).toEqual(names)
  })

  test('begins a page with an item that asks for it', async () => {
    const html = grid('1fr 1fr', `${items('a', 'b')}<div style="break-before: page">c</div>${items('d')}`)
    expect(textPages(await render(html))).toEqual([['a b'], ['c d']])
  })

  test('keeps lists, tables, grids and headers apart', async () => {
    const inner = grid('1fr 1fr', items('g1', 'g2'))
    const html = `<bindery-header>${grid('1fr auto', items('head', 'right'))}</bindery-header>${grid(
      '1fr 1fr',
      `<ul><li>list</ul><table><tr><td>cell<td>next</table><div>${inner}</div>loose text<p style="display: none">no</p>`,
      'gap: 6pt',
    )}`
    const pdf = await render(html)
    const words = textPages(pdf).flat().join(' ').split(' ')
    expect(words.filter(word => word !== '•').sort()).toEqual([
      'cell',
      'g1',
      'g2',
      'head',
      'list',
      'loose',
      'next',
      'right',
      'text',
    ])
    expect(coveredIn(wordBoxes(pdf))).toEqual([])
  })
})

test('a grid with too many columns or cells is rejected', async () => {
  await expect(rendered(grid('repeat(61, 1fr)', items('a')))).rejects.toThrow('more than 60 columns')
  const tall = grid('repeat(60, 1fr)', '<div style="grid-row: span 999; grid-column: span 60">a</div>')
  await expect(rendered(tall)).rejects.toThrow(`more than ${CONVERSION_LIMITS.cells} cells`)
  await expect(rendered(grid('repeat(60, 1fr)', '<div style="grid-row: 999">a</div>'))).rejects.toThrow(
    'cells',
  )
})

describe.runIf(hasPoppler)('a flex row', () => {
  test.each([
    ['by their growth beside a fixed one', ['flex:1', 'flex:3', 'width:100pt'], { a: 50, b: 150, c: 450 }],
    ['by their growth beside a text', ['width:100pt', 'flex:1', 'flex:1'], { a: 50, b: 150, c: 350 }],
    ['from their basis', ['flex:1 1 100pt', 'flex:1 1 200pt', 'flex:1 1 50pt'], { a: 50, b: 200, c: 450 }],
    [
      'from their width',
      ['flex-grow:1;width:100pt', 'flex-grow:2;width:100pt', 'width:100pt'],
      { a: 50, b: 216.67, c: 450 },
    ],
    [
      'less than their basis if that is too much',
      ['flex:1 1 600pt', 'flex:1 1 200pt', 'width:100pt'],
      { a: 50, b: 350, c: 450 },
    ],
  ])('shares what remains among items that grow %s', async (_, styles, expected) => {
    const cells = styles.map((style, at) => `<div style="${style}">${'abc'[at]}</div>`).join('')
    const found = await lefts(`<div style="display:flex">${cells}</div>`)
    for (const [name, left] of Object.entries(expected)) expect(found[name], name).toBeCloseTo(left, -0.5)
  })

  test('gives no item less than its longest word', async () => {
    const html = `<div style="display:flex"><div style="flex:1">${'W'.repeat(30)}</div><div style="flex:9;padding-left:9pt">b</div></div>`
    expect((await lefts(html)).b).toBeGreaterThan(350)
  })

  test('has a gap between its lines', async () => {
    const row = (style: string): string =>
      `<div style="display:flex;flex-wrap:wrap;${style}"><div style="width:80%">a</div><div style="width:80%">b</div></div>`
    const distance = async (style: string): Promise<number> => {
      const [a, b] = wordBoxes(await render(row(style)))
      return b!.middle - a!.middle
    }
    expect((await distance('gap: 30pt 10pt')) - (await distance(''))).toBeCloseTo(30, 0)
  })
})

test.runIf(hasPoppler)('percentages in margins and padding are of the width around the element', async () => {
  const html =
    '<p style="margin-left: 10%">a</p><div style="padding: 0 20%"><p style="margin-left: 10%">b</p></div><div style="width: 200pt"><p style="padding-left: calc(25% + 10pt)">c</p></div>'
  expect(await lefts(html)).toEqual({ a: 100, b: 180, c: 110 })
})
