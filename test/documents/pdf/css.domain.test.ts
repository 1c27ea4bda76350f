// The renderer against its documentation: every line of docs/css.md is rendered and read back.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FIXTURES } from './fixtures.ts'
import { browser, coloursOf, hasPoppler, pictures, printed, render, textLines } from './tools.ts'

test('every line of docs/css.md has a fixture, and every fixture a line', () => {
  const lines = readFileSync('docs/css.md', 'utf8').matchAll(/^\|.*\| `(\w+)`\s*\|$/gm)
  expect([...lines].map(([, name]) => name).sort()).toEqual(Object.keys(FIXTURES).sort())
})

describe.each(Object.entries(FIXTURES))('%s', (_, { html, text, colours = [], pages = 1, alone }) => {
  test('is a PDF', async () => {
    const pdf = await render(html)
    expect(Buffer.from(pdf.subarray(0, 5)).toString()).toBe('%PDF-')
  })
  test.runIf(hasPoppler)('shows its text, colours and pages', async () => {
    const pdf = await render(html)
    const seen = textLines(pdf)
    const known = [...seen]
    for (const line of text) {
      const at = known.findIndex(one => one === line || one === `• ${line}` || one === `◦ ${line}`)
      expect(at, `${line}\nin\n${seen.join('\n')}`).toBeGreaterThanOrEqual(0)
      known.splice(0, at + 1)
    }
    const sheets = pictures(pdf, 150)
    expect(sheets).toHaveLength(pages)
    const all = new Set(sheets.flatMap(sheet => [...coloursOf(sheet)]))
    for (const colour of colours) expect([...all]).toContain(colour)
  })
  test.runIf(hasPoppler && browser !== undefined && alone === undefined)(
    "has the words of a browser's print, and as many pages but for one",
    async () => {
      const words = (pdf: Uint8Array): string[] =>
        textLines(pdf)
          .join(' ')
          .split(' ')
          .filter(word => !/^[•◦○■▪]$/.test(word))
      const [ours, theirs] = [await render(html), printed(html)]
      expect(words(ours).sort()).toEqual(words(theirs).sort())
      expect(Math.abs(pictures(ours, 20).length - pictures(theirs, 20).length)).toBeLessThanOrEqual(1)
    },
  )
})
