// Creates, reads, pauses, resumes and removes impacts. `run.ts` processes the policies.
import { auditRows } from '../../access/audit/store.ts'
import { notFound, Refusal } from '../../kernel/errors.ts'
import { newUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, isoDay, now } from '../../kernel/time.ts'
import {
  commit,
  GuardTripped,
  isBySubject,
  jsonAnswer,
  retryOnConflict,
  storedAnswer,
  unlessRepeated,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Query } from '../../platform/database.ts'
import { KEPT_MS, keptTimers } from '../../platform/events/kept-records.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import type { FilePart } from '../../platform/http/body/form.ts'
import { hasPermission } from '../../platform/http/permissions.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { callObject, impactObject } from '../../platform/objects.ts'
import { assertConfigurationSize } from '../../platform/tenancy/quotas.ts'
import {
  HOME_SHARD,
  homeDatabase,
  recordPlace,
  shardDatabase,
  shardName,
  type TenantPlace,
  tenantNow,
} from '../../platform/tenancy.ts'
import { loadConfiguration, putConfiguration } from '../../product/cache.ts'
import { archiveHash, compileArchive } from '../../product/compile.ts'
import type { Configuration } from '../../product/configuration.ts'
import { formatLog } from '../../product/log.ts'
import type * as contract from './contract.ts'
import { deleteFiles, rowsStream } from './files.ts'
import { requestedFields } from './groups.ts'
import { csvHead } from './report/csv.ts'
import { impactPage } from './report/page.ts'
import { impactResponse, summaryResponse } from './response.ts'
import * as store from './store.ts'
import { assertImpactAllows, type ImpactAction } from './tables.ts'
import { noTotals } from './totals.ts'

/** The number of impacts that a tenant keeps. More are rejected until one is removed. */
const MOST_IMPACTS = 20

/** The number of fields of an impact. Their groups make up most of its row. */
const MOST_FIELDS = 40

/** Checks the archive and commits the impact. Its object then processes the policies. */
export async function createImpact(
  context: RequestContext,
  form: contract.ImpactForm,
  file: FilePart | undefined,
): Promise<JsonText | contract.ImpactCreateResponse> {
  const { env, tenant, calls } = context
  const database = homeDatabase(context)
  const earlier = await storedAnswer(context, database)
  if (earlier) return isBySubject(earlier) ? await createdAnswer(context, earlier.subject) : jsonText(earlier)
  if (!file) throw new Refusal('malformedMultipart', 'Send the archive as the part named zipFile.')
  assertConfigurationSize(tenant, file.bytes.length)
  const { configuration, findings } = await compileArchive(file.bytes)
  if (!configuration) return { success: false, logfile: formatLog(findings, undefined) }
  const fields = fieldIds(configuration, form.by)
  const hash = await archiveHash(file.bytes)
  await putConfiguration(env, tenant, { zip: file.bytes, hash, configuration }, calls)
  const day = form.day ?? tenantNow(tenant)
  const impact: store.Impact = {
    locator: newUuid(HOME_SHARD),
    state: 'running',
    hash,
    fields,
    against: form.against,
    name: form.name ?? file.fileName ?? 'configuration.zip',
    question: {
      occasion: form.occasion,
      day,
      mayReadSecrets: hasPermission(context.caller, 'secrets.read'),
    },
    expected: await countPolicies(context, day),
    shard: HOME_SHARD,
    after: 0,
    portions: 0,
    totals: noTotals(),
    tries: 0,
    createdAt: context.now,
    updatedAt: context.now,
    username: context.caller.username,
  }
  const answer = {
    success: true,
    impact: impactResponse(impact, configuration.currency),
    logfile: formatLog(findings, undefined),
  }
  try {
    const committed = await commit(context, database, {
      shard: HOME_SHARD,
      subject: impact.locator,
      answer: jsonAnswer(answer),
      guards: [store.roomGuard(MOST_IMPACTS)],
      facts: [...store.newImpactQueries(database, impact), ...auditOf(context, impact.locator, 'create')],
      timers: keptTimers('impact.run', impact.locator, context.now),
    })
    wakeLater(context, impact.locator)
    return isBySubject(committed) ? await createdAnswer(context, committed.subject) : jsonText(committed)
  } catch (problem) {
    throw problem instanceof GuardTripped ? await noRoom(context) : problem
  }
}

async function createdAnswer(
  context: RequestContext,
  locator: string,
): Promise<contract.ImpactCreateResponse> {
  return { success: true, impact: await readImpact(context, locator) }
}

/** Returns the ids of the fields. Only selected values and numbers group policies, so that the totals keep no names of people. */
function fieldIds(configuration: Configuration, by: string | undefined): string[] {
  const usual = requestedFields(configuration, undefined).map(({ id }) => id)
  if (by === undefined) return usual.slice(0, MOST_FIELDS)
  const ids = [...new Set(by.split(',').map(name => name.trim()))]
  const wrong = requestedFields(configuration, ids).find(({ id }) => !usual.includes(id))
  if (wrong)
    throw new Refusal(
      'invalidRequest',
      `'${wrong.id}' may have values that identify one person. Group by fields of the types select and number of a policy, its exposures and perils.`,
    )
  if (ids.length > MOST_FIELDS)
    throw new Refusal('invalidRequest', `'by' has ${ids.length} fields; at most ${MOST_FIELDS} are allowed.`)
  return ids
}

async function countPolicies({ env, tenant, calls }: RequestContext, day: Instant): Promise<number> {
  const counts = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [rows] = await database.batch([store.countQuery(database, day)])
      return rows[0]?.count ?? 0
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

async function noRoom(context: RequestContext): Promise<Refusal> {
  const database = homeDatabase(context)
  const [rows] = await database.batch([store.impactsQuery(database)])
  const running = rows.find(({ state }) => state === 'running')
  return new Refusal(
    'wrongState',
    running
      ? `Impact ${running.locator} is running, and only one can run at a time. Wait for it, pause it, or remove it.`
      : `The tenant has ${rows.length} impacts, and at most ${MOST_IMPACTS} are kept. Remove one.`,
  )
}

/** Lists all impacts, newest first, without their totals. Takes one round trip. */
export async function listImpacts(context: RequestContext): Promise<contract.ImpactSummaryResponse[]> {
  const database = homeDatabase(context)
  const [rows] = await database.batch([store.impactsQuery(database)])
  return (rows as store.Impact[]).map(summaryResponse)
}

/** Returns an impact with its totals so far. Throws 404 if there is none. */
export async function readImpact(context: RequestContext, text: string): Promise<contract.ImpactResponse> {
  const impact = await impactAt(context, text)
  return impactResponse(impact, (await configurationOf(context, impact)).currency)
}

const configurationOf = async (
  { env, tenant, calls }: TenantPlace,
  { hash }: Pick<store.Impact, 'hash'>,
): Promise<Configuration> => (await loadConfiguration(env, tenant, hash, calls)).configuration

async function impactAt(context: RequestContext, text: string): Promise<store.Impact> {
  const { locator, shard } = recordPlace(context, text, 'impact')
  const database = homeDatabase(context)
  const [rows] = await database.batch([store.impactQuery(database, locator)])
  if (shard !== HOME_SHARD || !rows[0]) throw notFound('impact', text)
  return rows[0] as store.Impact
}

/** Pauses an impact: it prices no further policy. Returns when the current one is done. */
export async function pauseImpact(context: RequestContext, text: string): Promise<void> {
  const { locator } = await changeState(context, text, 'pause', 'paused')
  const { env, tenant, calls } = context
  await callObject(calls, () => impactObject(env, tenant, locator).halt())
}

/**
 * Continues a paused impact, or one that an error stopped, where it ended. Throws 404 if there is none, and 409 in other states.
 */
export async function resumeImpact(context: RequestContext, text: string): Promise<void> {
  const { locator } = await changeState(context, text, 'resume', 'running')
  wakeLater(context, locator)
}

async function changeState(
  context: RequestContext,
  text: string,
  action: ImpactAction,
  state: store.Impact['state'],
): Promise<store.Impact> {
  const database = homeDatabase(context)
  const attempt = async () => {
    const impact = await impactAt(context, text)
    assertImpactAllows(impact.locator, impact.state, action)
    await commit(context, database, {
      shard: HOME_SHARD,
      subject: impact.locator,
      guards: [store.impactGuard(impact)],
      facts: [
        store.changeImpactQuery(database, impact.locator, { state, tries: 0, updatedAt: context.now }),
        ...auditOf(context, impact.locator, action),
      ],
      timers: keptTimers('impact.run', impact.locator, context.now),
    })
    return impact
  }
  return await unlessRepeated(
    context,
    database,
    () => retryOnConflict('The impact', attempt),
    () => impactAt(context, text),
  )
}

/** Removes an impact, its row first. If a later step fails, the timer completes it. */
export async function removeImpact(context: RequestContext, text: string): Promise<void> {
  const database = homeDatabase(context)
  const remove = async () => {
    const impact = await impactAt(context, text)
    const { locator } = impact
    await commit(context, database, {
      shard: HOME_SHARD,
      subject: locator,
      guards: [],
      facts: [store.removeImpactQuery(database, locator), ...auditOf(context, locator, 'remove')],
      timers: [{ kind: 'impact.run', subject: locator, dueAt: context.now, payload: { removed: 'true' } }],
    })
    const { env, tenant, calls } = context
    await callObject(calls, () => impactObject(env, tenant, locator).halt())
    await deleteFiles(context, locator)
  }
  await unlessRepeated(context, database, remove, () => {})
}

/** Streams the policies so far as CSV. Throws 404 if there is no such impact. For its R2 calls see `rowsStream`. */
export async function impactRows(context: RequestContext, text: string): Promise<Response> {
  const impact = await impactAt(context, text)
  return new Response(rowsStream(context, impact, csvHead(impact.fields.map(id => ({ id })))), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="impact-${impact.locator}.csv"`,
      'cache-control': 'private, no-cache',
    },
  })
}

/** Returns the report on the policies so far, as an HTML page to be saved. Throws 404 if there is no such impact. */
export async function impactPageOf(context: RequestContext, text: string): Promise<Response> {
  const impact = await impactAt(context, text)
  const configuration = await configurationOf(context, impact)
  const { currency, timeZone } = configuration
  const { question, against, totals, name } = impact
  const titles = new Map(
    requestedFields(configuration, impact.fields).map(({ id, definition }) => [id, definition.title]),
  )
  const page = impactPage(
    totals,
    {
      currency,
      occasion: question.occasion,
      day: isoDay(question.day, timeZone),
      newName: name,
      oldName: against === 'recorded' ? 'recorded prices' : "each policy's own version",
      bookName: `the policies of ${context.tenant.name}`,
      madeOn: isoDay(now(), timeZone),
    },
    titles,
  )
  return new Response(page, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': `attachment; filename="impact-${impact.locator}.html"`,
      'cache-control': 'private, no-cache',
    },
  })
}

const auditOf = (context: RequestContext, subject: Uuid, action: string): Query[] =>
  auditRows(homeDatabase(context), context, HOME_SHARD, [
    { action: 'impacts.write', subject, details: { action } },
  ])

const wakeLater = (context: RequestContext, locator: Uuid): void =>
  context.later(
    wakeImpact(context, locator).catch(problem =>
      console.error(JSON.stringify({ at: 'impact', locator, problem: String(problem) })),
    ),
  )

async function wakeImpact({ env, tenant, calls }: TenantPlace, impact: Uuid): Promise<void> {
  const shard = shardName(tenant, HOME_SHARD)
  await callObject(calls, () => impactObject(env, tenant, impact).wake(shard, impact))
}

/** Wakes a running impact, removes one whose time to be kept is over, and deletes the files of one that was removed. */
export const impactDue: TimerOwner = async ({ subject, payload }, place) => {
  const locator = subject as Uuid
  if (payload.removed !== undefined) return await deleteFiles(place, locator)
  const database = homeDatabase(place)
  const [rows] = await database.batch([store.impactQuery(database, locator)])
  const impact = rows[0] as store.Impact | undefined
  if (impact?.state === 'running') return await wakeImpact(place, locator)
  if (!impact || tenantNow(place.tenant) < impact.updatedAt + KEPT_MS) return undefined
  await database.batch([store.removeImpactQuery(database, locator)])
  return await deleteFiles(place, locator)
}
