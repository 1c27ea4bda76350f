// Heights of blocks and cells are minimum heights, and end with the page.
import { expect, test } from 'vitest'
import { hasPoppler, render, textPages, wordBoxes } from './tools.ts'

/** Returns how far `below` is from `above`, in points. */
async function distance(html: string): Promise<number> {
  const boxes = wordBoxes(await render(html))
  const middleOf = (word: string): number => boxes.find(({ text }) => text === word)!.middle
  return middleOf('below') - middleOf('above')
}

test.runIf(hasPoppler).each([
  ['a block', '<div style="height: 100pt">above</div><div>below</div>'],
  ['a block with a minimum', '<div style="min-height: 100pt">above</div><div>below</div>'],
  ['a box', '<div style="height: 100pt; background: #eee">above</div><div>below</div>'],
  ['a block within another', '<div style="height: 60pt"><div style="height: 100pt">above</div></div>below'],
  ['a flex row', '<div style="display: flex; height: 100pt"><div>above</div></div><div>below</div>'],
  [
    'a cell',
    '<table cellpadding="0"><tr><td style="height: 100pt" valign="top">above</td></tr><tr><td>below</td></tr></table>',
  ],
])('the height of %s is kept', async (_, html) => {
  expect(await distance(html)).toBeCloseTo(100, 0)
})

test.runIf(hasPoppler)('a block is as high as its content if that needs more than its height', async () => {
  const lines = 'x<br>'.repeat(9)
  expect(await distance(`<div style="height: 20pt">above<br>${lines}</div><div>below</div>`)).toBeCloseTo(
    144,
    0,
  )
})

test.runIf(hasPoppler).each(['', 'border: 1pt solid', 'background: #eee; padding: 10pt'])(
  'blocks as high as the paper are on one page each, with the style "%s"',
  async style => {
    const page = (name: string): string =>
      `<div style="height: 297mm; ${style}; page-break-after: always">${name}</div>`
    expect(textPages(await render(page('one') + page('two')))).toEqual([['one'], ['two']])
  },
)
