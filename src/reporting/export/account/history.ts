// The history of a policy as a migration request: terms, transactions, elements and charges. It uses only what responses show,
// so that nothing else is carried over.
import { containsTime } from '../../../kernel/time.ts'
import type { CheckInvoicesResponse, FinancialTransactionResponse } from '../../../policy/contract/billing.ts'
import type {
  PerilResponse,
  PolicyModificationResponse,
  PolicyResponse,
} from '../../../policy/contract/response.ts'
import { amountText, dataOf, isTerm, minorOf, NotExpressible, type Segment, termsOf } from './words.ts'

/** A bill of the policy: an invoice, or a planned bill. */
export type HistoricBill = {
  readonly invoiceId: string | undefined
  readonly owner: string
  readonly times: object
  readonly items: readonly FinancialTransactionResponse[]
}

type Span = { start: number; end: number }
type Modification = PolicyModificationResponse & { issuedTimestamp: string }
type Term = Span & { modifications: Modification[] }

/** Returns a predicate: whether a record was known, and not yet replaced, at that time of issue. */
const knownAt =
  (at: number) =>
  (one: { issuedTimestamp?: string; replacedTimestamp?: string }): boolean =>
    one.issuedTimestamp !== undefined &&
    Number(one.issuedTimestamp) <= at &&
    (one.replacedTimestamp === undefined || Number(one.replacedTimestamp) > at)

/** `taxes` has the names of the taxes of each peril, by its locator. */
export function termsWithHistory(
  policy: PolicyResponse,
  bills: readonly HistoricBill[],
  taxes: ReadonlyMap<string, readonly string[]>,
): object[] {
  const modifications = policy.modifications.map((modification): Modification => {
    if (modification.issuedTimestamp === undefined) throw new NotExpressible('an accepted transaction')
    if (
      modification.name === 'modification.policy.withdraw' ||
      modification.name === 'modification.policy.lapse'
    )
      throw new NotExpressible(modification.name)
    return { ...modification, issuedTimestamp: modification.issuedTimestamp }
  })
  assertExpressible(policy, modifications, bills)
  const terms: Term[] = []
  for (const one of modifications)
    if (isTerm(one))
      terms.push({
        start: Number(one.effectiveTimestamp),
        end: Number(one.policyEndTimestamp),
        modifications: [one],
      })
    else termOf(terms, Number(one.effectiveTimestamp)).modifications.push(one)
  for (const [at, term] of terms.entries())
    if (at > 0 && term.start < terms[at - 1]!.end) throw new NotExpressible('a term within another')
  const history = new History(policy, bills, terms, taxes)
  return terms.map(term => ({
    startTime: term.start,
    endTime: term.end,
    transactions: term.modifications.map(modification => history.transaction(modification, term)),
  }))
}

function assertExpressible(
  { exposures, grossFeesCurrency: currency }: PolicyResponse,
  modifications: readonly Modification[],
  bills: readonly HistoricBill[],
): void {
  if (new Set(modifications.map(modification => modification.issuedTimestamp)).size < modifications.length)
    throw new NotExpressible('transactions that were issued at the same moment')
  const listed = new Set(modifications.map(modification => modification.locator))
  for (const { policyModificationLocator: by } of bills.flatMap(bill => bill.items))
    if (by !== undefined && !listed.has(by)) throw new NotExpressible('a change of only fees or bills')
  const premiums = new Map<string, number>()
  for (const { type, amount, policyModificationLocator: by = '' } of bills.flatMap(bill => bill.items))
    if (type === 'premium') premiums.set(by, (premiums.get(by) ?? 0) + minorOf(amount, currency))
  for (const { locator, premiumChange = 0 } of modifications)
    if ((premiums.get(locator) ?? 0) !== minorOf(premiumChange, currency))
      throw new NotExpressible('a transaction whose charges are not on bills')
  if (exposures.some(exposure => exposure.perils.some(peril => peril.parentLocator !== undefined)))
    throw new NotExpressible('a coverage within a coverage')
}

function termOf(terms: readonly Term[], at: number): Term {
  const found = terms.find(term => containsTime(term, at))
  if (!found) throw new NotExpressible('a transaction outside of all terms')
  return found
}

class History {
  readonly #policy: PolicyResponse
  readonly #bills: readonly HistoricBill[]
  readonly #terms: readonly Term[]
  readonly #perils = new Map<string, PerilResponse>()

  readonly #taxes: ReadonlyMap<string, readonly string[]>

  constructor(
    policy: PolicyResponse,
    bills: readonly HistoricBill[],
    terms: readonly Term[],
    taxes: ReadonlyMap<string, readonly string[]>,
  ) {
    this.#taxes = taxes
    this.#policy = policy
    this.#bills = bills
    this.#terms = terms
    for (const peril of policy.exposures.flatMap(exposure => exposure.perils))
      for (const { locator } of peril.characteristics) this.#perils.set(locator, peril)
  }

  transaction(modification: Modification, term: Term): object {
    const { locator, name, issuedTimestamp, createdTimestamp, effectiveTimestamp, cancellationName } =
      modification
    const from = Number(effectiveTimestamp)
    const bills = this.#bills.filter(
      bill => bill.owner === locator || bill.items.some(item => item.policyModificationLocator === locator),
    )
    const isGap = name === 'modification.policy.cancel'
    this.#assertOneTerm(modification, term)
    return {
      transactionType: cancellationName ?? TYPES[name] ?? name,
      issuedTime: Number(issuedTimestamp),
      createdAt: Number(createdTimestamp),
      segment: {
        segmentType: isGap ? 'gap' : 'coverage',
        startTime: from,
        rootElement: this.#root(modification, from, bills, isGap),
      },
      installments: bills.map(({ invoiceId, times }, at) => ({
        id: `${locator}-${at}`,
        ...times,
        invoiceId,
      })),
    }
  }

  /** Requires a transaction to have one outcome, up to the end of its term, and to change no other term. */
  #assertOneTerm({ issuedTimestamp, name, effectiveTimestamp }: Modification, term: Term): void {
    const at = Number(issuedTimestamp)
    const before = knownAt(at - 1)
    const after = knownAt(at)
    const isTouched = (one: Segment): boolean => before(one) !== after(one)
    for (const one of this.#policy.characteristics)
      if (isTouched(one) && termOf(this.#terms, Number(one.startTimestamp)) !== term)
        throw new NotExpressible('a transaction of several terms')
    if (name === 'modification.policy.cancel') return
    const from = Number(effectiveTimestamp)
    const going = this.#policy.characteristics.filter(
      one =>
        after(one) &&
        Number(one.endTimestamp) > from &&
        termOf(this.#terms, Number(one.startTimestamp)) === term,
    )
    const shown = (name: string, value: unknown) =>
      ['peril', 'taxGroups'].includes(name) ? undefined : value
    const trees = new Set(
      going.map(one => JSON.stringify(this.#tree(at, Math.max(from, Number(one.startTimestamp))), shown)),
    )
    const covered = going.reduce(
      (all, one) => all + Number(one.endTimestamp) - Math.max(from, Number(one.startTimestamp)),
      0,
    )
    if (trees.size !== 1 || covered !== term.end - from)
      throw new NotExpressible('a transaction with several outcomes')
  }

  /** Returns the elements in force at `time`, as known at `knownTime`. */
  #tree(knownTime: number, time: number) {
    const holds = (start: string, end: string): boolean => Number(start) <= time && time < Number(end)
    const isKnown = knownAt(knownTime)
    const own = this.#policy.characteristics.find(
      one => isKnown(one) && holds(one.startTimestamp, one.endTimestamp),
    )
    const exposures = this.#policy.exposures.flatMap(exposure => {
      const found = exposure.characteristics.find(
        one => isKnown(one) && holds(one.startTimestamp, one.endTimestamp),
      )
      if (!found) return []
      const perils = exposure.perils.flatMap(peril => {
        const part = peril.characteristics.find(
          one => isKnown(one) && holds(one.coverageStartTimestamp, one.coverageEndTimestamp),
        )
        if (!part) return []
        return [
          {
            id: peril.renewalGroup,
            elementType: peril.name,
            data: dataOf(part),
            coverageTerms: termsOf(part),
            peril,
            rates: { premium: part.monthPremium, technicalPremium: part.monthTechnicalPremium },
          },
        ]
      })
      return [{ id: exposure.locator, elementType: exposure.name, data: dataOf(found), elements: perils }]
    })
    return { data: own ? dataOf(own) : {}, taxGroups: own?.taxGroups ?? [], exposures }
  }

  #root(modification: Modification, from: number, bills: readonly HistoricBill[], isGap: boolean): object {
    const charges = this.#charges(modification.locator, bills)
    if (!isGap && modification.name !== 'modification.policy.reinstate')
      this.#assertOneStretch(modification, charges, from)
    const { data, taxGroups, exposures } = this.#tree(Number(modification.issuedTimestamp), from)
    const covered = exposures.map(({ elements, ...exposure }) => ({
      ...exposure,
      elements: elements.map(({ rates, peril, ...element }) => ({
        ...element,
        charges: [
          ...withRate(charges.get(element.id) ?? [], rates.premium),
          ...this.#taxesOfNothing(peril, taxGroups),
          ...technicalPremium(
            peril,
            modification,
            rates.technicalPremium,
            bills.length > 0,
            this.#policy.grossFeesCurrency,
          ),
        ],
      })),
    }))
    const ids = new Set(exposures.flatMap(one => [one.id, ...one.elements.map(peril => peril.id)]))
    const gone = this.#policy.exposures.flatMap(exposure => {
      // Perils of one renewal group, one per term, become a single element.
      const perils = new Map(exposure.perils.map(peril => [peril.renewalGroup, peril]))
      const elements = [...perils.values()]
        .filter(peril => charges.has(peril.renewalGroup) && !ids.has(peril.renewalGroup))
        .map(peril => ({
          id: peril.renewalGroup,
          elementType: peril.name,
          charges: charges.get(peril.renewalGroup),
          ...(!isGap && { ended: true }),
        }))
      const isEnded = !isGap && !ids.has(exposure.locator)
      if (elements.length === 0) return []
      return [{ id: exposure.locator, elementType: exposure.name, elements, ...(isEnded && { ended: true }) }]
    })
    const merged = isGap
      ? gone
      : covered.map(one =>
          withEndedElements(
            one,
            gone.find(other => other.id === one.id),
          ),
        )
    const others = isGap ? [] : gone.filter(one => !ids.has(one.id))
    return {
      id: 'root',
      elementType: this.#policy.productName,
      data,
      charges: charges.get('root') ?? [],
      elements: [...merged, ...others],
    }
  }

  /** For an element that is rated again over several segments, a request states only the sum, not the amount in each segment. */
  #assertOneStretch({ locator }: Modification, charges: ReadonlyMap<string, unknown>, from: number): void {
    for (const { renewalGroup, characteristics } of this.#policy.exposures.flatMap(
      exposure => exposure.perils,
    )) {
      if (!charges.has(renewalGroup)) continue
      const made = characteristics.filter(
        one => one.policyModificationLocator === locator && Number(one.coverageStartTimestamp) >= from,
      )
      if (made.length > 1) throw new NotExpressible('an element rated again in several segments')
    }
  }

  /** Returns the charges of the transaction by element, each with its amounts by installment. */
  #charges(locator: string, bills: readonly HistoricBill[]): Map<string, Charge[]> {
    const byElement = new Map<string, Charge[]>()
    for (const [at, { items }] of bills.entries())
      for (const item of items) {
        if (item.policyModificationLocator !== locator) continue
        const { id, chargeType, tag } = this.#source(item)
        const charges = byElement.get(id) ?? []
        byElement.set(id, charges)
        const found = charges.find(one => one.chargeType === chargeType && one.tag === tag)
        const charge = found ?? { chargeType, tag, installmentItems: [] }
        if (!found) charges.push(charge)
        charge.installmentItems.push({ amount: item.amount, installmentNumber: at + 1 })
      }
    return byElement
  }

  /** Returns taxes of the peril that the segment has, so that they are listed even if nothing is charged or remains of them. */
  #taxesOfNothing({ locator }: PerilResponse, taxGroups: Segment['taxGroups']): Charge[] {
    const names = new Set(taxGroups.map(group => group.name))
    return (this.#taxes.get(locator) ?? [])
      .filter(name => names.has(name))
      .map(tag => ({ chargeType: 'tax', tag, installmentItems: [] }))
  }

  #source(item: FinancialTransactionResponse): { id: string; chargeType: string; tag?: string } {
    if (item.feeName !== undefined) return { id: 'root', chargeType: 'fee', tag: item.feeName }
    const peril = this.#perils.get(item.perilCharacteristicsLocator!)
    if (!peril) throw new NotExpressible('an item of no peril')
    const id = peril.renewalGroup
    if (item.type === 'holdback')
      return { id, chargeType: 'holdback', ...(item.taxName !== undefined && { tag: item.taxName }) }
    if (item.taxName !== undefined) return { id, chargeType: 'tax', tag: item.taxName }
    if (item.type === 'commission') return { id, chargeType: 'commission', tag: item.commissionRecipient! }
    return { id, chargeType: 'premium' }
  }
}

const TYPES: Readonly<Record<string, string>> = {
  'modification.policy.create': 'issuance',
  'modification.policy.renew': 'renewal',
  'modification.policy.cancel': 'cancellation',
  'modification.policy.reinstate': 'reinstatement',
}

type Charge = {
  chargeType: string
  tag: string | undefined
  rate?: number | undefined
  installmentItems: { amount: number | string; installmentNumber: number }[]
}

/** Adds the rate to the premium, even if nothing is charged. */
function withRate(charges: readonly Charge[], rate: number | undefined): Charge[] {
  const isPremium = (one: Charge): boolean => one.chargeType === 'premium'
  return charges.some(isPremium)
    ? charges.map(charge => (isPremium(charge) ? { ...charge, rate } : charge))
    : [...charges, { chargeType: 'premium', tag: undefined, rate, installmentItems: [] }]
}

/** Returns the technical premium. Nobody is charged for it, so its change goes on the first installment, if there is one. */
function technicalPremium(
  { characteristics }: PerilResponse,
  { locator, issuedTimestamp }: Modification,
  rate: number | undefined,
  isBilled: boolean,
  currency: string,
): Charge[] {
  if (rate === undefined) return []
  const minor = (list: PerilResponse['characteristics']): number =>
    list.reduce((sum, one) => sum + minorOf(one.technicalPremium ?? 0, currency), 0)
  const made = characteristics.filter(one => one.policyModificationLocator === locator)
  const gone = characteristics.filter(one => one.replacedTimestamp === issuedTimestamp)
  const amount = amountText(minor(made) - minor(gone), currency)
  const installmentItems = isBilled ? [{ amount, installmentNumber: 1 }] : []
  return [{ chargeType: 'technicalPremium', tag: undefined, rate, installmentItems }]
}

const withEndedElements = <T extends { elements: object[] }>(
  one: T,
  gone: { elements: object[] } | undefined,
): T => (gone ? { ...one, elements: [...one.elements, ...gone.elements] } : one)

/** Returns the bills of a policy. Void invoices are left out, because in the end they billed nothing. */
export function historicBills({ invoices, futureInvoices }: CheckInvoicesResponse): HistoricBill[] {
  const latest = (items: readonly FinancialTransactionResponse[]): string =>
    items.at(-1)?.policyModificationLocator ?? ''
  return [
    ...invoices
      .filter(one => one.settlementType !== 'invalidated')
      .map(one => {
        if (one.settlementType === 'carriedForward') throw new NotExpressible('an invoice carried forward')
        return {
          invoiceId: one.locator,
          owner: one.policyModificationLocator!,
          times: {
            startTime: Number(one.startTimestamp),
            dueTime: Number(one.dueTimestamp),
            generateTime: Number(one.createdTimestamp),
          },
          items: one.financialTransactions,
        }
      }),
    ...futureInvoices.map(one => ({
      invoiceId: undefined,
      owner: latest(one.financialTransactions),
      times: {
        startTime: Number(one.startTimestamp),
        dueTime: Number(one.dueTimestamp),
        generateTime: Number(one.issueTimestamp),
      },
      items: one.financialTransactions,
    })),
  ]
}
