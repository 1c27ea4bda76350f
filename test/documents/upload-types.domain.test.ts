import { expect, it } from 'vitest'
import { contradictsType, safeFileName } from '../../src/transactions/documents/upload.ts'

it.each([
  ['pdf', 'pdf', false],
  ['PDF', 'html', true],
  ['.pdf', 'pdf', false],
  ['application/pdf', 'pdf', false],
  ['application/pdf', 'html', true],
  ['text/html; charset=utf-8', 'html', false],
  ['htm', 'html', false],
  ['htm', 'pdf', true],
  ['docx', 'pdf', true],
  ['DOC', 'html', true],
  ['csv', 'pdf', true],
  ['image/png', 'pdf', true],
  ['application/octet-stream', 'pdf', false],
  ['terms', 'pdf', false],
  ['no_loss', 'html', false],
  ['pdf form', 'html', false],
  ['documents', 'pdf', false],
] as const)('the documentType %s of a file that is %s: contradiction %s', (documentType, type, expected) => {
  expect(contradictsType(documentType, type)).toBe(expected)
})

it('a file name ends with its type, also if it has the ending of another', () => {
  expect(safeFileName('terms.pdf', 'pdf')).toBe('terms.pdf')
  expect(safeFileName('page.HTM', 'html')).toBe('page.HTM')
  expect(safeFileName('page.html', 'pdf')).toBe('page.html.pdf')
  expect(safeFileName('letter.docx', 'pdf')).toBe('letter.docx.pdf')
  expect(safeFileName(undefined, 'html')).toBe('document.html')
})
