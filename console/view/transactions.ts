// Transactions with the change of premium by each, and all requests for them.
import { get } from '../api.ts'
import { sum } from '../decimal.ts'
import type { Prepared } from '../desk/desk.ts'
import { type Child, h, part, type View } from '../element.ts'
import { dayOrMoment, moment, money, signedMoney, transaction, words } from '../format.ts'
import { desk } from '../open-desk.ts'
import { badge, emptyNote, facts, firstRows, loadedSection, section, table } from '../parts.ts'
import type { Cancellation, Endorsement, Modification, Policy, Renewal } from '../wire.ts'
import type { Known } from './view-input.ts'
import { VIEW } from './words.ts'

type PriceChange = {
  newTotal: string
  newTotalCurrency: string
  totalChange: string
  premiumChange?: string
  newGrossPremium?: string
  grossPremiumChange?: string
  grossTaxesChange?: string
  grossFeesChange?: string
}

/** A request for a transaction of any kind. */
type TransactionRequest = {
  kind: string
  path: string
  name: string
  state: string
  created: string
  from: string | undefined
  /** Set if the request has further steps. */
  prepared?: Prepared
}

export function transactionsView(policy: Policy, { names, held }: Known, signal: AbortSignal): View {
  return h(
    'div',
    {},
    section(VIEW.transactions, modificationTable(policy, names)),
    section(
      VIEW.requests,
      loadedSection(VIEW.loads.requests, async () =>
        requestTable(await requestsOf(policy.locator, signal), policy, held, signal),
      ),
    ),
  )
}

function modificationTable(policy: Policy, names: ReadonlyMap<string, string>): View {
  const issued = policy.modifications.filter(modification => modification.issuedTimestamp !== undefined)
  const totals = new Map(
    issued.map((one, at) => [
      one.locator,
      sum(issued.slice(0, at + 1).map(({ premiumChange }) => premiumChange)),
    ]),
  )
  const currency = policy.grossFeesCurrency
  return policy.modifications.length === 0
    ? emptyNote(VIEW.noneYet)
    : table(
        VIEW.policyTransactions,
        [
          {
            head: VIEW.transaction,
            cell: one => [h('span', { class: 'soft' }, `${one.number} `), transaction(one.name)],
          },
          {
            head: VIEW.inEffectFrom,
            cell: one => (one.effectiveTimestamp ? dayOrMoment(one.effectiveTimestamp) : '–'),
          },
          {
            head: VIEW.knownSince,
            cell: one => (one.issuedTimestamp ? moment(one.issuedTimestamp) : badge('draft', VIEW.notIssued)),
          },
          {
            head: VIEW.change,
            amount: true,
            cell: one => signedMoney(one.premiumChange, one.premiumChangeCurrency),
          },
          { head: VIEW.premiumSince, amount: true, cell: one => money(totals.get(one.locator), currency) },
        ],
        policy.modifications,
        one => modificationDetail(policy, one, names),
      )
}

function modificationDetail(policy: Policy, one: Modification, names: ReadonlyMap<string, string>): View {
  const exposureOf = new Map(policy.exposures.map(exposure => [exposure.locator, exposure]))
  const perilOf = new Map(
    policy.exposures.flatMap(({ perils }) => perils.map(peril => [peril.locator, peril])),
  )
  const changes = one.exposureModifications.flatMap(({ exposureLocator, perilModifications }) =>
    perilModifications.map(peril => ({ exposureLocator, peril })),
  )
  const nameOf = (name: string | undefined): string =>
    name === undefined ? '–' : (names.get(name) ?? words(name))
  const { automatedUnderwritingResult: underwriting } = one
  return h(
    'div',
    {},
    underwritingFacts(underwriting),
    changes.length === 0
      ? emptyNote(VIEW.changedNoPeril)
      : firstRows(
          VIEW.perilsChanged(one.number),
          [
            { head: VIEW.peril, cell: ({ peril }) => nameOf(perilOf.get(peril.perilLocator)?.name) },
            {
              head: VIEW.exposure,
              cell: ({ exposureLocator }) => nameOf(exposureOf.get(exposureLocator)?.name),
            },
            {
              head: VIEW.what,
              cell: ({ peril }) => changeOf(peril),
            },
            {
              head: VIEW.premium,
              amount: true,
              cell: ({ peril }) => signedMoney(peril.premiumChange, peril.premiumChangeCurrency),
            },
          ],
          changes,
          MOST_CHANGES,
        ),
  )
}

const underwritingFacts = (result: Modification['automatedUnderwritingResult']): Child =>
  result &&
  facts([
    [VIEW.underwriting, badge(result.decision)],
    [VIEW.notes, result.notes.join(' ') || VIEW.noUnderwritingNotes],
  ])

/** More changed perils of a transaction are only counted. */
const MOST_CHANGES = 500

function changeOf({
  newPerilCharacteristicsLocator: now,
  replacedPerilCharacteristicsLocator: before,
}: Modification['exposureModifications'][number]['perilModifications'][number]): string {
  if (now === undefined) return VIEW.ended
  return before === undefined ? VIEW.added : VIEW.changed
}

const transactionRequestOf = (
  { state, createdTimestamp: created }: Pick<Cancellation, 'createdTimestamp'> & { state: string },
  kind: string,
  path: string,
): TransactionRequest => ({ kind, path, state, created, name: '', from: undefined })

const preparedOf = (
  kind: Prepared['kind'],
  title: string,
  { locator, state, automatedUnderwritingResult }: Endorsement | Renewal,
): Prepared => ({ kind, title, locator, state, decision: automatedUnderwritingResult?.decision })

async function requestsOf(locator: string, signal: AbortSignal): Promise<TransactionRequest[]> {
  const path = `/policies/${encodeURIComponent(locator)}`
  const [endorsements, renewals, cancellations] = await Promise.all([
    get<Endorsement[]>(`${path}/endorsements`, signal),
    get<Renewal[]>(`${path}/renewals`, signal),
    get<Cancellation[]>(`${path}/cancellations`, signal),
  ])
  return [
    ...endorsements.map(
      (endorsement): TransactionRequest => ({
        ...transactionRequestOf(endorsement, VIEW.endorsement, `/endorsements/${endorsement.locator}`),
        name: endorsement.endorsementName,
        from: endorsement.startTimestamp,
        prepared: preparedOf('endorsement', words(endorsement.endorsementName), endorsement),
      }),
    ),
    ...renewals.map(
      (renewal): TransactionRequest => ({
        ...transactionRequestOf(renewal, VIEW.renewal, `/renewals/${renewal.locator}`),
        from: renewal.renewalStartTimestamp,
        prepared: preparedOf('renewal', VIEW.renewal, renewal),
      }),
    ),
    ...cancellations.map(
      (cancellation): TransactionRequest => ({
        ...transactionRequestOf(cancellation, VIEW.cancellation, `/cancellations/${cancellation.locator}`),
        name: cancellation.name,
        from: cancellation.effectiveTimestamp,
        prepared: {
          kind: 'cancellation',
          locator: cancellation.locator,
          state: cancellation.state,
          decision: undefined,
          title: `${VIEW.cancellation} ${words(cancellation.name)}`,
        },
      }),
    ),
    ...cancellations
      .flatMap(({ reinstatements = [] }) => reinstatements)
      .map(
        (one): TransactionRequest => ({
          ...transactionRequestOf(one, VIEW.reinstatement, `/reinstatements/${one.locator}`),
          from: one.effectiveTimestamp,
          prepared: {
            kind: 'reinstatement',
            locator: one.locator,
            state: one.state,
            decision: undefined,
            title: VIEW.reinstatement,
          },
        }),
      ),
  ].sort((a, b) => Number(b.created) - Number(a.created))
}

const requestTable = (
  asked: readonly TransactionRequest[],
  { locator, grossFeesCurrency: currency }: Policy,
  held: ReadonlySet<string>,
  signal: AbortSignal,
): View =>
  asked.length === 0
    ? emptyNote(VIEW.noRequests)
    : table(
        VIEW.requestsForTransactions,
        [
          {
            head: VIEW.request,
            cell: ({ kind, name }) => [kind, name && h('span', { class: 'soft' }, ` ${words(name)}`)],
          },
          { head: VIEW.state, cell: ({ state }) => badge(state) },
          { head: VIEW.made, cell: ({ created }) => moment(created) },
          { head: VIEW.inEffectFrom, cell: ({ from }) => (from ? dayOrMoment(from) : '–') },
        ],
        asked,
        one => [
          one.prepared && requestSteps(one.prepared, locator, held),
          loadedSection(VIEW.loads.price, async () => {
            const [price, underwriting] = await Promise.all([
              get<PriceChange>(`${one.path}/price`, signal),
              isUnderwritten(one) ? underwritingOf(one, signal) : undefined,
            ])
            const change = facts([
              [VIEW.premium, signedMoney(price.grossPremiumChange ?? price.premiumChange, currency)],
              [VIEW.taxes, signedMoney(price.grossTaxesChange, currency)],
              [VIEW.fees, signedMoney(price.grossFeesChange, currency)],
              [VIEW.changeOfTheTotal, signedMoney(price.totalChange, price.newTotalCurrency)],
              [VIEW.newTotal, money(price.newTotal, price.newTotalCurrency)],
            ])
            return [underwritingFacts(underwriting), change]
          }),
        ],
      )

const isUnderwritten = ({ prepared }: TransactionRequest): boolean =>
  prepared?.kind === 'endorsement' || prepared?.kind === 'renewal'

/** The decision with its notes, for the person who decides. Undefined if it cannot be read. */
const underwritingOf = (
  { path }: TransactionRequest,
  signal: AbortSignal,
): Promise<Modification['automatedUnderwritingResult']> =>
  get<Modification['automatedUnderwritingResult']>(`${path}/automatedUnderwritingResult`, signal).catch(
    () => undefined,
  )

const requestSteps = (prepared: Prepared, policyLocator: string, held: ReadonlySet<string>): Child =>
  loadedSection(VIEW.loads.whatCanBeDone, async () => {
    const { Steps } = await desk()
    return part(Steps, { prepared, policyLocator, held })
  })
