// All data of a tenant, read once nothing happens any more: all rows of its databases, its files, its policies as the service reads
// and returns them, the stream, and what arrived at the webhook.
import { newUuid, type PolicyLocator } from '../../src/kernel/locators.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { SYSTEM_CALLER } from '../../src/platform/context.ts'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import { isStreamed } from '../../src/platform/events/types.ts'
import { filesPrefix, shardDatabase, type Tenant, tenantNow } from '../../src/platform/tenancy.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { loadPolicy } from '../../src/policy/store/loading.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import type { Wish } from './client.ts'

export type Row = Readonly<Record<string, unknown>>

/** A property of each row in addition to its columns: the number of its shard. */
export const SHARD = '#shard'

/** A policy as it is stored and as it is returned, or the `problem` if it cannot be read. */
export type Kept = { readonly loaded?: Loaded; readonly shown?: PolicyResponse; readonly problem?: string }

export type Streamed = {
  readonly id: string
  readonly type: string
  readonly data?: Readonly<Record<string, string>>
}

export type Contents = {
  readonly ledger: readonly Wish[]
  /** Rows of all databases, by table. */
  readonly rows: Readonly<Record<string, readonly Row[]>>
  /** The number of databases of the tenant. */
  readonly shards: number
  /** Keys of the tenant's files, without the prefix. */
  readonly files: ReadonlySet<string>
  readonly policies: ReadonlyMap<string, Kept>
  readonly stream: readonly Streamed[]
  /** Ids of events in order of arrival at the webhook, including repeats. */
  readonly posts: readonly string[]
  /** The time of the tenant. */
  readonly at: number
}

export type Sources = {
  readonly env: Env
  readonly tenant: Tenant
  readonly ledger: readonly Wish[]
  /** Returns the response to a GET of the path. Throws for anything but a 2xx. */
  readonly get: <Body>(path: string) => Promise<Body>
  /** The whole stream. */
  readonly stream: () => Promise<readonly Streamed[]>
  readonly posts: () => Promise<readonly string[]>
  /** The real time until which the service ran. If absent, it is still running. */
  readonly ranUntil?: number
}

async function tableRows(client: D1Database): Promise<Record<string, Row[]>> {
  const { results } = await client
    .prepare(`select name from sqlite_master where type = 'table'`)
    .all<{ name: string }>()
  const names = results.map(({ name }) => name).filter(name => !/^(sqlite|_cf|d1)_/.test(name))
  const answers = await client.batch<Row>(
    names.map(name => client.prepare(`select * from ${name === 'event' ? EVERY_EVENT : `"${name}"`}`)),
  )
  return Object.fromEntries(names.map((name, at) => [name, answers[at]!.results]))
}

async function allRows({ env, tenant }: Sources): Promise<Record<string, Row[]>> {
  const all: Record<string, Row[]> = {}
  for (const [shard, binding] of tenant.shards.entries()) {
    const tables = await tableRows((env as unknown as Record<string, D1Database>)[binding]!)
    for (const [name, rows] of Object.entries(tables))
      all[name] = [...(all[name] ?? []), ...rows.map(row => ({ ...row, [SHARD]: shard }))]
  }
  return all
}

async function allFiles({ env, tenant }: Sources): Promise<Set<string>> {
  const prefix = filesPrefix(tenant)
  const files = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await env.FILES.list({ prefix, ...(cursor !== undefined && { cursor }) })
    for (const { key } of page.objects) files.add(key.slice(prefix.length))
    cursor = page.truncated ? page.cursor : undefined
  } while (cursor !== undefined)
  return files
}

/** The whole stream and the events that only the events interface has, read page by page. */
export async function wholeStream(get: Sources['get'], tenantLocator: string): Promise<Streamed[]> {
  type Listed = Omit<Streamed, 'id'> & { readonly locator: string }
  const streamed = await allPages<Streamed>(get, '/eventstream/events', 'startTimestamp=0&pageSize=1000')
  const listed = await allPages<Listed>(get, `/event/${tenantLocator}/events/list`, 'pageSize=1000')
  const others = listed.filter(({ type }) => !isStreamed(type))
  return [...streamed, ...others.map(({ locator, ...rest }) => ({ id: locator, ...rest }))]
}

async function allPages<E>(get: Sources['get'], path: string, first: string): Promise<E[]> {
  const events: E[] = []
  let query = first
  for (;;) {
    const page = await get<{ events: E[]; pagingToken: string }>(`${path}?${query}`)
    if (page.events.length === 0) return events
    events.push(...page.events)
    query = `pagingToken=${encodeURIComponent(page.pagingToken)}`
  }
}

async function keptPolicy({ env, tenant, get }: Sources, locator: number): Promise<Kept> {
  const shard = locator % 64
  const calls = noCalls()
  const context = {
    env,
    tenant,
    caller: SYSTEM_CALLER,
    requestId: newUuid(shard),
    idempotency: undefined,
    now: tenantNow(tenant),
    calls,
    later: () => {},
  }
  try {
    const database = shardDatabase(env, tenant, shard, calls)
    const loaded = await loadPolicy(context, database, { locator: locator as PolicyLocator })
    return { loaded, shown: await get<PolicyResponse>(`/policy/${locator}`) }
  } catch (problem) {
    return { problem: String(problem) }
  }
}

/** What is not only in the databases of the tenant. */
export type Outside = Pick<Contents, 'files' | 'stream' | 'posts'>

/** Reads everything except the parts that are already `known` from earlier contents. */
export async function readContents(sources: Sources, known?: Outside): Promise<Contents> {
  const rows = await allRows(sources)
  const policies = new Map<string, Kept>()
  for (const { locator } of rows.policy ?? [])
    policies.set(String(locator), await keptPolicy(sources, Number(locator)))
  return {
    ledger: sources.ledger,
    rows,
    shards: sources.tenant.shards.length,
    policies,
    files: known?.files ?? (await allFiles(sources)),
    stream: known?.stream ?? (await sources.stream()),
    posts: known?.posts ?? (await sources.posts()),
    at: (sources.ranUntil ?? Date.now()) + sources.tenant.clockOffsetMs,
  }
}
