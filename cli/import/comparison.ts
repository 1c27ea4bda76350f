// Compares the imported policies with the exported ones, one by one and in total.
import {
  type CurrentSums,
  currentDifferences,
  currentSums,
} from '../../src/reporting/export/account/compare.ts'
import { amountText } from '../../src/reporting/export/account/words.ts'
import type { PolicyRecord } from '../../src/reporting/export/policy-record.ts'
import type { Finding, Importing } from './sending.ts'

type Amounts = Readonly<Record<keyof CurrentSums, string>> & { readonly policies: number }

/** Totals of the policies of one currency that are carried over: in the export, and in the tenant now. */
export type ControlTotal = {
  readonly currency: string
  readonly exported: Amounts
  readonly imported: Amounts
  readonly isEqual: boolean
}

/**
 * Reads the policies of the tenant, compares each carried-over policy with the exported one, and adds findings. Returns the
 * control totals by currency, or undefined if it was interrupted.
 */
export async function compareAll({
  api,
  run,
  source,
  progress,
  findings,
  counts,
}: Importing): Promise<readonly ControlTotal[] | undefined> {
  const failed = new Set(
    findings.filter(finding => finding.as === 'failed').map(finding => finding.policyholder),
  )
  const missed = new Map(
    findings
      .filter(
        finding => (finding.as === 'history' || finding.as === 'asNow') && !failed.has(finding.policyholder),
      )
      .map(finding => [finding.policy!, finding]),
  )
  const exported = new Sums()
  for (const old of missed.keys()) exported.add(source.policy(old)!)
  const imported = new Sums()
  const originals = progress.originals()
  for (let pagingToken: string | undefined, isLast = false; !isLast; ) {
    if (run.terminal.interrupted.aborted) return undefined
    const text = await api.get('/export/{exportKind}/records', {
      params: { path: { exportKind: 'policies' }, query: pagingToken === undefined ? {} : { pagingToken } },
      parseAs: 'text',
    })
    for (const line of text.trimEnd().split('\n')) {
      const { kind, record, ...last } = JSON.parse(line) as {
        kind: string
        record: PolicyRecord
        pagingToken?: string
      }
      if (kind === 'end') isLast = true
      ;({ pagingToken } = last)
      if (kind !== 'policy') continue
      const was = source.policy(originals.get(record.locator) ?? '')
      if (!was || !missed.delete(was.locator)) continue
      counts.compared += 1
      imported.add(record)
      const differences = currentDifferences(was, record)
      if (differences.length > 0) findings.push(findingOf(was, 'differs', differences.join('; ')))
    }
  }
  for (const old of missed.keys()) findings.push(findingOf(source.policy(old)!, 'notCompared', NOT_COMPARED))
  return controlTotals(exported, imported)
}

const NOT_COMPARED = 'no migration of the tenant maps it to an imported policy; compare it yourself'

const findingOf = (
  { policyholderLocator: policyholder, locator: policy }: PolicyRecord,
  as: string,
  reason: string,
): Finding => ({ policyholder, policy, as, reason })

/** By currency, in minor units. */
class Sums {
  readonly #byCurrency = new Map<string, { policies: number; sums: CurrentSums }>()

  add(record: PolicyRecord): void {
    const known = this.#byCurrency.get(record.currency) ?? { policies: 0, sums: NOTHING }
    this.#byCurrency.set(record.currency, {
      policies: known.policies + 1,
      sums: mapped((name, minor) => minor + known.sums[name], currentSums(record)),
    })
  }

  get currencies(): string[] {
    return [...this.#byCurrency.keys()]
  }

  textsOf(currency: string): Amounts {
    const { policies, sums } = this.#byCurrency.get(currency) ?? { policies: 0, sums: NOTHING }
    return { policies, ...mapped((_, minor) => amountText(minor, currency), sums) }
  }
}

const NOTHING: CurrentSums = { price: 0, invoiced: 0, paid: 0, outstanding: 0, planned: 0 }

const mapped = <To>(
  to: (name: keyof CurrentSums, minor: number) => To,
  sums: CurrentSums,
): Record<keyof CurrentSums, To> =>
  Object.fromEntries(
    Object.entries(sums).map(([name, minor]) => [name, to(name as keyof CurrentSums, minor)]),
  ) as Record<keyof CurrentSums, To>

const controlTotals = (exported: Sums, imported: Sums): ControlTotal[] =>
  exported.currencies.sort().map(currency => {
    const [before, after] = [exported.textsOf(currency), imported.textsOf(currency)]
    const isEqual = JSON.stringify(before) === JSON.stringify(after)
    return { currency, exported: before, imported: after, isEqual }
  })
