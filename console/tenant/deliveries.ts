// What became of the events of a webhook: each with its attempts and what was answered, and a button that sends it again.
import { get, ownTenant, queryOf } from '../api.ts'
import { deedButtons } from '../deed-buttons.ts'
import { type Child, h, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { choiceForm, input, type Option, select } from '../lists/filters.ts'
import { badge, type Column, empty, facts, loaded, table } from '../parts.ts'
import type { Delivery, DeliveryList, Webhook } from '../wire.ts'
import {
  addressOf,
  chosenOf,
  isoOfDay,
  PAGE_SIZE,
  pagesOf,
  spanChosen,
  spanInputs,
  spanOf,
} from './address.ts'
import { confirmed } from './opened.ts'
import { TENANT, WEBHOOKS as WORDS } from './words.ts'

const STATES: readonly Delivery['state'][] = ['waiting', 'pending', 'sent', 'failed', 'diverted', 'skipped']

export function deliveriesSection(
  webhook: Webhook,
  query: URLSearchParams,
  held: ReadonlySet<string>,
  signal: AbortSignal,
): Child {
  const chosen = chosenOf(query, ['state', 'eventLocator'])
  const span = spanOf(query)
  const path = ['webhooks', webhook.locator]
  const load = async (): Promise<Child> => {
    const from = query.get('page') ?? ''
    const asked = queryOf({
      ...chosen,
      from: isoOfDay(span.from),
      to: isoOfDay(span.until),
      pageSize: PAGE_SIZE,
      pagingToken: from,
    })
    const { items, pagingToken } = await get<DeliveryList>(
      `/event/${ownTenant()}/webhooks/${webhook.locator}/deliveries/list?${asked}`,
      signal,
    )
    if (items.length === 0 && from === '' && pagingToken === undefined) return empty(WORDS.noDeliveries)
    return [
      items.length > 0 &&
        table(WORDS.deliveries, COLUMNS, items, delivery => deliveryShown(webhook, delivery, held)),
      pagesOf(path, { ...chosen, ...spanChosen(span) }, from, { count: items.length, next: pagingToken }),
    ]
  }
  return [
    choiceForm(
      [
        ...spanInputs(span),
        select(
          'state',
          TENANT.state,
          STATES.map((state): Option => [state, words(state)]),
          chosen.state,
        ),
        input('eventLocator', WORDS.eventLocator, chosen.eventLocator),
      ],
      ({ from = '', until = '', ...typed }) => addressOf(path, { ...typed, ...spanChosen({ from, until }) }),
    ),
    loaded('the deliveries', load),
  ]
}

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
    attempts.length === 0 ? empty(WORDS.noAttempt) : attemptTable(delivery),
    webhook.enabled && !webhook.suspended && deedButtons([again(webhook, delivery)], held),
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

/** What was put aside is taken off that list when it is taken. */
function again({ locator, name }: Webhook, { eventLocator, eventType, state }: Delivery) {
  const path = `/event/${ownTenant()}/webhooks/${locator}`
  const said = {
    text: WORDS.again,
    title: WORDS.againTitle(eventType),
    about: WORDS.againAbout(name),
    method: 'POST',
    done: WORDS.isSentAgain,
  }
  return state === 'diverted'
    ? confirmed({
        ...{ ...said, permissions: ['diverted-events.resend'] },
        path: `${path}/diverted/${encodeURIComponent(eventLocator)}/resend`,
      })
    : confirmed({
        ...{ ...said, permissions: ['webhooks.write'] },
        path: `${path}/redeliver`,
        body: { eventLocators: [eventLocator] },
      })
}
