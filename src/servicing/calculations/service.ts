// Tries formulas out. Nothing is stored, and no plugin or external rater is called.
import { notFound } from '../../kernel/errors.ts'
import {
  type DisplayId,
  newUuid,
  readDigits,
  readUuid,
  shardOfDigits,
  shardOfUuid,
  transientLocators,
} from '../../kernel/locators.ts'
import { zero } from '../../kernel/money.ts'
import type { RequestContext } from '../../platform/context.ts'
import { HOME_SHARD, homeDatabase, shardDatabase } from '../../platform/tenancy.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import { loadPolicy, loadVersion, productOf } from '../../policy/store/loading.ts'
import type { Policyholder } from '../../policyholders/values.ts'
import { compileTemplate } from '../../product/templates/liquid.ts'
import { type Attempt, ratingContext } from '../../rating/rate.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import type * as contract from './contract.ts'
import {
  calculatePrice,
  existingSubject,
  type Formula,
  madeUpSubject,
  readFormula,
  type Subject,
} from './subjects.ts'

/** Prices a peril that the request describes: one round trip. */
export async function checkPerilPremium(
  context: RequestContext,
  request: contract.CheckPerilPremiumRequest,
): Promise<contract.CalculationResponse> {
  const formula = readFormula(request.calculation, compileTemplate)
  const version = await loadVersion(context, homeDatabase(context), request.configVersion)
  const { timeZone, currency } = version.configuration.configuration
  const product = productOf(version.configuration, request.productName)
  const policyholder = emptyPolicyholder(context)
  const surroundings = { ...version, product, timeZone, currency, policyholder, credit: zero(currency) }
  return await tryFormula(context, formula, HOME_SHARD, attempt =>
    madeUpSubject(request, surroundings, attempt),
  )
}

/** Prices an existing peril: one round trip. */
export async function checkExistingPerilPremium(
  context: RequestContext,
  request: contract.CheckExistingPerilPremiumRequest,
): Promise<contract.CalculationResponse> {
  const { env, tenant, calls } = context
  const formula = readFormula(request.calculation, compileTemplate)
  const { shard, selection } = perilNamed(request.perilDisplayId)
  if (shard >= tenant.shards.length) throw notFound('peril', request.perilDisplayId)
  const loaded = await loadPolicy(context, shardDatabase(env, tenant, shard, calls), selection)
  return await tryFormula(context, formula, shard, () => existingSubject(request, loaded))
}

/** Looks tables up as new business of the policy would. */
async function tryFormula(
  context: RequestContext,
  formula: Formula,
  shard: number,
  make: (attempt: Attempt) => Subject,
): Promise<contract.CalculationResponse> {
  const tables = new RatingTables(context)
  await tables.open()
  const supply = transientLocators(shard)
  const attempt: Attempt = { now: context.now, supply, digits: async () => supply, tables }
  return await tables.inRounds(async () => {
    const subject = make(attempt)
    const rating = { ...ratingContext(subject.loaded, attempt), operation: subject.operation }
    return calculatePrice(formula, subject, rating)
  })
}

function perilNamed(text: string): { shard: number; selection: PolicySelection } {
  const digits = readDigits(text)
  if (digits !== undefined)
    return { shard: shardOfDigits(digits as DisplayId), selection: { perilDisplayId: digits as DisplayId } }
  const locator = readUuid(text)
  if (!locator) throw notFound('peril', text)
  return { shard: shardOfUuid(locator), selection: { perilLocator: locator } }
}

/** The policyholder of a made-up policy, without values. */
function emptyPolicyholder({ now, caller }: RequestContext): Policyholder {
  const locator = newUuid(HOME_SHARD)
  const entity = { locator, values: {}, subEntities: [] }
  const { accountLocator } = caller
  return { locator, version: 1, completed: true, accountLocator, entity, createdAt: now, updatedAt: now }
}
