// How many of the following words are read to decide whether they still fit in a line, and where the words of justified lines
// are.
import { expect, test } from 'vitest'
import { hasRoom } from '../room.ts'
import { hasPoppler, rendered, textLines, wordBoxes } from './tools.ts'

/** A word of 10 points, or one of 12 including its blank of 2, after which the line may end. */
const HELD = { width: 10, trailingCut: 0, noNewLine: true }
const LAST = { width: 12, trailingCut: 2 }

/** A line of 100 points, of which 10 are used. */
const LINE = { inlines: [HELD], inlineWidths: 10, leadingCut: 0, maxWidth: 100, newLineForced: false }

test('hasRoom reads only as many of the words that must stay together as fill the line', () => {
  let asked = 0
  function* endless(): Generator<typeof HELD> {
    for (; asked < 1_000; asked += 1) yield HELD
  }
  expect(hasRoom(LINE, HELD, endless())).toBe(false)
  expect(asked).toBeLessThan(12)
})

test.each([
  [8, true],
  [9, true],
  [10, false],
])('%i words that must stay together fit into 90 points: %s', (count, fits) => {
  const words = [...Array.from({ length: count - 1 }, () => HELD), LAST]
  expect(hasRoom(LINE, words[0]!, [...words.slice(1), LAST, LAST])).toBe(fits)
})

test('the first word of a line always fits, and no word fits after a line break', () => {
  expect(hasRoom({ ...LINE, inlines: [] }, { width: 1_000 }, [])).toBe(true)
  expect(hasRoom({ ...LINE, newLineForced: true }, LAST, [])).toBe(false)
})

test.runIf(hasPoppler)('a word in several fonts is not separated in a justified line', async () => {
  const filler = 'Several words stand here, '.repeat(3)
  const { bytes } = await rendered(
    `<p style="width: 5cm; text-align: justify">${filler} un<b>believ</b>able ${filler} in<i>sur</i>ance ${filler}</p>`,
  )
  const text = textLines(bytes).join(' ')
  expect(text).toContain('unbelievable')
  expect(text).toContain('insurance')
})

test.runIf(hasPoppler)(
  'the last line of a justified right-to-left paragraph begins at the right',
  async () => {
    const placed = (align: string) =>
      rendered(`<p dir="rtl" style="width: 5cm; text-align: ${align}">שלום</p>`).then(({ bytes }) =>
        // The ID of a PDF depends on its HTML.
        Buffer.from(bytes)
          .toString('latin1')
          .replace(/\/ID \[.*?\]/s, ''),
      )
    expect(await placed('justify')).toEqual(await placed('start'))
  },
)

test.runIf(hasPoppler)('a line break ends a line of text that does not wrap', async () => {
  const { bytes } = await rendered(
    '<table border="1"><tr><td style="white-space: nowrap">one<br>two three<br>four</td></tr></table>',
  )
  expect(textLines(bytes)).toEqual(['one', 'two three', 'four'])
})

test.runIf(hasPoppler)('a line break after an image ends the line of the image', async () => {
  const heightOf = async (after: string): Promise<number> => {
    const image = '<svg width="50" height="20"><rect width="50" height="20"/></svg>'
    const { bytes } = await rendered(`<p>above</p><p>${image}${after}below</p>`)
    const [above, below] = wordBoxes(bytes)
    return below!.middle - above!.middle
  }
  const without = await heightOf('')
  expect(await heightOf('<br>')).toBeCloseTo(without)
  expect(await heightOf(' <br> ')).toBeCloseTo(without)
  expect(await heightOf('<br><br>')).toBeGreaterThan(without + 10)
})

test.runIf(hasPoppler).each([
  ['ltr', 'first', 'second', 24],
  ['ltr', 'first', 'second', -18],
  ['rtl', 'ראשון', 'שני', 24],
])('text-indent moves the first line of a block (%s, %s)', async (direction, first, second, indent) => {
  const html = `<div dir="${direction}" style="margin: 0 36pt; text-indent: ${indent}pt">${first}<br>${second}</div>`
  const boxes = wordBoxes((await rendered(html)).bytes)
  const [one, two] = boxes
  const moved = direction === 'ltr' ? one!.left - two!.left : two!.right - one!.right
  expect(moved).toBeCloseTo(indent, 0)
})
