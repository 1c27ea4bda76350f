// Events for a webhook once more, or for the first time: those named, or those of a span of time.
import { type SQL, sql } from 'drizzle-orm'
import type { Instant } from '../../../kernel/time.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { isSubscribed, lineOfEvent } from '../../../platform/events/outbox.ts'
import { deliveries, events, webhooks } from '../../../platform/events/tables.ts'
import { relinked } from './lines.ts'

/** Which events: those named, or those that happened from the one time until before the other, in milliseconds. */
export type EventChoice =
  | { readonly eventLocators: readonly string[] }
  | { readonly from: number | undefined; readonly to: number | undefined }

/** Events of the choice that are of the webhook's types, as rows `e`. */
const chosen = (webhookLocator: string, choice: EventChoice): SQL => sql`
  from ${events} e join ${webhooks} w on w.locator = ${webhookLocator}
  where ${isSubscribed} and ${
    'eventLocators' in choice
      ? sql`e.locator in (select value from json_each(${JSON.stringify(choice.eventLocators)}))`
      : sql`e.at >= ${choice.from ?? Number.MIN_SAFE_INTEGER} and e.at < ${choice.to ?? Number.MAX_SAFE_INTEGER}`
  }`

/** Locators of the events of the choice in the shard, at most `most`. */
export async function chosenEvents(
  database: Database,
  webhookLocator: string,
  choice: EventChoice,
  most: number,
): Promise<string[]> {
  const [rows] = await database.batch([
    database.build.all<{ locator: string }>(
      sql`select e.locator ${chosen(webhookLocator, choice)} order by e.sequence limit ${most}`,
    ),
  ])
  return rows.map(one => one.locator)
}

/**
 * Queries that have them delivered. One that waits already is tried at once; its attempts go on counting. One whose attempt is
 * under way, or ended and is not recorded yet, is attempted once more, however that attempt went.
 */
export const redelivered = (
  database: Database,
  webhookLocator: string,
  choice: EventChoice,
  at: Instant,
): Query[] => {
  const { build } = database
  const isChosen = sql`webhook_locator = ${webhookLocator}
    and event_sequence in (select e.sequence ${chosen(webhookLocator, choice)})`
  return [
    build.run(sql`
      update ${deliveries} set asked = asked + 1, due_at = min(due_at, ${at}) where finished_at is null and ${isChosen}`),
    build.run(sql`
      update ${deliveries} set asked = asked + 1, state = 'waiting', attempts = 0, due_at = ${at}, finished_at = null
      where finished_at is not null and ${isChosen}`),
    build.run(sql`
      insert into ${deliveries} (webhook_locator, event_sequence, line, state, attempts, due_at)
      select ${webhookLocator}, e.sequence, ${lineOfEvent},
        'waiting', 0, ${at}
      ${chosen(webhookLocator, choice)} on conflict do nothing`),
    ...relinked(database, webhookLocator),
  ]
}
