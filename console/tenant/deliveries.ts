// The deliveries of a webhook: each with its attempts, the responses, and a button that sends it again.

import { actionButtons } from '../action-buttons.ts'
import { get, ownTenant, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { choiceFault } from '../lists/address-list.ts'
import { input, type Option, select } from '../lists/filters.ts'
import { badge, type Column, emptyNote, facts, table } from '../parts.ts'
import type { Delivery, DeliveryList, Webhook } from '../wire.ts'
import { isoOfDay } from './address.ts'
import { history } from './history.ts'
import { confirmButton } from './page.ts'
import { TENANT, WEBHOOKS as WORDS } from './words.ts'

const STATES: readonly Delivery['state'][] = ['waiting', 'pending', 'sent', 'failed', 'diverted', 'skipped']
const STATE_OPTIONS = STATES.map((one): Option => [one, words(one)])

export const deliveriesSection = (
  webhook: Webhook,
  query: URLSearchParams,
  held: ReadonlySet<string>,
  signal: AbortSignal,
): Child =>
  history({
    path: ['webhooks', webhook.locator],
    query,
    what: 'the deliveries',
    none: WORDS.noDeliveries,
    names: ['state', 'eventLocator'],
    fields: ({ state, eventLocator }) => [
      select('state', TENANT.state, STATE_OPTIONS, state),
      input('eventLocator', WORDS.eventLocator, eventLocator),
    ],
    faults: ({ state }) => [choiceFault(TENANT.state, STATE_OPTIONS, state)],
    async load(asked, { from, until }) {
      const days = { from: isoOfDay(from), to: isoOfDay(until) }
      const { items, pagingToken } = await get<DeliveryList>(
        `/event/${ownTenant()}/webhooks/${webhook.locator}/deliveries/list?${queryOf({ ...asked, ...days })}`,
        signal,
      )
      return {
        count: items.length,
        table: () =>
          table(WORDS.deliveries, COLUMNS, items, delivery => deliveryShown(webhook, delivery, held)),
        next: pagingToken,
      }
    },
  })

const COLUMNS: readonly Column<Delivery>[] = [
  { head: WORDS.event, cell: ({ eventType }) => h('code', { class: 'type' }, eventType) },
  { head: TENANT.when, cell: ({ eventTimestamp }) => moment(eventTimestamp) },
  { head: TENANT.state, cell: ({ state }) => badge(state) },
  { head: WORDS.attempts, amount: true, cell: ({ attempts }) => attempts.length },
  { head: WORDS.outcome, cell: ({ outcome }) => outcome ?? '–' },
]

function deliveryShown(webhook: Webhook, delivery: Delivery, held: ReadonlySet<string>): View {
  const { eventLocator, dueAt, finishedAt, attempts } = delivery
  return h(
    'div',
    {},
    facts([
      [WORDS.eventLocator, h('code', {}, eventLocator)],
      ...(dueAt === undefined ? [] : [[WORDS.due, moment(dueAt)] as const]),
      ...(finishedAt === undefined ? [] : [[WORDS.finished, moment(finishedAt)] as const]),
    ]),
    attempts.length === 0 ? emptyNote(WORDS.noAttempt) : attemptTable(delivery),
    webhook.enabled && !webhook.suspended && actionButtons([resendButton(webhook, delivery)], held),
  )
}

type Attempt = Delivery['attempts'][number]

const attemptTable = ({ eventType, attempts }: Delivery): View =>
  table<Attempt>(
    `${WORDS.attempts}: ${eventType}`,
    [
      { head: WORDS.attempt, cell: ({ timestamp }) => moment(timestamp) },
      { head: WORDS.outcome, cell: ({ outcome }) => outcome },
      { head: WORDS.took, amount: true, cell: ({ durationMs }) => WORDS.ms(durationMs) },
      { head: WORDS.answer, cell: ({ excerpt }) => (excerpt ? h('pre', {}, excerpt) : '–') },
    ],
    attempts,
  )

/** Resending a diverted event also removes it from the list of diverted events once the webhook has accepted it. */
function resendButton({ locator, name }: Webhook, { eventLocator, eventType, state }: Delivery) {
  const path = `/event/${ownTenant()}/webhooks/${locator}`
  const said = {
    text: WORDS.again,
    title: WORDS.againTitle(eventType),
    about: WORDS.againAbout(name),
    method: 'POST',
    done: WORDS.isSentAgain,
  }
  return state === 'diverted'
    ? confirmButton({
        ...said,
        permissions: ['diverted-events.resend'],
        path: `${path}/diverted/${encodeURIComponent(eventLocator)}/resend`,
      })
    : confirmButton({
        ...said,
        permissions: ['webhooks.write'],
        path: `${path}/redeliver`,
        body: { eventLocators: [eventLocator] },
      })
}
