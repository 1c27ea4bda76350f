// Endorsements, as the Worker serves them.
import type { JsonAnswer } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import { notFound, Refusal } from '../platform/errors.ts'
import { type EndorsementLocator, type PolicyLocator, readDigits } from '../platform/locators.ts'
import { shardDatabase, shardOfPolicy } from '../platform/tenancy.ts'
import { selectedQuote } from '../policies/aggregate.ts'
import type { PolicyResponse } from '../policies/contract/response.ts'
import { withIssued } from '../policies/fold/line.ts'
import { policyResponse } from '../policies/projection/policy.ts'
import { operate, policyLocator } from '../policies/service.ts'
import { loadPolicy, policyOf } from '../policies/store/loading.ts'
import type { EndorsementResponse } from './contract.ts'
import type { EndorsementOperation } from './decision.ts'
import { endorsementOf } from './endorsement-of.ts'
import { endorsementResponse } from './projection.ts'

/** The locator in a path; 404 for text that no endorsement's can be. */
export function endorsementLocator(text: string): EndorsementLocator {
  const digits = readDigits(text)
  if (digits === undefined) throw notFound('endorsement', text)
  return digits as EndorsementLocator
}

const databaseOf = (
  { env, tenant, calls }: RequestContext,
  locator: EndorsementLocator | PolicyLocator,
): Database => shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)

/** All endorsements of a policy, oldest first: one round trip. */
export async function endorsementsOf(
  context: RequestContext,
  policyText: string,
): Promise<EndorsementResponse[]> {
  const locator = policyLocator(policyText)
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), { locator })
  return [...aggregate.endorsements.values()].map(one => endorsementResponse(aggregate, one, product))
}

/** One round trip. */
export async function readEndorsement(
  context: RequestContext,
  locator: EndorsementLocator,
): Promise<EndorsementResponse> {
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), {
    endorsementLocator: locator,
  })
  return endorsementResponse(aggregate, endorsementOf(aggregate, locator), product)
}

/** The policy as it will be once the endorsement is issued; 409 before it is accepted. One round trip. */
export async function policyWhenIssued(
  context: RequestContext,
  locator: EndorsementLocator,
): Promise<PolicyResponse> {
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), {
    endorsementLocator: locator,
  })
  const { state, modificationLocator } = endorsementOf(aggregate, locator)
  if (state !== 'accepted' || !modificationLocator)
    throw new Refusal(
      'wrongState',
      `Endorsement ${locator} is ${state}; only an accepted one can be shown as issued.`,
    )
  const counts = withIssued(modificationLocator)
  return policyResponse(aggregate, product, { summarizeQuotes: false }, selectedQuote(aggregate), counts)
}

/** Has the policy's object carry out an action on its endorsements. */
export async function endorse(
  context: RequestContext,
  policy: PolicyLocator,
  operation: EndorsementOperation,
): Promise<JsonAnswer> {
  return await operate(context, policy, { kind: 'endorsement', operation }, subject =>
    readEndorsement(context, endorsementLocator(subject.split('/')[1]!)),
  )
}

/** As `endorse`, for an action that names an endorsement: a look-up more. */
export async function actOnEndorsement(
  context: RequestContext,
  locator: EndorsementLocator,
  operation: (endorsement: EndorsementLocator) => EndorsementOperation,
): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, locator), { endorsementLocator: locator })
  return await endorse(context, policy, operation(locator))
}

/** Its change of the price, or underwriting's decision: as recorded, or as it would be now; nothing is stored. */
export async function endorsementOutlook(
  context: RequestContext,
  locator: EndorsementLocator,
  of: 'endorsement' | 'endorsementUnderwriting',
): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, locator), { endorsementLocator: locator })
  return await operate(context, policy, { kind: 'change', of: { kind: of, endorsement: locator } })
}
