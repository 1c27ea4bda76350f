// Report files in a spreadsheet: text from clients is never a formula, and amounts remain numbers.
import { expect, test } from 'vitest'
import type { TimeZone } from '../../src/kernel/time.ts'
import type { Layout } from '../../src/reporting/columns.ts'
import { totalsCsv } from '../../src/reporting/files/summary.ts'
import { csvOf } from '../../src/reporting/files/text.ts'
import { addToTotals, noTotals } from '../../src/reporting/totals.ts'

const layout: Layout = {
  columns: [
    { name: 'policyLocator', type: 'text', about: '' },
    { name: 'field:code', type: 'text', about: '' },
    { name: 'currency', type: 'text', about: '' },
    { name: 'premium', type: 'amount', about: '', isMeasure: true },
    { name: 'sum:vehicle.value', type: 'number', about: '', isMeasure: true },
  ],
  dimensions: 1,
  currency: 2,
  measures: [3, 4],
  cellsOf: () => [],
}

const UTC = 'UTC' as TimeZone

test.each([
  ...['=1+1', '+1+1', '-1+1', "-2+3+cmd|' /C calc'!A0", '@SUM(A1)', '\t=1+1', '\uff1d1+1'].map(text => [
    text,
    text.startsWith('\t') ? `"'${text}"` : `'${text}`,
  ]),
  ['\r=1+1', `"'\r'=1+1"`],
  // A spreadsheet that uses semicolons as separators ends the cell at a semicolon and at the end of a line.
  ['a;=1+1;b', `"a;'=1+1;b"`],
  ['a\n=1+1;b', `"a\n'=1+1;b"`],
  ['a;\n@SUM(A1)', `"a;'\n'@SUM(A1)"`],
  ['a; b', '"a; b"'],
  ['a-1', 'a-1'],
])('%j is a text, and the amounts next to it are negative numbers', (text, shown) => {
  const cells = ['100000064', text, 'EUR', -120_050, '-3.5']
  const totals = noTotals()
  addToTotals(totals, cells, layout)
  const [, line] = new TextDecoder().decode(totalsCsv(totals, layout, UTC)).split('\r\n')
  expect(line).toBe(`${shown},EUR,1,-1200.50,-3.5`)
  expect(csvOf(cells, layout, UTC)).toBe(`100000064,${shown},EUR,-1200.50,-3.5\r\n`)
})
