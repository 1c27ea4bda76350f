// The price change of a transaction, stored or computed, and the operation that requests it.

import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { jsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { isIssued, withIssued } from '../../policy/fold/line.ts'
import { type PolicyView, policyView } from '../../policy/projection/policy.ts'
import { boundQuote, type Modification, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import { findTableUses } from '../../policy/store/aggregates.ts'
import { loadVersion } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { AppliedTransaction } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { policyPriceChangeResponse } from '../../rating/price.ts'
import type { Attempt } from '../../rating/rate.ts'
import type { Explaining, Selection } from '../../rating/worksheet/record.ts'
import {
  allKinds,
  type ChangeOf,
  type ChangeResponse,
  defineKind,
  type PlannedChange,
  type Run,
} from './kind.ts'

/** Returns the stored change if the transaction is recorded, and otherwise the change that it would make now. */
export async function priceChangeOf(
  loaded: Loaded,
  { modificationLocator }: { readonly modificationLocator?: Modification['locator'] },
  carryOut: () => Promise<AppliedTransaction>,
  attempt: Attempt,
  again?: RateAgain,
): Promise<PolicyPriceChangeResponse> {
  const { aggregate, product } = loaded
  const { explaining } = attempt
  const recorded = modificationLocator && aggregate.modifications.get(modificationLocator)
  if (!recorded) return await explainedPriceChange(attempt, aggregate, await carryOut(), product)
  const views = recordedViews(aggregate, recorded, product)
  if (!explaining) return policyPriceChangeResponse(views.before, views.after)
  await again?.({ view: views.after, loaded, attempt }, recorded, explaining)
  return await explainedChange(views, explaining, true)
}

/** Rates a recorded transaction again for its worksheet. Transactions that rate nothing have no such function. */
type RateAgain = (
  rating: { readonly view: PolicyView; readonly loaded: Loaded; readonly attempt: Attempt },
  modification: Modification,
  explaining: Explaining,
) => Promise<void>

type Views = { readonly before: PolicyView; readonly after: PolicyView }

async function explainedChange(
  { before, after }: Views,
  { record }: Explaining,
  isRecorded: boolean,
): Promise<PolicyPriceChangeResponse> {
  const { worksheetOf } = await import('../../rating/worksheet/build.ts')
  const worksheet = worksheetOf({ view: after, before, record, isRecorded })
  return { ...policyPriceChangeResponse(before, after), worksheet }
}

/** Returns what recording a worksheet needs. Pass `recorded` where recorded transactions of the policy may be rated again. */
export async function explainingOf(
  context: RequestContext,
  selection: Selection,
  recorded?: Pick<Run, 'database' | 'attempt'> & { readonly policy: PolicyLocator },
): Promise<Explaining> {
  const { RatingRecord } = await import('../../rating/worksheet/record.ts')
  const explaining: Explaining = {
    record: new RatingRecord(selection),
    configurationOf: async version =>
      (await loadVersion(context, homeDatabase(context), version)).configuration,
  }
  const tables = recorded?.attempt.tables
  if (!tables || !context.tenant.hasTables) return explaining
  let uses: ReturnType<typeof findTableUses> | undefined
  return {
    ...explaining,
    async tablesOf(modification) {
      uses ??= findTableUses(recorded.database, recorded.policy)
      const own = ((await uses) ?? []).filter(one => one.modificationLocator === modification)
      const recalled = await tables.recalled(own.map(one => ({ ...one, revision: one.revision as Uuid })))
      const lost = own.filter(use => !recalled.some(one => one.revision === use.revision))
      explaining.record.notes.push(
        ...lost.map(
          ({ name, revision }) =>
            `The table '${name}' is no longer stored with the contents that were used for rating: ${revision}.`,
        ),
      )
      return recalled
    },
  }
}

/** Returns the price change of a recorded modification, compared with everything that was issued before it. */
export function recordedPriceChange(
  aggregate: PolicyAggregate,
  modification: Modification,
  product: ProductDefinition,
): PolicyPriceChangeResponse {
  const { before, after } = recordedViews(aggregate, modification, product)
  return policyPriceChangeResponse(before, after)
}

/** Does the same for a transaction that was planned but not recorded, with the worksheet of the rating that just ran. */
export const previewedPriceChange = async (
  aggregate: PolicyAggregate,
  modification: Modification,
  product: ProductDefinition,
  explaining: Explaining | undefined,
): Promise<PolicyPriceChangeResponse> =>
  explaining
    ? await explainedChange(recordedViews(aggregate, modification, product), explaining, false)
    : recordedPriceChange(aggregate, modification, product)

/**
 * Whether a modification counts as made before another one. Fees can change between the quote and the issue of a transaction, and
 * then count as before it. No other amounts can change in that time.
 */
function standsBefore(one: Modification, { number, issuedAt, invalidatedAt }: Modification): boolean {
  if (one.number < number || one.kind !== 'feeUpdate') return one.number < number
  const until = issuedAt ?? invalidatedAt
  return until === undefined || one.issuedAt! < until
}

function recordedViews(
  aggregate: PolicyAggregate,
  modification: Modification,
  product: ProductDefinition,
): Views {
  const quote = boundQuote(aggregate)
  const isEarlier = (one: Modification): boolean => isIssued(one) && standsBefore(one, modification)
  const isUpToModification = (one: Modification): boolean =>
    isEarlier(one) || one.locator === modification.locator
  const before = policyView(aggregate, quote, product, isEarlier)
  // A view always includes the modification of its quote. New business has nothing before it, so its view is emptied.
  const isFirst = modification.quoteLocator !== undefined
  return {
    before: isFirst ? { ...before, line: [], exposures: [] } : before,
    after: policyView(aggregate, quote, product, isUpToModification),
  }
}

/** Returns the price change of a transaction that is not recorded, compared with the policy before it. */
export function plannedPriceChange(...planned: Parameters<typeof plannedViews>): PolicyPriceChangeResponse {
  const { before, after } = plannedViews(...planned)
  return policyPriceChangeResponse(before, after)
}

/** Does the same, with a worksheet if one was requested. */
export const explainedPriceChange = async (
  { explaining }: Pick<Attempt, 'explaining'>,
  ...planned: Parameters<typeof plannedViews>
): Promise<PolicyPriceChangeResponse> =>
  explaining
    ? await explainedChange(plannedViews(...planned), explaining, false)
    : plannedPriceChange(...planned)

const plannedViews = (
  before: PolicyAggregate,
  { aggregate, modification }: AppliedTransaction,
  product: ProductDefinition,
): Views => ({
  before: policyView(before, boundQuote(before), product, isIssued),
  after: policyView(aggregate, boundQuote(aggregate), product, withIssued(modification.locator)),
})

declare module './kind.ts' {
  interface PolicyOperations {
    /** `explain`: include a worksheet of these perils. */
    change: { of: PlannedChange; explain?: Selection }
  }
}

function changeOf({ kind }: PlannedChange): ChangeOf<PlannedChange> {
  const found = allKinds().find(one => one.changes?.[kind])
  if (!found) throw new Error(`No kind of operation computes the change '${kind}'.`)
  return found.changes![kind] as unknown as ChangeOf<PlannedChange>
}

/** Returns the stored price change, or computes the present one. Stores nothing. */
export const decideChange = (loaded: Loaded, of: PlannedChange, attempt: Attempt): Promise<ChangeResponse> =>
  changeOf(of).decide(loaded, of, attempt)

export const changeKind = defineKind<'change'>({
  name: 'change',
  isReadOnly: () => true,
  fill: async (operation, loaded, autofill) => ({
    ...operation,
    of: (await changeOf(operation.of).fill?.(operation.of, loaded, autofill)) ?? operation.of,
  }),
  async decide(loaded, { of, explain }, { attempt, context, database }) {
    const policy = loaded.aggregate.policy.locator
    const explaining = explain && (await explainingOf(context, explain, { attempt, database, policy }))
    const asked = explaining ? { ...attempt, explaining } : attempt
    return { answer: jsonAnswer(await decideChange(loaded, of, asked)) }
  },
})
