// Tools that find and read policyholders and policies.
import { z } from 'zod'
import { bodyOf, firstOf } from '../answers.ts'
import { type Host, type Json, pathOf } from '../host.ts'
import { defineTool } from '../tool.ts'
import {
  FieldValues,
  fieldValues,
  Groups,
  groupsOf,
  isoOf,
  Money,
  More,
  MoreCount,
  money,
  msIfAny,
  NameIn,
  NextPage,
  policyholderIn,
  policyIn,
  Time,
  TimeIn,
} from '../values.ts'

const search = {
  field: NameIn.optional().describe(
    'A searchable field (read_product lists them); together with value or prefix.',
  ),
  value: z.string().min(1).max(256).optional().describe('Value of the field. Letter case is ignored.'),
  prefix: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Beginning of the value of the field. Letter case is ignored.'),
  pageSize: z.number().int().min(1).max(50).default(10),
  more: More,
}

type Search = {
  field?: string | undefined
  value?: string | undefined
  prefix?: string | undefined
  more?: string | undefined
  pageSize: number
}

const searchQuery = ({ field, value, prefix, pageSize, more }: Search) => ({
  searchField: field,
  searchValue: value,
  searchPrefix: prefix,
  pageSize,
  pagingToken: more,
})

const STATES = [
  'created',
  'quoted',
  'declined',
  'finalized',
  'discarded',
  'lapsed',
  'inGrace',
  'pending',
  'issued',
  'expired',
  'cancelled',
  'withdrawn',
] as const

const PolicySummary = z.strictObject({
  policy: z.string(),
  policyholder: z.string(),
  product: z.string(),
  state: z.string(),
  start: Time.optional(),
  end: Time.optional(),
  premium: Money.optional().describe('For the term, without taxes and fees.'),
})

const findPolicies = defineTool({
  name: 'find_policies',
  title: 'Find policies',
  about:
    'Finds policies by a searchable field, by policyholder, product or state. Without any of these it lists all, oldest first. Use it whenever you do not have the locator of a policy.',
  effect: 'reads',
  input: z.strictObject({
    ...search,
    policyholder: policyholderIn.optional(),
    product: NameIn.optional(),
    state: z.enum(STATES).optional().describe('The current state. issued means in force.'),
  }),
  output: z.strictObject({ policies: z.array(PolicySummary), more: NextPage }),
  async run({ policyholder, product, state, ...terms }, host) {
    const query = { ...searchQuery(terms), policyholderLocator: policyholder, productName: product, state }
    const page = await bodyOf(host.call({ method: 'GET', path: '/policies', query }))
    return {
      policies: page.policies.map((one: Json) => ({
        policy: one.locator,
        policyholder: one.policyholderLocator,
        product: one.productName,
        state: one.state,
        start: isoOf(one.originalContractStartTimestamp),
        end: isoOf(one.effectiveContractEndTimestamp),
        premium: money(one, 'grossPremium'),
      })),
      more: page.listCompleted ? undefined : page.pagingToken,
    }
  },
})

const Policyholder = z.strictObject({
  policyholder: z.string(),
  completed: z.boolean().describe('A policy needs a completed policyholder.'),
  version: z.number().int(),
  values: FieldValues,
})

const shownHolder = ({ locator, version, entity }: Json) => ({
  policyholder: locator,
  completed: entity.completed,
  version,
  values: fieldValues(entity.values),
})

const findPolicyholders = defineTool({
  name: 'find_policyholders',
  title: 'Find policyholders',
  about: 'Finds policyholders by a searchable field, such as a name or an e-mail. Without one it lists all.',
  effect: 'reads',
  input: z.strictObject(search),
  output: z.strictObject({ policyholders: z.array(Policyholder), more: NextPage }),
  async run(terms, host) {
    const page = await bodyOf(host.call({ method: 'GET', path: '/policyholders', query: searchQuery(terms) }))
    return { policyholders: page.policyholders.map(shownHolder), more: page.pagingToken }
  },
})

const readPolicyholder = defineTool({
  name: 'read_policyholder',
  title: 'Read a policyholder',
  about: 'Shows the values of one policyholder. find_policies lists its policies, read_bills its bills.',
  effect: 'reads',
  input: z.strictObject({ policyholder: policyholderIn }),
  output: Policyholder,
  run: async ({ policyholder }, host) =>
    shownHolder(await bodyOf(host.call({ method: 'GET', path: pathOf`/policyholder/${policyholder}` }))),
})

const Peril = z.strictObject({
  peril: z.string(),
  name: z.string(),
  from: Time.optional(),
  to: Time.optional(),
  premium: Money.optional(),
  fieldValues: FieldValues.optional(),
  groups: Groups,
})

const Exposure = z.strictObject({
  exposure: z.string(),
  name: z.string(),
  fieldValues: FieldValues,
  groups: Groups,
  perils: z.array(Peril),
})

const Policy = z.strictObject({
  policy: z.string(),
  policyholder: z.string(),
  product: z.string(),
  issued: Time.optional().describe('Absent for a policy that is not issued.'),
  start: Time.optional(),
  end: Time.optional().describe('Current end of cover.'),
  contractEnd: Time.optional().describe('Original end of the contract.'),
  cancelled: Time.optional(),
  paymentSchedule: z.string().optional(),
  fieldValues: FieldValues,
  groups: Groups,
  fees: Money.optional(),
  transactions: z.number().int(),
  exposures: z.array(Exposure),
  moreExposures: MoreCount,
})

/** Returns the segment that determines the values: the last one that has not been replaced. */
const lastOf = (segments: readonly Json[]): Json =>
  segments.filter(one => one.replacedTimestamp === undefined).at(-1) ?? segments.at(-1) ?? {}

function valuesOf(segments: readonly Json[]) {
  const { fieldValues: values, fieldGroupsByLocator } = lastOf(segments)
  return { fieldValues: fieldValues(values), groups: groupsOf(fieldGroupsByLocator) }
}

const EXPOSURES_AT_ONCE = 10

function shownPolicy(policy: Json, skip: number) {
  const { some, more } = firstOf<Json>(policy.exposures.slice(skip), EXPOSURES_AT_ONCE)
  return {
    policy: policy.locator,
    policyholder: policy.policyholderLocator,
    product: policy.productName,
    issued: isoOf(policy.issuedTimestamp),
    start: isoOf(policy.originalContractStartTimestamp),
    end: isoOf(policy.effectiveContractEndTimestamp),
    contractEnd: isoOf(policy.originalContractEndTimestamp),
    cancelled: isoOf(policy.cancellation?.effectiveTimestamp),
    paymentSchedule: policy.paymentScheduleName,
    ...valuesOf(policy.characteristics),
    fees: money(policy, 'grossFees'),
    transactions: policy.modifications.length,
    exposures: some.map(exposure => ({
      exposure: exposure.locator,
      name: exposure.name,
      ...valuesOf(exposure.characteristics),
      perils: exposure.perils.slice(0, 30).map((peril: Json) => shownPeril(peril)),
    })),
    moreExposures: more,
  }
}

function shownPeril(peril: Json) {
  const last = lastOf(peril.characteristics)
  const values = fieldValues(last.fieldValues)
  return {
    peril: peril.locator,
    name: peril.name,
    from: isoOf(last.coverageStartTimestamp),
    to: isoOf(last.coverageEndTimestamp),
    premium: money(last, 'premium'),
    ...(Object.keys(values).length > 0 && { fieldValues: values }),
    groups: groupsOf(last.fieldGroupsByLocator),
  }
}

const readPolicy = defineTool({
  name: 'read_policy',
  title: 'Read a policy',
  about:
    'Shows what a policy covers: its values, exposures and perils, with their locators, which previews of changes need. effectiveAt selects what is in force at a time, knownAt what was known at a time. Left out: the newest segments, as known now.',
  effect: 'reads',
  input: z.strictObject({
    policy: policyIn,
    effectiveAt: TimeIn.optional(),
    knownAt: TimeIn.optional(),
    skipExposures: z
      .number()
      .int()
      .min(0)
      .max(10_000)
      .default(0)
      .describe('How many exposures the previous pages showed.'),
  }),
  output: Policy,
  async run({ policy, effectiveAt, knownAt, skipExposures }, host) {
    const body = { effectiveTimestamp: msIfAny(effectiveAt), asOfTimestamp: msIfAny(knownAt) }
    const path = pathOf`/policies/${policy}/snapshot`
    return shownPolicy(await bodyOf(host.call({ method: 'POST', path, body })), skipExposures)
  },
})

const Transaction = z.strictObject({
  number: z.number().int(),
  name: z.string(),
  effective: Time.optional(),
  issued: Time.optional().describe('Absent if it is accepted but not issued.'),
  premiumChange: Money.optional(),
  underwriting: z.string().optional(),
})

const Explanation = z.strictObject({
  policy: z.string(),
  inWords: z.array(z.string()).describe('The history of the policy, one sentence per step.'),
  segments: z.array(
    z.strictObject({
      start: Time.optional(),
      end: Time.optional(),
      premium: Money.optional(),
      taxes: Money.optional(),
    }),
  ),
  transactions: z.array(Transaction),
  earlierTransactions: MoreCount,
  price: z
    .strictObject({
      premium: Money.optional(),
      taxes: Money.optional(),
      fees: Money.optional(),
      total: Money.optional(),
    })
    .optional()
    .describe('For the whole term. Absent if there is none yet, or if the token must not see it.'),
  bills: z.strictObject({ made: z.number().int(), outstanding: z.number().int() }),
})

const TRANSACTIONS_SHOWN = 20

const day = (ms: string | undefined): string => isoOf(ms)?.slice(0, 10) ?? 'an unknown day'

const amountText = (record: Json, name: string): string => {
  const found = money(record, name)
  return found ? `${found.amount} ${found.currency}` : 'no amount'
}

const sentenceOf = (one: Json): string =>
  `${one.number}: ${one.name}, effective ${day(one.effectiveTimestamp)}, ${
    one.issuedTimestamp === undefined ? 'not issued' : `issued ${day(one.issuedTimestamp)}`
  }, changes the premium by ${amountText(one, 'premiumChange')}.`

async function priceOf(policy: string, host: Host) {
  const { status, body } = await host.call({ method: 'GET', path: pathOf`/policy/${policy}/price` })
  if (status >= 400) return undefined
  return {
    premium: money(body, 'grossPremium'),
    taxes: money(body, 'grossTaxes'),
    fees: money(body, 'grossFees'),
    total: money(body, 'totalDue'),
  }
}

const explainPolicy = defineTool({
  name: 'explain_policy',
  title: 'Explain a policy',
  about:
    'Shows the history of a policy: its segments over time, its transactions with the changes of each, the price of the whole term, and the number of open bills. Days are in UTC.',
  effect: 'reads',
  input: z.strictObject({ policy: policyIn }),
  output: Explanation,
  async run({ policy: locator }, host) {
    const [policy, price] = await Promise.all([
      bodyOf(host.call({ method: 'GET', path: pathOf`/policy/${locator}` })),
      priceOf(locator, host),
    ])
    const last = policy.modifications.slice(-TRANSACTIONS_SHOWN)
    const earlier = policy.modifications.length - last.length
    const segments: Json[] = policy.characteristics.filter((one: Json) => one.replacedTimestamp === undefined)
    const open = policy.invoices.filter((one: Json) => one.settlementStatus === 'outstanding')
    const term = `from ${day(policy.originalContractStartTimestamp)} to ${day(policy.originalContractEndTimestamp)}`
    const begins = policy.issuedTimestamp
      ? `Issued ${day(policy.issuedTimestamp)}, ${term}; cover ends ${day(policy.effectiveContractEndTimestamp)}.`
      : `Not issued; requested ${term}.`
    return {
      policy: policy.locator,
      inWords: [begins, ...last.map(sentenceOf)],
      segments: segments.slice(-TRANSACTIONS_SHOWN).map(one => ({
        start: isoOf(one.startTimestamp),
        end: isoOf(one.endTimestamp),
        premium: money(one, 'grossPremium'),
        taxes: money(one, 'grossTaxes'),
      })),
      transactions: last.map((one: Json) => ({
        number: one.number,
        name: one.name,
        effective: isoOf(one.effectiveTimestamp),
        issued: isoOf(one.issuedTimestamp),
        premiumChange: money(one, 'premiumChange'),
        underwriting: one.automatedUnderwritingResult?.decision,
      })),
      earlierTransactions: earlier > 0 ? earlier : undefined,
      price,
      bills: { made: policy.invoices.length, outstanding: open.length },
    }
  },
})

export const recordTools = [findPolicies, findPolicyholders, readPolicyholder, readPolicy, explainPolicy]
