// Headings stay with what follows them, at every position on a page, and nothing is lost when they move.
import { expect, test } from 'vitest'
import { hasPoppler, render, textPages } from './tools.ts'

const row = '<tr><td>row</td><td>cell</td></tr>'
const words = 'words '.repeat(60)

const NEXT: Readonly<Record<string, string>> = {
  'a paragraph': `<p>${words}</p>`,
  'a table': `<table border="1">${row.repeat(5)}</table>`,
  'a table with a head': `<table border="1"><thead><tr><th>Head</th></tr></thead>${row.repeat(5)}</table>`,
  'a table with a caption': `<table border="1"><caption>Caption</caption>${row.repeat(5)}</table>`,
  'a table with a long row': `<table border="1"><tr><td>${words.repeat(8)}</td></tr></table>`,
  'a table with a cell over three rows': `<table border="1"><tr><td rowspan="3">span</td><td>a</td></tr><tr><td>b</td></tr><tr><td>c</td></tr></table>`,
  'a list': '<ul><li>one</li><li>two</li></ul>',
  'a box': `<div style="border: 1pt solid; padding: 9pt"><p>${words}</p></div>`,
  'content that is kept together': `<div style="page-break-inside: avoid">${words}</div>`,
  'a flex row': `<div style="display: flex"><div>${words}</div><div>end</div></div>`,
  'a drawing': '<svg width="200" height="150"><rect width="200" height="150"/></svg>',
}

const HEADINGS: Readonly<Record<string, string>> = {
  'a heading': '<h2>Heading</h2>',
  'a heading of several lines': `<h2>${'Heading '.repeat(12)}</h2>`,
  'a heading with a border': '<h2 style="border-bottom: 1pt solid; background: #eee">Heading</h2>',
  'a heading in a box': '<div style="border: 1pt solid"><h2>Heading</h2></div>',
  'two headings': '<h2>Heading</h2><h3>Heading</h3>',
  'a term of a list of definitions': '<dt>Heading</dt>',
  'a paragraph with break-after: avoid': '<p style="break-after: avoid">Heading</p>',
}

const count = (text: string, word: string): number => text.split(word).length - 1

/** Renders the parts at several heights of a page, one after the other in one document, and returns what is wrong. */
async function problems(heading: string, next: string, around: (html: string) => string): Promise<string[]> {
  const heights = [560, 600, 640, 680]
  const parts = heights.map((above, at) => {
    const html = `<p>begin ${at}</p><div style="height: ${above}pt"></div>${heading}${next}<p>after</p>`
    return `<div style="page-break-before: always">${around(html)}</div>`
  })
  const html = `${parts.join('')}<bindery-footer>Footer</bindery-footer>`
  const pages = textPages(await render(html)).map(lines => lines.filter(line => line !== 'Footer').join(' '))
  const found: string[] = []
  if (pages.some(page => page.endsWith('Heading'))) found.push('a heading is alone')
  if (pages.includes('')) found.push('a page is empty')
  for (const [at, above] of heights.entries()) {
    const first = pages.findIndex(page => page.startsWith(`begin ${at}`))
    const end = pages.findIndex(page => page.startsWith(`begin ${at + 1}`))
    const own = pages.slice(first, end < 0 ? undefined : end).join(' ')
    for (const word of ['Heading', 'words', 'row', 'span', 'after'])
      if (count(own, word) !== count(parts[at]!.replace(/<[^>]*>/g, ' '), word))
        found.push(`${above}: not every "${word}" is shown once`)
  }
  return found
}

test.runIf(hasPoppler).each(Object.entries(NEXT))('a heading stays on the page of %s', async (_, next) => {
  expect(await problems(HEADINGS['a heading']!, next, html => html)).toEqual([])
})

test.runIf(hasPoppler).each(Object.entries(HEADINGS))('%s stays with what follows', async (_, heading) => {
  for (const next of [NEXT['a paragraph']!, NEXT['a table with a head']!])
    expect(await problems(heading, next, html => html)).toEqual([])
})

test.runIf(hasPoppler).each([
  ['box', (html: string) => `<div style="border: 1pt solid; padding: 5pt">${html}</div>`],
  ['cell', (html: string) => `<table border="1"><tr><td>${html}</td></tr></table>`],
])('headings in a %s stay with what follows', async (_, around) => {
  for (const next of Object.values(NEXT)) expect(await problems('<h2>Heading</h2>', next, around)).toEqual([])
})

test.runIf(hasPoppler)('many headings at the ends of pages stay with what follows', async () => {
  const part = (at: number): string =>
    `<div style="height: ${600 + at}pt"></div><h3>Heading ${at}</h3><p>text ${at}</p>`
  const html = Array.from({ length: 90 }, (_, at) => part(at)).join('')
  const pages = textPages(await render(html))
  const alone = pages.map(lines => lines.at(-1) ?? '').filter(line => line.startsWith('Heading'))
  expect(alone).toEqual([])
})

test.runIf(hasPoppler)('a heading before a page break stays where it is', async () => {
  const html = '<p>one</p><h2>Heading</h2><p style="page-break-before: always">two</p>'
  expect(textPages(await render(html))).toEqual([['one', 'Heading'], ['two']])
})

test.runIf(hasPoppler)('a margin at the end of a document does not begin a page', async () => {
  for (let above = 640; above < 720; above += 4) {
    const pages = textPages(await render(`<div style="height: ${above}pt"></div><p>end</p>`))
    expect(pages.at(-1), `${above} points above`).toEqual(['end'])
  }
})
