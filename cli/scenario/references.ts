// Finds records by names that authors know, such as `vehicle`, or `vehicle#2` for the second. They replace locators, which
// differ from run to run.
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { type PolicyAggregate, selectedQuoteIfAny } from '../../src/policy/records/aggregate.ts'
import { isOutstanding, paymentState } from '../../src/policy/records/invoice.ts'
import type { Target } from './steps.ts'

/** The problem with a name, and its place in the step's body. */
export class UnknownName extends Error {
  readonly path: readonly PropertyKey[]

  constructor(path: readonly PropertyKey[], message: string) {
    super(message)
    this.path = path
  }
}

type Locator = string | number

/** The records of each target, oldest first, and the default if a step does not name one. */
const TARGETS: Record<
  Target,
  { all(policy: PolicyAggregate): Locator[]; default(policy: PolicyAggregate): Locator | undefined }
> = {
  quote: {
    all: ({ quotes }) => [...quotes.keys()],
    default: policy => selectedQuoteIfAny(policy)?.locator ?? [...policy.quotes.keys()].at(-1),
  },
  endorsement: newest(({ endorsements }) =>
    [...endorsements.values()]
      .filter(endorsement => endorsement.kind === 'endorsement')
      .map(endorsement => endorsement.locator),
  ),
  renewal: newest(({ endorsements }) =>
    [...endorsements.values()]
      .filter(endorsement => endorsement.kind === 'renewal')
      .map(endorsement => endorsement.locator),
  ),
  cancellation: newest(({ cancellations }) => [...cancellations.keys()]),
  reinstatement: newest(({ reinstatements }) => [...reinstatements.keys()]),
  lapseReinstatement: newest(({ lapseReinstatements }) => [...lapseReinstatements.keys()]),
  gracePeriod: newest(({ gracePeriods }) => [...gracePeriods.keys()]),
  invoice: {
    all: ({ invoices }) => [...invoices.keys()],
    default: ({ invoices }) =>
      [...invoices.values()].filter(isOutstanding).sort((a, b) => a.dueAt - b.dueAt)[0]?.locator,
  },
  payment: {
    all: ({ payments }) => [...payments.keys()],
    default: ({ payments }) =>
      [...payments.values()].findLast(
        payment => paymentState(payment) === 'posted' && payment.source !== 'offset',
      )?.locator,
  },
}

function newest(all: (policy: PolicyAggregate) => Locator[]) {
  return { all, default: (policy: PolicyAggregate) => all(policy).at(-1) }
}

const TARGET_WORDS: Partial<Record<Target, string>> = {
  gracePeriod: 'grace period',
  lapseReinstatement: 'reinstatement of a lapse',
}

/** Returns the record that a step acts on. `of` is its number, from 1, or a name that an earlier step gave it. */
export function targetOf(
  policy: PolicyAggregate,
  target: Target,
  of: string | number | undefined,
  named: ReadonlyMap<string, string>,
): Locator {
  const { all, default: chosen } = TARGETS[target]
  const word = TARGET_WORDS[target] ?? target
  const known = all(policy)
  if (of === undefined) {
    const found = chosen(policy)
    if (found !== undefined) return found
    const open = target === 'invoice' && known.length > 0 ? ' that is outstanding' : ''
    throw new UnknownName([], `The policy has no ${word}${open} to act on at this time.`)
  }
  if (typeof of === 'number') {
    const found = known[of - 1]
    if (found !== undefined) return found
    throw new UnknownName(['of'], `There is no ${word} ${of}; the policy has ${known.length} at this time.`)
  }
  const locator = named.get(of)
  const found = known.find(one => String(one) === locator)
  if (found !== undefined) return found
  const names = [...named.keys()]
  throw new UnknownName(
    ['of'],
    names.length === 0
      ? `No earlier step has a name. Write 'as: ${of}' in the step whose ${word} you mean.`
      : `No ${word} is named '${of}'. Steps have given the names ${names.map(one => `'${one}'`).join(', ')}.`,
  )
}

type View = PolicyResponse
type Exposure = View['exposures'][number]
type Peril = Exposure['perils'][number]
type Path = readonly PropertyKey[]
type Scope = { readonly exposure?: Exposure; readonly peril?: Peril }

/** Properties that contain locators, and the kind of record. */
const REFERENCES: Readonly<Record<string, 'exposure' | 'peril' | 'fieldGroup' | 'fee'>> = {
  exposureLocator: 'exposure',
  endExposures: 'exposure',
  removeExposures: 'exposure',
  perilLocator: 'peril',
  endPerils: 'peril',
  removePerils: 'peril',
  fieldGroupLocator: 'fieldGroup',
  removeFieldGroups: 'fieldGroup',
  reverseFees: 'fee',
}

/** Returns the body with locators in place of names of the policy's parts. Throws an UnknownName. */
export function withLocators(body: unknown, policyNow: () => PolicyResponse): unknown {
  let view: View | undefined
  const policy = (): View => (view ??= policyNow())
  const read = (value: unknown, path: Path, scope: Scope): unknown => {
    if (Array.isArray(value)) return value.map((one, at) => read(one, [...path, at], scope))
    if (typeof value !== 'object' || value === null) return value
    const own = value as Readonly<Record<string, unknown>>
    const inner = scopeOf(own, path, scope)
    return Object.fromEntries(
      Object.entries(own).map(([name, one]) => {
        const kind = Object.hasOwn(REFERENCES, name) ? REFERENCES[name]! : undefined
        if (!kind) return [name, read(one, [...path, name], inner)]
        const found = (written: unknown, at: Path): unknown =>
          typeof written === 'string' ? locatorOf(kind, written, at, policy, inner) : written
        if (!Array.isArray(one)) return [name, found(one, [...path, name])]
        return [name, one.map((written, at) => found(written, [...path, name, at]))]
      }),
    )
  }
  /** Returns the scope for names inside the object: the parts of its exposure or peril. */
  const scopeOf = (own: Readonly<Record<string, unknown>>, path: Path, scope: Scope): Scope => {
    const { exposureLocator, perilLocator } = own
    if (typeof exposureLocator === 'string') {
      const locator = locatorOf('exposure', exposureLocator, [...path, 'exposureLocator'], policy, scope)
      return { exposure: policy().exposures.find(one => one.locator === locator) }
    }
    if (typeof perilLocator === 'string') {
      const locator = locatorOf('peril', perilLocator, [...path, 'perilLocator'], policy, scope)
      return { ...scope, peril: perilsIn(policy(), scope).find(one => one.locator === locator) }
    }
    return scope
  }
  return read(body, [], {})
}

const perilsIn = (policy: View, { exposure }: Scope): Peril[] =>
  (exposure ? [exposure] : policy.exposures).flatMap(one => one.perils)

function locatorOf(
  kind: 'exposure' | 'peril' | 'fieldGroup' | 'fee',
  written: string,
  path: Path,
  policy: () => View,
  scope: Scope,
): string {
  const known = knownOf(kind, policy(), scope)
  if (known.some(([, locator]) => locator === written)) return written
  const [, name = written, number] = /^(.+)#(\d+)$/.exec(written) ?? []
  const alike = known.filter(([one]) => one === name).map(([, locator]) => locator)
  const word = kind === 'fieldGroup' ? 'field group' : kind
  if (alike.length === 0) {
    const names = [...new Set(known.map(([one]) => one))]
    const listed = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`
    throw new UnknownName(path, `There is no ${word} '${name}' at this time; ${listed}.`)
  }
  if (number !== undefined) {
    const found = alike[Number(number) - 1]
    if (found !== undefined) return found
    throw new UnknownName(
      path,
      `There is no '${written}': only ${alike.length} of that name exist at this time.`,
    )
  }
  // A renewed peril exists once in each term, and the newest is meant.
  if (alike.length === 1 || (kind === 'peril' && scope.exposure)) return alike.at(-1)!
  throw new UnknownName(
    path,
    `There are ${alike.length} with the name '${name}'. Write ${name}#1 to ${name}#${alike.length}, in the order of their creation.`,
  )
}

function knownOf(kind: string, policy: View, scope: Scope): (readonly [name: string, locator: string])[] {
  switch (kind) {
    case 'exposure':
      return policy.exposures.map(one => [one.name, one.locator])
    case 'peril':
      return perilsIn(policy, scope).map(one => [one.name, one.locator])
    case 'fee':
      return policy.fees.filter(fee => !fee.reversed).map(fee => [fee.name, fee.locator])
    default: {
      const owner = scope.peril ?? scope.exposure ?? policy
      const segment = owner.characteristics.findLast(one => one.replacedTimestamp === undefined)
      const { fieldValues = {}, fieldGroupsByLocator = {} } = segment ?? {}
      return Object.entries(fieldValues).flatMap(([name, values]) =>
        values
          .filter(value => Object.hasOwn(fieldGroupsByLocator, value))
          .map(value => [name, value] as const),
      )
    }
  }
}
