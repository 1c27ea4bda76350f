import { notFound, Refusal, wrongState } from '../../kernel/errors.ts'
import {
  type EndorsementLocator,
  type QuoteLocator,
  readDigits,
  readUuid,
  transientLocators,
} from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { recordPlace, shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import { lineUpTo } from '../../policy/fold/line.ts'
import { boundQuote, type Quote, quoteParts } from '../../policy/records/aggregate.ts'
import { type Endorsement, quoteOf } from '../../policy/records/transactions.ts'
import { selectionBasis } from '../../policy/selection-basis.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { AppliedTransaction } from '../../policy/transitions.ts'
import { placeOf, policyholderQuery, requireRow } from '../../policyholders/store.ts'
import { loadConfiguration, versionQuery } from '../../product/cache.ts'
import type { Configuration } from '../../product/configuration.ts'
import { basisAt, type SelectionBasis } from '../../product/resources.ts'
import { dependencies, evaluation } from '../../reference/constraints/answers.ts'
import type {
  AccountEvaluationRequest,
  DependencyResponse,
  EvaluationRequest,
  EvaluationResponse,
} from '../../reference/constraints/contract.ts'
import type { Element } from '../../reference/constraints/evaluation.ts'
import { tablesInForce } from '../../reference/constraints/force.ts'
import { applyEndorsementChanges } from '../endorsements/effect.ts'
import { recordService } from '../policies/service.ts'
import { QUOTES } from '../quotes/projection.ts'
import { applyRenewal } from '../renewals/effect.ts'
import { elementsAt, policyholderElement, surroundingsOf } from './validation.ts'

/** Elements, and the configuration, time and jurisdiction that select the tables in force. */
export type Constrainable = {
  readonly elements: readonly Element[]
  readonly configuration: Configuration
  readonly basis: SelectionBasis
}

/** Evaluates each field that the request names, by static locator. */
export async function evaluated(
  context: RequestContext,
  { elements, configuration, basis }: Constrainable,
  request: EvaluationRequest,
): Promise<EvaluationResponse> {
  const { tables, answer } = evaluation(elements, request)
  const { tableOf } = await tablesInForce(context, configuration, tables, basis)
  return await answer(tableOf)
}

export const dependenciesOf = ({ elements }: Constrainable): DependencyResponse => dependencies(elements)

/** Evaluates an account's fields. The request has no level of locators, since the account is the only element. */
export async function evaluateAccount(
  context: RequestContext,
  text: string,
  request: AccountEvaluationRequest,
): Promise<EvaluationResponse> {
  const account = await accountContent(context, text)
  const [{ locator }] = account.elements as [Element]
  return await evaluated(context, account, Object.keys(request).length === 0 ? {} : { [locator]: request })
}

/** Reads the account under the newest configuration, as of now, in one round trip. */
export async function accountContent(context: RequestContext, text: string): Promise<Constrainable> {
  const { env, tenant, calls, now } = context
  const { database, locator } = placeOf(context, text)
  const [rows, versions] = await database.batch([
    policyholderQuery(database, locator),
    versionQuery(database, undefined),
  ])
  const policyholder = requireRow(rows, locator)
  if (!versions[0]) throw new Refusal('noConfiguration', 'The tenant has no configuration. Deploy one first.')
  const { configuration } = await loadConfiguration(env, tenant, versions[0].hash, calls)
  const element = policyholderElement(policyholder, configuration.policyholderFields)
  return { elements: [element], configuration, basis: basisAt(now) }
}

/** Takes one round trip. */
export async function quoteContent(context: RequestContext, text: string): Promise<Constrainable> {
  const { loaded, record } = await recordService(QUOTES).load(context, text)
  return contentOfQuote(loaded, record, context)
}

/**
 * Returns the content of an endorsement, renewal or quote, or of the modification of any transaction, which `text` names. A
 * pending one is carried out on the present policy without storing it. The elements that it would add have the locators of
 * `addExposures`, `addPerils` and `addFieldGroups` in its response, and perils of a renewal those that they renew. Takes one
 * round trip.
 */
export async function transactionContent(context: RequestContext, text: string): Promise<Constrainable> {
  const uuid = readUuid(text)
  if (uuid) {
    const { database } = recordPlace(context, text, 'transaction')
    const loaded = await loadPolicy(context, database, { modificationLocator: uuid })
    const { aggregate } = loaded
    const modification = aggregate.modifications.get(uuid)!
    const { quoteLocator } = modification
    const quote = quoteLocator === undefined ? boundQuote(aggregate) : quoteOf(aggregate, quoteLocator)
    return contentOf(loaded, { aggregate, quote, modification }, context)
  }
  const digits = readDigits(text)
  if (digits === undefined) throw notFound('transaction', text)
  const transactionLocator = digits as QuoteLocator | EndorsementLocator
  const loaded = await loadPolicy(context, databaseOf(context, digits as QuoteLocator), {
    transactionLocator,
  })
  const endorsement = loaded.aggregate.endorsements.get(digits as EndorsementLocator)
  return endorsement
    ? contentOfEndorsement(loaded, endorsement, context)
    : contentOfQuote(loaded, quoteOf(loaded.aggregate, digits as QuoteLocator), context)
}

const databaseOf = ({ env, tenant, calls }: RequestContext, locator: QuoteLocator): Database =>
  shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)

const contentOfQuote = (loaded: Loaded, quote: Quote, context: RequestContext): Constrainable =>
  contentOf(loaded, { ...loaded, quote, ...quoteParts(loaded.aggregate, quote) }, context)

function contentOfEndorsement(
  loaded: Loaded,
  endorsement: Endorsement,
  context: RequestContext,
): Constrainable {
  const { aggregate, product } = loaded
  const { modificationLocator, kind, state, locator } = endorsement
  const modification = modificationLocator && aggregate.modifications.get(modificationLocator)
  if (modification)
    return contentOf(loaded, { aggregate, quote: boundQuote(aggregate), modification }, context)
  if (state !== 'application')
    throw wrongState(`The ${kind} ${locator} is ${state} and no longer has content.`)
  const supply = transientLocators(shardOfPolicy(context.tenant, aggregate.policy.locator))
  const carryOut = kind === 'renewal' ? applyRenewal : applyEndorsementChanges
  const carriedOut = carryOut(aggregate, endorsement, { product, now: context.now, supply })
  return contentOf(loaded, carriedOut, context, carriedOut.reported.names)
}

/** Returns the policy's content at the modification's time, as if it were carried out. Throws 409 if nothing is covered then. */
function contentOf(
  loaded: Loaded,
  { aggregate, quote, modification }: AppliedTransaction & { readonly quote: Quote },
  { now }: Pick<RequestContext, 'now'>,
  names?: ReadonlyMap<string, string>,
): Constrainable {
  const line = lineUpTo(aggregate, quote, modification)
  const elements = elementsAt(
    aggregate,
    line,
    modification.effectiveAt,
    surroundingsOf(loaded),
    undefined,
    names,
  )
  if (elements.length === 0)
    throw wrongState(
      `Policy ${aggregate.policy.locator} covers nothing at the time of this transaction, so it has no fields to evaluate.`,
    )
  return {
    elements,
    configuration: loaded.configuration.configuration,
    basis: selectionBasis({ aggregate, product: loaded.product }, modification, now),
  }
}
