// The invoices of an account: read, then made of the installments that went on them, once its policies stand.
import { totalsDueOf } from '../../../billing/bill.ts'
import type { Money } from '../../../platform/money.ts'
import { type Instant, timeZone as zoneNamed } from '../../../platform/time.ts'
import type { InvoiceMigrationRequest } from '../../contract-request.ts'
import type { ItemKind } from '../../item.ts'
import { invoiceInstallmentsOf, keepOpposites } from '../bills.ts'
import { type Part, totalOf } from '../money-moves.ts'
import type { ConvertedPolicy } from '../policy.ts'
import type { Work } from './work.ts'

export type InvoiceItem = {
  readonly request: InvoiceMigrationRequest
  /** Once its policies stand. */
  parts: Part[]
  total: Money
  /** Sum of the items of payments. */
  paid: Money
}

export type Invoices = ReadonlyMap<string, InvoiceItem>

export const madeAt = ({ generateTime, startTime }: InvoiceMigrationRequest): Instant =>
  generateTime ?? startTime

export function readInvoices(work: Work): Invoices {
  const { request, findings, warnings, none } = work
  const invoices = new Map<string, InvoiceItem>()
  for (const invoice of findings.singles('invoices', request.invoices)) {
    const { id, currency, timezone, startTime, endTime, generateTime, dueTime } = invoice
    invoices.set(id, { request: invoice, parts: [], total: none, paid: none })
    assertCurrency(work, 'invoices', id, currency)
    if (timezone !== undefined && !zoneNamed(timezone))
      findings.wrong('invoices', id, 'timezone must be the IANA name of a time zone, as Europe/Berlin.')
    if (startTime > endTime) findings.wrong('invoices', id, 'startTime must not lie after endTime.')
    if (generateTime !== undefined && generateTime > dueTime)
      warnings.add('invoice', id, 'generateTime lies after dueTime.')
  }
  return invoices
}

export function assertCurrency(
  { context, findings }: Work,
  kind: ItemKind,
  id: string,
  currency: string | undefined,
): void {
  const own = context.configuration.currency
  if (currency !== undefined && currency !== own)
    findings.wrong(kind, id, `currency must be ${own}, the currency of the tenant.`)
}

/** What each invoice bills, and its total. */
export function makeInvoices(
  { context, findings, none }: Work,
  invoices: Invoices,
  policies: ReadonlyMap<string, ConvertedPolicy>,
): void {
  const { supply, configuration } = context
  for (const [id, item] of invoices) {
    if (findings.fails('invoices', id)) continue
    item.parts = [...policies.values()].flatMap(({ making, invoiced }): Part[] => {
      const installments = invoiced.get(id)
      if (!installments) return []
      return [
        {
          ...{ making, due: none },
          invoice: invoiceInstallmentsOf(making, item.request, installments, supply).locator,
        },
      ]
    })
    if (item.parts.length === 0)
      findings.wrong('invoices', id, 'id must be the invoiceId of an installment: the invoice bills nothing.')
  }
  findings.block()
  for (const [id, { making }] of policies) if (!findings.fails('policies', id)) keepOpposites(making, supply)
  // Of each policy once, since what one invoice asks for takes a look at all of its modification's.
  const dueOf = new Map([...policies.values()].map(({ making }) => [making, totalsDueOf(making)] as const))
  for (const [id, item] of invoices) {
    if (findings.fails('invoices', id)) continue
    item.parts = item.parts.map(part => ({
      ...part,
      due: dueOf.get(part.making)!(part.making.invoices.get(part.invoice)!),
    }))
    item.total = totalOf(item.parts, configuration.currency)
  }
}
