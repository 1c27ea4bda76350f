// Boxes within a line, such as the lines and checkboxes of forms: their order, their places, and the room around them.
import { expect, test } from 'vitest'
import { pictures } from './pictures.ts'
import { hasPoppler, render, textLines, wordBoxes } from './tools.ts'

const FORM = `<style>
  body { font-size: 10pt } .line { display: inline-block; border-bottom: 1px solid red; width: 60mm }
  .box { display: inline-block; width: 3mm; height: 3mm; border: 1px solid }
</style>`

test.runIf(hasPoppler)('a label stays on one line before a line to write on', async () => {
  expect(
    textLines(await render(`${FORM}<div>Date of loss: <span class="line"></span> Time: 14:30</div>`)),
  ).toEqual(['Date of loss: Time: 14:30'])
})

test.runIf(hasPoppler)('only the last line of a text is next to the box after it', async () => {
  const html = `${FORM}<div>Glass<br>Date of loss: <span class="line"></span> Time<br>end</div>`
  expect(textLines(await render(html))).toEqual(['Glass', 'Date of loss: Time', 'end'])
})

test.runIf(hasPoppler)('a long text between boxes stays after the text before it', async () => {
  const long = 'Fire and other perils with a longer text that does not fit next to the others on this line'
  const html = `${FORM}<div><span class="box"></span> Theft <span class="box"></span> ${long} <span class="box"></span> Hail</div>`
  const text = textLines(await render(html)).join(' ')
  expect(text).toBe(`Theft ${long} Hail`)
})

test.runIf(hasPoppler).each(['', '&nbsp;'])(
  'a line to write on with the content "%s" is at the baseline of the text',
  async content => {
    const [page] = pictures(await render(`${FORM}<div>Name <span class="line">${content}</span></div>`), 72)
    const rows = Array.from({ length: page!.height }, (_, y) => y).filter(y =>
      Array.from({ length: page!.width }, (_, x) => 3 * (y * page!.width + x)).some(
        at => page!.pixels[at]! > 200 && page!.pixels[at + 1]! < 160,
      ),
    )
    const { middle } = wordBoxes(await render(`${FORM}<div>Name</div>`))[0]!
    expect(rows.length).toBeGreaterThan(0)
    for (const y of rows) {
      expect(y).toBeGreaterThan(middle + 1)
      expect(y).toBeLessThan(middle + 12)
    }
  },
)

test.runIf(hasPoppler)('margins and padding of elements within a line leave room', async () => {
  const places = async (style: string, dir = 'ltr') =>
    wordBoxes(await render(`<p dir="${dir}">one<span style="${style}"> two</span> three</p>`)).map(
      ({ left }) => left,
    )
  const [plain, wide] = [await places(''), await places('margin-left: 20pt; padding-right: 30pt')]
  expect(wide[1]! - plain[1]!).toBeCloseTo(20, 0)
  expect(wide[2]! - plain[2]!).toBeCloseTo(50, 0)
})

test.runIf(hasPoppler)('room within a right-to-left line keeps the order of its words', async () => {
  const words = wordBoxes(
    await render('<p dir="rtl">שלום <span style="margin-right: 30pt">עולם</span> סוף</p>'),
  )
  // The tool reads the letters of each word from left to right.
  const [first, second, third] = ['םולש', 'םלוע', 'ףוס'].map(
    word => words.find(({ text }) => text.includes(word))!,
  )
  expect(first!.left).toBeGreaterThan(second!.right + 30)
  expect(second!.left).toBeGreaterThan(third!.right)
})
