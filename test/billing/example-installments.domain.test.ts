// The example's plugin for installments bills every minor unit of a charge, in any currency.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

type Planner = (data: object) => { installments: { invoiceItems: { amount: number }[] }[] }

const SCRIPTS = join(import.meta.dirname, '../../examples/motor/configuration/scripts')

/** Loads a CommonJS script of the example with the scripts that it requires. */
function loadScript(path: string): Record<string, Planner> {
  const exports = {}
  const load = (name: string) => loadScript(join(dirname(path), name))
  new Function('exports', 'require', readFileSync(path, 'utf8'))(exports, load)
  return exports
}

const { createInstallments } = loadScript(join(SCRIPTS, 'main/installments.js'))

it.each([
  ['379.105', 379_105, 1_000],
  ['379.10', 37_910, 100],
  ['379', 379, 1],
])('the installments of %s total that amount', (amount, minor, units) => {
  const start = Date.UTC(2100, 0, 1)
  const [from, to] = [start, Date.UTC(2101, 0, 1)].map(String)
  const { installments } = createInstallments!({
    charges: [
      {
        chargeId: 'a',
        type: 'premium',
        amount,
        coverageStartTimestamp: from,
        coverageEndTimestamp: to,
      },
    ],
    policy: { originalContractStartTimestamp: from },
    paymentScheduleName: 'monthly',
    tenantTimeZone: 'UTC',
    defaultPaymentTerms: { amount: '10' },
  })
  expect(installments).toHaveLength(12)
  const items = installments.flatMap(one => one.invoiceItems.map(item => Math.round(item.amount * units)))
  expect(items.reduce((sum, one) => sum + one, 0)).toBe(minor)
})
