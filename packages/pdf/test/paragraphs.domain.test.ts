// Paragraphs over two pages: at least two lines on each, and no line is lost.
import { expect, test } from 'vitest'
import { hasPoppler, render, textPages } from './tools.ts'

const paragraph = (lines: number): string =>
  `<p>${Array.from({ length: lines }, (_, at) => `line ${at + 1} of ${lines}`).join('<br>')}</p>`

test.runIf(hasPoppler).each([2, 3, 4, 7, 120])(
  'a paragraph of %s lines leaves no single line on a page',
  async count => {
    const counts: number[][] = []
    for (let above = 600; above < 720; above += 7) {
      const html = `<style>p { margin: 0 }</style><div style="height: ${above}pt">above</div>${paragraph(count)}<p>after</p>`
      const pages = textPages(await render(html)).map(lines => lines.filter(line => line.startsWith('line')))
      expect(pages.flat()).toEqual(Array.from({ length: count }, (_, at) => `line ${at + 1} of ${count}`))
      counts.push(pages.map(lines => lines.length).filter(lines => lines > 0))
    }
    expect(counts.flat()).not.toContain(1)
    // It breaks where both parts have two lines.
    expect(counts.some(parts => parts.length > 1)).toBe(count > 3)
  },
)

test.runIf(hasPoppler)('a heading moves with a paragraph that does', async () => {
  for (let above = 560; above < 720; above += 10) {
    const html = `<style>p { margin: 0 }</style><div style="height: ${above}pt">above</div><h2>Heading</h2>${paragraph(3)}`
    const page = textPages(await render(html)).find(lines => lines.includes('Heading'))!
    expect(page, String(above)).toContain('line 3 of 3')
  }
})

test.runIf(hasPoppler)('the marker of a list item moves with its lines', async () => {
  for (let above = 640; above < 720; above += 8) {
    const html = `<style>p, ol { margin: 0 }</style><div style="height: ${above}pt">above</div><ol><li>one<br>two<br>three</li></ol>`
    const page = textPages(await render(html)).find(lines => lines.some(line => line.endsWith('one')))!
    expect(page.slice(-3), String(above)).toEqual(['1. one', 'two', 'three'])
  }
})

test.runIf(hasPoppler)('lines that are higher than a part of the page may stand alone', async () => {
  const html = `<p style="font-size: 300pt; line-height: 1.2">${['A', 'B', 'C', 'D', 'E'].join('<br>')}</p>`
  expect(textPages(await render(html)).flat()).toEqual(['A', 'B', 'C', 'D', 'E'])
})
