// A policy in its current state, as a migration request. Each segment in force becomes a transaction with all elements, charged
// with their cost in that segment; gaps become transactions too. Earlier changes, and the times at which they became known, are
// omitted.
import { containsTime } from '../../../kernel/time.ts'
import type { PerilResponse } from '../../../policy/contract/response.ts'
import type { PolicyRecord } from '../policy-record.ts'
import { type Bill, billsOf } from './bills.ts'
import { Charging, type Wanted } from './charging.ts'
import {
  dataOf,
  isInForce,
  isTerm,
  minorOf,
  NotExpressible,
  nestPerils,
  type Segment,
  termsOf,
} from './words.ts'

type Modification = PolicyRecord['modifications'][number]

type Term = {
  readonly start: number
  readonly end: number
  readonly opening: Modification
  readonly steps: Step[]
}

/** A transaction of the request. */
type Step = {
  readonly from: number
  /** Absent for a gap. */
  readonly segment?: Segment
  readonly modification: Modification | undefined
  readonly type: string
  /** Set for the first transaction of a term without cover at its start. Its segment is not in force and charges nothing. */
  readonly isFree: boolean
}

/**
 * Returns the terms of a migration request, in their order. Throws `NotExpressible` if a request cannot express the current state.
 */
export function currentTerms(record: PolicyRecord): object[] {
  const terms = termsIn(record)
  for (const term of terms) term.steps.push(...stepsOf(record, term))
  const bills = billsOf(record)
  const elements = new Elements(record)
  const charging = new Charging(record.currency, bills)
  for (const [termAt, term] of terms.entries())
    for (const [at, step] of term.steps.entries())
      charging.add(
        { termAt, at },
        step.segment ? elements.covered(step.segment) : [],
        wantedOf(elements, step),
      )
  addFees(record, terms, charging)
  addHoldbacks(record, terms, charging, elements)
  charging.allocate(itemsIn(record, terms, elements, bills))
  let issued = 0
  return terms.map((term, termAt) => ({
    startTime: term.start,
    endTime: term.end,
    transactions: term.steps.map((step, at) => {
      const { issuedTimestamp, createdTimestamp } = step.modification ?? term.opening
      // Times of issue follow the order of the list, no matter when the transactions were issued.
      issued = at === 0 ? Number(issuedTimestamp) : Math.max(issued, Number(issuedTimestamp))
      const place = { termAt, at }
      return {
        transactionType: step.type,
        issuedTime: issued,
        createdAt: Math.min(issued, Number(createdTimestamp)),
        segment: {
          segmentType: step.segment ? 'coverage' : 'gap',
          startTime: step.from,
          rootElement: {
            id: 'root',
            elementType: record.productName,
            data: step.segment ? dataOf(step.segment) : {},
            charges: charging.of(place, 'root'),
            elements: elements.tree(step.segment, at > 0, id => charging.of(place, id)),
          },
        },
        installments: charging.installments(place),
      }
    }),
  }))
}

function termsIn({ modifications }: PolicyRecord): Term[] {
  const terms = modifications
    .filter(one => one.issuedTimestamp !== undefined && isTerm(one))
    .map(
      (opening): Term => ({
        start: Number(opening.effectiveTimestamp),
        end: Number(opening.policyEndTimestamp),
        opening,
        steps: [],
      }),
    )
  for (const [at, term] of terms.entries())
    if (at > 0 && term.start < terms[at - 1]!.end) throw new NotExpressible('a term within another')
  return terms
}

function stepsOf(record: PolicyRecord, term: Term): Step[] {
  const segments = record.characteristics
    .filter(one => isInForce(one) && containsTime(term, Number(one.startTimestamp)))
    .sort((a, b) => Number(a.startTimestamp) - Number(b.startTimestamp))
  const steps: Step[] = []
  const gap = (from: number): Step => {
    const { modification, type } = transactionEndingAt(record, from)
    return { from, modification, type, isFree: false }
  }
  const opening = record.modifications.indexOf(term.opening) === 0 ? 'issuance' : 'renewal'
  const first = segments[0]
  if (!first || Number(first.startTimestamp) > term.start) {
    const segment = knownFirst(record, term)
    steps.push({ from: term.start, segment, modification: term.opening, type: opening, isFree: true })
    steps.push(gap(term.start))
  }
  let end = term.start
  for (const segment of segments) {
    const from = Number(segment.startTimestamp)
    if (from > end && steps.length > 0 && steps.at(-1)!.segment) steps.push(gap(end))
    const modification = modificationOfSegment(record, segment)
    const last = steps.at(-1)
    if (!last) steps.push({ from, segment, type: opening, isFree: false, modification: term.opening })
    else {
      const type = last.segment ? typeOf(modification) : 'reinstatement'
      steps.push({ from, segment, type, isFree: false, modification })
    }
    end = Number(segment.endTimestamp)
  }
  if (end > term.end) throw new NotExpressible('a segment of several terms')
  if (segments.length > 0 && end < term.end) steps.push(gap(end))
  return steps
}

const modificationOfSegment = (
  { modifications }: PolicyRecord,
  { locator }: Segment,
): Modification | undefined =>
  modifications.find(one => one.newPolicyCharacteristicsLocators.includes(locator))

/** Returns the name of an endorsement. All others are named `change`. */
const typeOf = (modification: Modification | undefined): string =>
  !modification ||
  modification.name.startsWith('modification.policy.') ||
  modification.endorsementLocator === undefined
    ? 'change'
    : modification.name

const ENDING: ReadonlySet<string> = new Set(
  ['cancel', 'withdraw', 'lapse'].map(one => `modification.policy.${one}`),
)

/** Returns the last transaction that ended cover at that time. */
function transactionEndingAt(
  { modifications }: PolicyRecord,
  from: number,
): { modification: Modification | undefined; type: string } {
  const modification = modifications.findLast(
    one =>
      one.issuedTimestamp !== undefined && ENDING.has(one.name) && Number(one.effectiveTimestamp) === from,
  )
  const isLapse = modification?.name === 'modification.policy.lapse'
  return { modification, type: modification?.cancellationName ?? (isLapse ? 'lapse' : 'cancellation') }
}

/** Returns the segment with which the term began when it was issued. */
function knownFirst(record: PolicyRecord, { start, opening }: Term): Segment {
  const own = new Set(opening.newPolicyCharacteristicsLocators)
  const found = record.characteristics.find(
    one => own.has(one.locator) && Number(one.startTimestamp) === start,
  )
  if (!found) throw new NotExpressible('a term whose first segment is unknown')
  return found
}

/** A peril in a segment, with its characteristics there. */
type Part = { readonly peril: PerilResponse; readonly part: PerilResponse['characteristics'][number] }

class Elements {
  readonly #record: PolicyRecord
  /** By the locator of the policy segment. */
  readonly #parts: ReadonlyMap<string, readonly Part[]>
  readonly #charges: ReadonlyMap<string, PolicyRecord['segmentCharges'][number]>
  readonly #perils: ReadonlyMap<string, PerilResponse>
  readonly #byCharacteristics: ReadonlyMap<string, PerilResponse>

  constructor(record: PolicyRecord) {
    this.#record = record
    const perils = record.exposures.flatMap(exposure => exposure.perils)
    const parts = perils.flatMap(peril => peril.characteristics.map((part): Part => ({ peril, part })))
    this.#parts = Map.groupBy(parts, ({ part }) => part.policyCharacteristicsLocator)
    this.#charges = new Map(record.segmentCharges.map(charge => [charge.perilCharacteristicsLocator, charge]))
    this.#perils = new Map(perils.map(one => [one.locator, one]))
    this.#byCharacteristics = new Map(parts.map(({ peril, part }) => [part.locator, peril]))
  }

  peril(locator: string): PerilResponse | undefined {
    return this.#perils.get(locator)
  }

  perilOf(characteristics: string): PerilResponse | undefined {
    return this.#byCharacteristics.get(characteristics)
  }

  /** For a segment that has been replaced, returns the parts that it had last. */
  #partsOf(segment: Segment): readonly Part[] {
    const parts = this.#parts.get(segment.locator) ?? []
    return isInForce(segment)
      ? parts.filter(({ part }) => isInForce(part))
      : parts.filter(({ part }) => part.issuedTimestamp !== undefined)
  }

  covered(segment: Segment): string[] {
    return this.#partsOf(segment).map(({ peril }) => peril.renewalGroup)
  }

  wanted(segment: Segment): Wanted[] {
    const { currency } = this.#record
    return this.#partsOf(segment).flatMap(({ peril: { renewalGroup: id }, part }): Wanted[] => {
      const charges = this.#charges.get(part.locator)
      if (!charges) return []
      const { premium, technicalPremium, taxes, commissions } = charges
      const wanted = (kind: Wanted['kind'], name: string, amount: number, rate?: number): Wanted => ({
        id,
        kind,
        name,
        minor: minorOf(amount, currency),
        ...(rate !== undefined && { rate }),
      })
      return [
        wanted('premium', '', premium, part.monthPremium),
        ...(technicalPremium === undefined
          ? []
          : [wanted('technicalPremium', '', technicalPremium, part.monthTechnicalPremium)]),
        ...taxes.map(tax => wanted('tax', tax.name, tax.amount)),
        ...commissions.map(commission =>
          wanted('commission', commission.recipient, commission.amount, commission.month),
        ),
      ]
    })
  }

  /** `isAnew`: the elements existed before. */
  tree(segment: Segment | undefined, isAnew: boolean, chargesOf: (id: string) => object[]): object[] {
    const parts = segment ? this.#partsOf(segment) : []
    const inForce = Map.groupBy(parts, ({ peril }) => peril.exposureLocator)
    return this.#record.exposures.flatMap(exposure => {
      const perils = inForce.get(exposure.locator) ?? []
      const own = segment && exposureIn(exposure, segment)
      const ids = new Set(perils.map(({ peril }) => peril.renewalGroup))
      if (ids.size !== perils.length) throw new NotExpressible('a coverage twice in one segment')
      const covered = nestPerils<{ readonly id: string; elements?: unknown[] }>(
        perils.map(({ peril, part }) => ({
          peril,
          element: {
            id: peril.renewalGroup,
            elementType: peril.name,
            data: dataOf(part),
            coverageTerms: termsOf(part),
            charges: chargesOf(peril.renewalGroup),
            ...(isAnew && { chargedAnew: true }),
          },
        })),
      )
      // Amounts that are kept from coverages that ended.
      const groups = new Map(exposure.perils.map(one => [one.renewalGroup, one]))
      const ended = [...groups.values()].flatMap(({ renewalGroup: id, name: elementType }) => {
        const charges = ids.has(id) ? [] : chargesOf(id)
        return charges.length > 0 ? [{ id, elementType, charges, ...(segment && { ended: true }) }] : []
      })
      if (!own && covered.length > 0) throw new NotExpressible('a coverage without its exposure')
      if (!own && ended.length === 0) return []
      return [
        {
          id: exposure.locator,
          elementType: exposure.name,
          ...(own ? { data: dataOf(own) } : segment && { ended: true }),
          elements: [...covered, ...ended],
        },
      ]
    })
  }
}

type Exposure = PolicyRecord['exposures'][number]

function exposureIn(
  { characteristics }: Exposure,
  segment: Segment,
): Exposure['characteristics'][number] | undefined {
  const at = Number(segment.startTimestamp)
  const holds = (one: Exposure['characteristics'][number]): boolean =>
    Number(one.startTimestamp) <= at && at < Number(one.endTimestamp)
  return isInForce(segment)
    ? characteristics.find(one => isInForce(one) && holds(one))
    : characteristics.find(one => one.issuedTimestamp === segment.issuedTimestamp && holds(one))
}

const wantedOf = (elements: Elements, { segment, isFree }: Step): Wanted[] => {
  if (!segment) return []
  return elements.wanted(segment).map(one => (isFree ? { ...one, minor: 0 } : one))
}

const termAt = (terms: readonly Term[], at: number): number => {
  const found = terms.findIndex(term => containsTime(term, at))
  if (found < 0) throw new NotExpressible('something outside of all terms')
  return found
}

function addFees({ fees, currency }: PolicyRecord, terms: readonly Term[], charging: Charging): void {
  for (const { name, amount, startTimestamp, reversed } of fees) {
    if (reversed || amount === 0) continue
    const start = Number(startTimestamp)
    const term = termAt(terms, start)
    const at = terms[term]!.steps.findLastIndex(step => step.from <= start)
    charging.want({ termAt: term, at }, { id: 'root', kind: 'fee', name, minor: minorOf(amount, currency) })
  }
}

/** Holdbacks of fees become fees in the request. */
function addHoldbacks(
  { holdbacks, fees, currency, modifications, exposures }: PolicyRecord,
  terms: readonly Term[],
  charging: Charging,
  elements: Elements,
): void {
  const starts = new Map(
    exposures.flatMap(exposure => exposure.perils.map(peril => [peril.locator, startOf(peril)] as const)),
  )
  for (const { type, amount, policyModificationLocator, ...of } of holdbacks) {
    const minor = minorOf(amount, currency)
    const from = Number(
      modifications.find(one => one.locator === policyModificationLocator)?.effectiveTimestamp,
    )
    const fee = fees.find(one => one.locator === of.feeLocator)
    const peril = of.perilLocator === undefined ? undefined : elements.peril(of.perilLocator)
    const start = fee ? Number(fee.startTimestamp) : starts.get(of.perilLocator!)
    if (start === undefined) throw new NotExpressible('an amount held back from neither a fee nor a peril')
    const term = termAt(terms, start)
    const { steps } = terms[term]!
    const gaps = [...steps.keys()].filter(at => !steps[at]!.segment)
    const at = gaps.find(gap => steps[gap]!.from >= from) ?? gaps.at(-1)
    if (at === undefined) throw new NotExpressible('an amount held back from cover that has not ended')
    const place = { termAt: term, at }
    if (type === 'fee') charging.want(place, { id: 'root', kind: 'fee', name: fee!.name, minor })
    else {
      const kind = type === 'commission' ? type : 'holdback'
      const name = of.taxName ?? of.commissionRecipient ?? ''
      charging.want(place, { id: peril!.renewalGroup, kind, name, minor })
    }
  }
}

const startOf = ({ characteristics }: PerilResponse): number =>
  Math.min(...characteristics.map(one => Number(one.coverageStartTimestamp)))

type Item = Bill['items'][number]

/** Returns the items of each bill, by the charge that they bill. */
function itemsIn(
  { currency, fees }: PolicyRecord,
  terms: readonly Term[],
  elements: Elements,
  bills: readonly Bill[],
): { termAt: number; id: string; kind: Wanted['kind']; name: string; bill: number; minor: number }[] {
  const feeStarts = new Map(fees.map(fee => [fee.locator, Number(fee.startTimestamp)]))
  const placeOf = (
    item: Item,
  ): { start: number; id: string; kind: Wanted['kind']; name: string } | undefined => {
    if (item.feeName !== undefined)
      return {
        start: feeStarts.get(item.feeLocator!) ?? Number(item.startTimestamp),
        id: 'root',
        kind: 'fee',
        name: item.feeName,
      }
    const peril = elements.perilOf(item.perilCharacteristicsLocator ?? '')
    if (!peril) return undefined
    const charged = item.taxName === undefined ? 'premium' : 'tax'
    const kind = item.type === 'holdback' ? 'holdback' : charged
    return { start: startOf(peril), id: peril.renewalGroup, kind, name: item.taxName ?? '' }
  }
  return bills.flatMap(({ items }, bill) =>
    items
      .filter(({ type }) => type !== 'commission')
      .flatMap(item => {
        const place = placeOf(item)
        if (!place) return []
        const { start, ...key } = place
        const term = terms.findIndex(one => containsTime(one, start))
        return term < 0 ? [] : [{ termAt: term, ...key, bill, minor: minorOf(item.amount, currency) }]
      }),
  )
}
