// The outbox: events are written in the batch of the change that causes them, with one delivery for every subscribed webhook.
import { sql } from 'drizzle-orm'
import { boundsOfEvents, eventLocators, type PolicyLocator, type Uuid } from '../../kernel/locators.ts'
import { Memo } from '../../kernel/maps.ts'
import { later, now } from '../../kernel/time.ts'
import type { RequestContext } from '../context.ts'
import { jsonLists } from '../database/parameters.ts'
import { type Database, type Query, statement } from '../database.ts'
import { armDispatcherAt } from '../objects.ts'
import { type ShardName, shardName, tenantNow } from '../tenancy.ts'
import type { ChosenNewerType, EventType } from './catalogue.ts'
import { cellsOf, eachEvent, groupIntoRows } from './rows.ts'
import { deliveries, events, webhooks } from './tables.ts'
import type { CustomEventType } from './types.ts'

/** An event before it has a position in the stream. `data` is a flat map of text (brief 9). */
export type NewEvent = {
  type: EventType | CustomEventType
  /** Set where the older type does not determine the newer one. */
  newerType?: ChosenNewerType
  data: Record<string, string>
  policyholderLocator?: Uuid
  policyLocator?: PolicyLocator
}

/**
 * Builds queries that insert the events in order (rows.ts). Their position in the stream is that of the commit. Their timestamp is
 * the time of completion (contract 2, Event stream, rule 3): the time of this call, or the shard's latest timestamp when another
 * server's clock is ahead. Time therefore never goes back along the stream.
 */
export function eventRows(
  database: Database,
  { tenant, requestId, caller, ...context }: RequestContext,
  happened: readonly NewEvent[],
  shard: number,
): Query[] {
  if (happened.length === 0) return []
  const rows = tenant.sharesEventRows ? groupIntoRows(happened) : happened.map(event => [event])
  const locators = eventLocators(requestId, rows.length, shard)
  const at = later(context.now, tenantNow(tenant))
  return jsonLists(rows.map((row, place) => JSON.stringify(cellsOf(row, locators[place]!)))).map(list =>
    database.rawQuery(INSERT, requestId, at, caller.accountLocator, caller.username, list),
  )
}

/** Numbers continue after the highest that was ever given out, which SQLite keeps for the table. */
const INSERT = `insert into event (sequence, locator, request_id, type, newer_type, at, data, account_locator, username,
    policyholder_locator, policy_locator)
  select coalesce((select seq from sqlite_sequence where name = 'event'), 0) + sum(cells ->> 0) over (order by place),
    cells ->> 1, ?, cells ->> 2, cells ->> 3, max(?, coalesce((select at from event order by sequence desc limit 1), 0)),
    cells ->> 4, ?, ?, cells ->> 5, cells ->> 6
  from (select key as place, value as cells from json_each(?) limit -1)`

/** Whether webhook `w` subscribes to event `e`: by either name, exactly or with `prefix.*`. */
export const isSubscribed = sql`exists (
  select 1 from json_each(w.event_types) t
  where t.value in (e.type, e.newer_type)
    or (substr(t.value, -2) = '.*' and substr(t.value, 1, length(t.value) - 1) in (
      substr(e.type, 1, length(t.value) - 1), substr(e.newer_type, 1, length(t.value) - 1))))`

/** The line of event `e` (tables.ts). */
export const lineOfEvent = sql`coalesce(cast(e.policy_locator as text), e.policyholder_locator)`

/**
 * Creates a delivery of each event of the request for each enabled, subscribed webhook. `webhooksIn` reads the result. An earlier
 * commit of the same request has created its own deliveries.
 *
 * Deliveries are due immediately by the database's clock, because the timestamp of an event may come from a server whose clock is
 * ahead. A delivery behind an unfinished one of its line waits (tables.ts).
 */
export const deliveriesOf = (database: Database, requestId: Uuid): Query =>
  database.bind(DELIVERIES, { requestId, ...boundsOfEvents(requestId) })

const DELIVERIES = statement(build =>
  build.run(sql`
    insert into ${deliveries}
      (webhook_locator, event_sequence, line, state, attempts, due_at, outcome, finished_at, diverted_at)
    select webhook, sequence, line,
      case when suspended then iif(divert, 'diverted', 'skipped')
        when line is null then 'pending'
        when turn > 1 or exists (select 1 from ${deliveries} d
          where d.webhook_locator = m.webhook and d.line = m.line and d.finished_at is null) then 'waiting'
        else 'pending' end,
      0, clock, iif(suspended, 'suspended', null), iif(suspended, clock, null), iif(suspended and divert, clock, null)
    from (
      select w.locator as webhook, e.sequence, ${lineOfEvent} as line, w.suspended_at is not null as suspended,
        coalesce(w.failure_handling ->> 'divert', 0) as divert, cast(unixepoch('subsec') * 1000 as integer) as clock,
        row_number() over (partition by w.locator, ${lineOfEvent} order by e.sequence) as turn
      from ${webhooks} w cross join ${eachEvent(sql`(select * from ${events}
        where locator between ${sql.placeholder('from')} and ${sql.placeholder('to')}
          and request_id = ${sql.placeholder('requestId')})`)} e
      where w.enabled and ${isSubscribed}
        and not exists (select 1 from ${deliveries} x where x.webhook_locator = w.locator and x.event_sequence = e.sequence)
    ) m
    returning iif(state = 'pending', webhook_locator, null) as webhook`),
)

/**
 * Returns the webhooks that got a delivery which is due, from the result of `deliveriesOf`. A waiting delivery starts when the one
 * before it ends and needs no hint.
 */
export const webhooksIn = (result: unknown): Uuid[] => [
  ...new Set((result as D1Result<{ webhook: Uuid | null }>).results.flatMap(({ webhook }) => webhook ?? [])),
]

// After the commit, a queue message hints at due deliveries. Before the commit, the dispatcher is armed: within a minute it finds
// the deliveries that a crash left behind.

/** `webhooks` have due deliveries. Absent where the sender does not know which ones do. */
export type Announcement = ShardName & { readonly webhooks?: readonly Uuid[] }

/** How long after the start of a commit the dispatcher looks for the first time. */
export const ARM_AHEAD_MS = 60_000

/** How long an armed dispatcher checks every minute. Each check costs an alarm, even for a tenant that is otherwise idle. */
export const WATCH_MS = 3 * 60_000

/** A commit that has begun is finished after this time. */
const COMMITTED_WITHIN_MS = 30_000

/** By shard: the time until which its dispatcher checks. */
const watchedUntil = new Memo<string, number>(10_000)

/**
 * Arms the dispatcher to check every minute for a while, unless this isolate has done so recently. The dispatcher checks once more
 * after that time, so commits that begin before its last half minute are finished by then.
 */
export async function armDispatcher(context: RequestContext, shard: number): Promise<void> {
  const { tenant } = context
  const at = now()
  const key = `${tenant.locator}/${tenant.generation}/${shard}`
  const until = watchedUntil.get(key) ?? 0
  if (at + COMMITTED_WITHIN_MS <= until && until <= at + WATCH_MS) return
  watchedUntil.set(key, await armDispatcherAt(context, shard, at + ARM_AHEAD_MS, at + WATCH_MS))
}

/** Sends the hint after the response. A lost hint delays a delivery by up to a minute but loses no event. */
export function announce(context: RequestContext, shard: number, webhooks?: readonly Uuid[]): void {
  context.calls.queue += 1
  const message: Announcement = { ...shardName(context.tenant, shard), ...(webhooks && { webhooks }) }
  context.later(
    context.env.ANNOUNCEMENTS.send(message).catch(problem =>
      console.warn(
        JSON.stringify({ at: 'announce', requestId: context.requestId, problem: String(problem) }),
      ),
    ),
  )
}
