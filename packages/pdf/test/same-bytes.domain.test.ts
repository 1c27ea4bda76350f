// A PDF is a function of its input: a document that is rendered again has the same bytes (resources brief 4.3).
import { expect, test } from 'vitest'
import { hasPoppler, MADE_AT, render, textLines } from './tools.ts'

const HTML = `<html><head><title>Terms &amp; &lt;conditions&gt;</title><style>@font-face { font-family: Own; src: url(DejaVuSansMono.ttf) }</style></head>
<body><bindery-header>page <bindery-page-number></bindery-page-number></bindery-header><h1>Ä ✓ 語</h1><p style="font-family: Own">own</p></body></html>`
const latin = (pdf: Uint8Array): string => Buffer.from(pdf).toString('latin1')

test('the same HTML at the same time gives the same PDF 1.7 file, created at that time', async () => {
  const [first, again, other] = [await render(HTML), await render(HTML), await render(`${HTML} `)]
  expect(MADE_AT).toBe(Date.parse('2026-11-21T12:00:00Z'))
  expect(Buffer.compare(first, again)).toBe(0)
  expect(latin(first).slice(0, 8)).toBe('%PDF-1.7')
  expect(latin(first)).toContain('(D:20261121120000Z)')
  const id = (pdf: Uint8Array): string => /\/ID \[(<[0-9a-f]{32}>) \1\]/.exec(latin(pdf))![1]!
  expect(id(first)).not.toBe(id(other))
})

test.runIf(hasPoppler)('the title of a document is escaped as XML in its metadata', async () => {
  const pdf = await render(HTML)
  expect(latin(pdf)).toContain('<rdf:li xml:lang="x-default">Terms &amp; &lt;conditions&gt;</rdf:li>')
  expect(textLines(pdf)[0]).toBe('page 1')
})
