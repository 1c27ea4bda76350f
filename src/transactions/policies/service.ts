// Reads run in the Worker in one round trip. Everything else runs in the policy's object.
import { notFound } from '../../kernel/errors.ts'
import { LongList } from '../../kernel/json.ts'
import {
  type DigitLocator,
  type PolicyLocator,
  readDigits,
  readUuid,
  type Uuid,
} from '../../kernel/locators.ts'
import { isBySubject } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { jsonText, LongAnswer, type ReadyAnswer } from '../../platform/http/route.ts'
import { takeLocators } from '../../platform/tenancy/sequence.ts'
import { recordPlace, shardDatabase, shardOfPolicy, shardOfRecord } from '../../platform/tenancy.ts'
import type { FeeUpdateRequest, TableUseResponse } from '../../policy/contract/billing.ts'
import type { PolicyCreateRequest } from '../../policy/contract/requests.ts'
import { feeSummary } from '../../policy/projection/characteristics.ts'
import { type PerilDetail, type ProjectionOptions, policyAnswer } from '../../policy/projection/policy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { digitsForNewDraft } from '../../policy/records/transactions.ts'
import {
  AGGREGATE_QUERIES,
  aggregateQueries,
  displayIdQuery,
  findTableUses,
  readAggregates,
} from '../../policy/store/aggregates.ts'
import { loadPolicy, policyOf } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { policyholderQuery } from '../../policyholders/store.ts'
import { loadConfiguration } from '../../product/cache.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { configurationVersions } from '../../product/tables.ts'
import type { PolicyOperation, RecordKind } from '../mechanism/kind.ts'
import { sendToPolicy } from '../mechanism/message.ts'
import { readPreview } from '../mechanism/preview-token.ts'

/** Throws 404 for text that cannot be a locator. */
export function policyLocator(text: string): PolicyLocator {
  const digits = readDigits(text)
  if (digits === undefined) throw notFound('policy', text)
  return digits as PolicyLocator
}

/** Reads the stored policy in one round trip. */
export async function readPolicy(
  context: RequestContext,
  policyText: string,
  options: ProjectionOptions,
): Promise<LongAnswer> {
  const { aggregate, product } = await loadStored(context, policyText)
  return new LongAnswer(policyAnswer(aggregate, product, options))
}

/** Reads the policy in the form of a write's answer. */
const readWritten = (
  context: RequestContext,
  policyText: string,
  { summarizeQuotes }: ProjectionOptions = { summarizeQuotes: false },
): Promise<LongAnswer> =>
  readPolicy(context, policyText, { summarizeQuotes, perilCharacteristics: 'fitting' })

/** Throws 404 for text that cannot be a locator. */
function placeOf({ env, tenant, calls }: RequestContext, policyText: string) {
  const locator = policyLocator(policyText)
  return { locator, database: shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls) }
}

/** Reads the whole policy in one round trip. Throws 404 if there is none. */
export async function loadStored(context: RequestContext, policyText: string): Promise<Loaded> {
  const { locator, database } = placeOf(context, policyText)
  return await loadPolicy(context, database, { locator })
}

/** Creates the policy in the shard of its policyholder, and finalizes it by default. */
export async function createPolicy(
  context: RequestContext,
  request: PolicyCreateRequest,
  options: ProjectionOptions,
): Promise<ReadyAnswer> {
  const { shard } = recordPlace(context, request.policyholderLocator, 'policyholder')
  const digits = await takeLocators(context, shard, digitsForNewDraft(request.exposures))
  const locator = digits[0] as PolicyLocator
  return await operate(context, locator, { kind: 'create', request, digits, ...options }, policyText =>
    readWritten(context, policyText, options),
  )
}

/**
 * Sends the operation to the policy's object and throws its Refusal. `policy` may be the text of a locator in a path. An answer
 * that is too long for the object's reply, or was too long to keep for a repeat, is read from the present state by `reread`.
 */
export async function operate(
  context: RequestContext,
  policy: PolicyLocator | string,
  operation: PolicyOperation,
  reread: (subject: string) => Promise<unknown> = policyText => readWritten(context, policyText),
): Promise<ReadyAnswer> {
  const { tenant, caller, requestId, idempotency, ifMatch, adds = false } = context
  const locator = typeof policy === 'string' ? policyLocator(policy) : policy
  shardOfPolicy(tenant, locator)
  const ifPreviewed =
    context.previewToken === undefined ? undefined : await readPreview(context, context.previewToken)
  const sender = { tenant, caller, requestId, idempotency, ifMatch, ifPreviewed, adds }
  const answer = await sendToPolicy(context, { ...sender, locator, operation })
  if (!isBySubject(answer)) return jsonText(answer)
  const read = await reread(answer.subject)
  return read instanceof LongAnswer ? read : new LongAnswer(read)
}

/** Implements the routes of one kind of record. Locators are texts from a path. */
export function recordService<Locator extends DigitLocator | Uuid, Stored, Shown>(
  kind: RecordKind<Locator, Stored, Shown>,
) {
  /** Throws 404 for text that cannot be a locator. */
  const placeOf = ({ env, tenant, calls }: RequestContext, text: string) => {
    const digits = kind.form === 'digits'
    const locator = (digits ? readDigits(text) : readUuid(text)) as Locator | undefined
    if (locator === undefined) throw notFound(kind.name, text)
    const shard =
      typeof locator === 'number' ? shardOfPolicy(tenant, locator) : shardOfRecord(tenant, locator, kind.name)
    return { locator, database: shardDatabase(env, tenant, shard, calls), selection: kind.select(locator) }
  }

  /** Loads the record with its policy in one round trip. */
  const load = async (context: RequestContext, text: string) => {
    const { locator, database, selection } = placeOf(context, text)
    const loaded = await loadPolicy(context, database, selection)
    return { locator, loaded, record: kind.find(loaded.aggregate, locator) }
  }

  const read = async (context: RequestContext, text: string): Promise<Shown> => {
    const { loaded, record } = await load(context, text)
    return kind.show(loaded.aggregate, record, loaded.product)
  }

  /** Oldest first. */
  const list = async (context: RequestContext, policyText: string): Promise<Shown[]> => {
    const { aggregate, product } = await loadStored(context, policyText)
    return [...kind.all(aggregate)].map(record => kind.show(aggregate, record, product))
  }

  const operateOn = (
    context: RequestContext,
    policy: PolicyLocator | string,
    operation: PolicyOperation,
    reread: (context: RequestContext, text: string) => Promise<unknown> = read,
  ): Promise<ReadyAnswer> =>
    operate(context, policy, operation, subject => {
      const [policyText, text] = subject.split('/')
      return text === undefined ? readWritten(context, policyText!) : reread(context, text)
    })

  /** Performs an operation on the record of that locator. Takes one more round trip than `operateOn`, to find its policy. */
  const act = async (
    context: RequestContext,
    text: string,
    operationOn: (locator: Locator) => PolicyOperation,
    reread: (context: RequestContext, text: string) => Promise<unknown> = read,
  ): Promise<ReadyAnswer> => {
    const { locator, database, selection } = placeOf(context, text)
    return await operateOn(context, await policyOf(database, selection), operationOn(locator), reread)
  }

  return { load, read, list, operate: operateOn, act }
}

/** Returns all fees of the policy. */
export const updateFees = (
  context: RequestContext,
  policyText: string,
  request: FeeUpdateRequest,
): Promise<ReadyAnswer> =>
  operate(context, policyText, { kind: 'fees', request }, async () =>
    feeSummary((await loadStored(context, policyText)).aggregate),
  )

/**
 * Reads all policies of a policyholder in one round trip. If `perilCharacteristics` names an exposure, the policies that do not
 * have it show no characteristics of perils. Responds with 404 if none of them has it.
 */
export async function policiesOf(
  context: RequestContext,
  holderText: string,
  { perilCharacteristics: which }: PerilDetail,
): Promise<LongAnswer> {
  const { locator: holder, database } = recordPlace(context, holderText, 'policyholder')
  const results = (await database.batch([
    ...aggregateQueries(database, { policyholderLocator: holder }),
    policyholderQuery(database, holder),
    database.build.select().from(configurationVersions),
  ])) as unknown[]
  const [holders, versions] = results.slice(AGGREGATE_QUERIES) as [
    unknown[],
    (typeof configurationVersions.$inferSelect)[],
  ]
  if (holders.length === 0) throw notFound('policyholder', holderText)
  const hashOf = new Map(versions.map(one => [one.version, one.hash]))
  const aggregates = readAggregates(results.slice(0, AGGREGATE_QUERIES))
  const owner = which && aggregates.find(({ exposures }) => exposures.has(which as Uuid))
  const products = new Map<PolicyAggregate, ProductDefinition>()
  for (const aggregate of aggregates) {
    const hash = hashOf.get(aggregate.policy.configVersion)!
    const { configuration } = await loadConfiguration(context.env, context.tenant, hash, context.calls)
    products.set(aggregate, configuration.products[aggregate.policy.productName]!)
  }
  return new LongAnswer(
    new LongList(function* () {
      for (const [aggregate, product] of products)
        yield policyAnswer(aggregate, product, {
          summarizeQuotes: false,
          perilCharacteristics: owner && owner !== aggregate ? 'none' : which,
        })
    }),
  )
}

/** Finds a policy by its displayId or that of one of its quotes. Throws 404 if there is none. Takes one round trip. */
export async function findByDisplayId(
  context: RequestContext,
  displayId: string,
): Promise<{ locator: string }> {
  const { locator, database } = placeOf(context, displayId)
  const [rows] = await database.batch([displayIdQuery(database, locator)])
  if (!rows[0]) throw notFound('policy', displayId)
  return { locator: String(rows[0].locator) }
}

/**
 * Lists the contents of the tables that rated the policy's transactions. Takes one round trip. Throws 404 for an unknown policy.
 */
export async function listTableUses(text: string, context: RequestContext): Promise<TableUseResponse[]> {
  const { locator, database } = placeOf(context, text)
  const uses = await findTableUses(database, locator)
  if (!uses) throw notFound('policy', text)
  return uses.map(({ modificationLocator, staticName, name, revision, at }) => ({
    modificationLocator,
    staticName,
    name,
    revision,
    recordedAt: new Date(at).toISOString(),
  }))
}
