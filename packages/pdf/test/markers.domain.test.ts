// Markers of lists, also of right-to-left lists, and text whose direction differs from that around it.
import { expect, test } from 'vitest'
import { hasPoppler, render, wordBoxes } from './tools.ts'

/** The tool reads the letters of each word from left to right, so `ABC` in an override appears reversed. */
const wordsOf = async (html: string) => wordBoxes(await render(html))

test.runIf(hasPoppler).each([
  ['ul', '•'],
  ['ol', '.1'],
])('the marker of a right-to-left %s is to the right of its text', async (tag, marker) => {
  const words = await wordsOf(`<${tag} dir="rtl"><li>שלום</li></${tag}>`)
  const text = words.find(one => one.text.includes('םולש'))!
  const number = words.find(one => one.text === marker)
  // Bullets are drawings.
  if (tag === 'ol') expect(number!.left).toBeGreaterThan(text.right)
  expect(text.right).toBeLessThan(595.28 - 56.69 - 20)
})

test.runIf(hasPoppler)('each item of a right-to-left list has its marker once, also over pages', async () => {
  const items = Array.from({ length: 70 }, (_, at) => `<li>פריט ${at + 101}</li>`).join('')
  const words = await wordsOf(
    `<div style="page-break-inside: avoid"><ol dir="rtl" start="5">${items}</ol></div>`,
  )
  const markers = words.filter(({ text }) => /^\.\d+$/.test(text)).map(({ text }) => text)
  expect(markers).toEqual(Array.from({ length: 70 }, (_, at) => `.${at + 5}`))
})

test.runIf(hasPoppler)('items without text count', async () => {
  const words = await wordsOf('<ol><li>one<li></li><li>three<li value="7">seven<li value="x">eight</ol>')
  expect(words.map(({ text }) => text)).toEqual(['1.', 'one', '3.', 'three', '7.', 'seven', '8.', 'eight'])
})

test.runIf(hasPoppler)('isolated text does not change the order of the text after it', async () => {
  const after = async (name: string): Promise<number> => {
    const words = await wordsOf(`<p>Name: ${name} 12 insured</p>`)
    const [number, insured] = ['12', 'insured'].map(text => words.find(one => one.text.includes(text))!)
    return insured!.left - number!.right
  }
  // Without isolation, the number is to the left of the name.
  expect(await after('<bdi>משה</bdi>')).toBeLessThan(6)
  expect(await after('<span dir="rtl">משה</span>')).toBeLessThan(6)
  expect(await after('משה')).toBeGreaterThan(6)
})

test.runIf(hasPoppler)('an override reverses its text, and controls are not printed', async () => {
  const html =
    '<p style="text-indent: 20pt"><bdo dir="rtl">ABC</bdo> <bdi>John</bdi> <span dir="ltr">end </span></p>'
  const words = await wordsOf(html)
  expect(words.map(({ text }) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, ''))).toEqual([
    'CBA',
    'John',
    'end',
  ])
  expect(words[0]!.left).toBeCloseTo(56.69 + 20, 0)
})
