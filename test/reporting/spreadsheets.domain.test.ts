// Files of reports in a spreadsheet: text that clients chose is never a formula there, and amounts stay numbers.
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

test.each(['=1+1', '+1+1', '-1+1', "-2+3+cmd|' /C calc'!A0", '@SUM(A1)', '\t=1+1', '\r=1+1'])(
  '%j is a text, and the amounts beside it are negative numbers',
  text => {
    const cells = ['100000064', text, 'EUR', -120_050, '-3.5']
    const totals = noTotals()
    addToTotals(totals, cells, layout)
    const [, line] = new TextDecoder().decode(totalsCsv(totals, layout, UTC)).split('\r\n')
    const shown = text.startsWith('\r') ? `"'${text}"` : `'${text}`
    expect(line).toBe(`${shown},EUR,1,-1200.50,-3.5`)
    expect(csvOf(cells, layout, UTC)).toBe(`100000064,${shown},EUR,-1200.50,-3.5\r\n`)
  },
)
