// Events of the policy, and their deliveries to each webhook.
import { useState } from 'preact/hooks'
import { call, get } from '../api.ts'
import { type Child, h, part, type View } from '../element.ts'
import { permissions } from '../find.ts'
import { moment, msOf, words } from '../format.ts'
import { badge, emptyNote, facts, loadedSection, problemNote, section, table } from '../parts.ts'
import { session } from '../session.ts'
import type { Delivery, EventPage, Policy, PolicyEvent, Webhook } from '../wire.ts'
import { VIEW } from './words.ts'

/** Events of one call. It takes the service about 25 ms and returns about 600 KB. */
const PAGE = 1_000

/** Calls of each further search. Opening the view makes one call, so its cost does not grow with the tenant. */
const PAGES_AT_ONCE = 3

const tenantPath = (): string => `/event/${encodeURIComponent(session()?.tenantLocator ?? '')}`

export function eventsView(policy: Policy, signal: AbortSignal): View {
  return section(
    VIEW.events,
    loadedSection(VIEW.loads.events, async () => {
      const may = await permissions()
      if (!may.has('events.read') && !may.has('events.list'))
        return h('p', { class: 'notice' }, VIEW.mayNotReadEvents, h('code', {}, 'events.list'), '.')
      const webhooks = may.has('webhooks.list') || may.has('webhooks.read') ? webhooksOf(signal) : undefined
      // Only awaited when an event is opened, so that a failure must be handled here.
      webhooks?.catch(() => {})
      const reading = { policy, webhooks, mayRedeliver: may.has('webhooks.write'), signal }
      return part(EventPages, { reading, first: await readOn([], undefined, reading) })
    }),
  )
}

type Reading = {
  readonly policy: Policy
  readonly webhooks: Promise<Webhook[]> | undefined
  readonly mayRedeliver: boolean
  readonly signal: AbortSignal
}

/** Reads the webhooks. The response is a list, or a page of one. */
async function webhooksOf(signal: AbortSignal): Promise<Webhook[]> {
  const answer = await get<Webhook[] | { items: Webhook[] }>(`${tenantPath()}/webhooks/list`, signal)
  return Array.isArray(answer) ? answer : answer.items
}

type Read = {
  readonly found: readonly PolicyEvent[]
  readonly token: string | undefined
  readonly isLast: boolean
  readonly seen: string
}

/**
 * Searches for events of the policy. Events are listed for the whole tenant, so the search begins when the policy was created. It
 * reads the first thousand events, and further thousands on request.
 */
async function readOn(
  before: readonly PolicyEvent[],
  token: string | undefined,
  { policy, signal }: Reading,
): Promise<Read> {
  const found = [...before]
  let pagingToken = token
  let isLast = false
  let seen = ''
  const most = token ? PAGES_AT_ONCE : 1
  for (let page = 0; page < most && !isLast; page += 1) {
    const asked = new URLSearchParams(
      pagingToken
        ? { pagingToken }
        : {
            startTimestamp: new Date(msOf(policy.createdTimestamp) - 1_000).toISOString(),
            pageSize: String(PAGE),
          },
    )
    const { events, pagingToken: next } = await get<EventPage>(`${tenantPath()}/events/list?${asked}`, signal)
    found.push(...events.filter(({ data }) => data.policyLocator === policy.locator))
    seen = events.at(-1)?.timestamp ?? seen
    isLast = events.length < PAGE
    pagingToken = next
  }
  return { found, token: pagingToken, isLast, seen }
}

function EventPages({ reading, first }: { reading: Reading; first: Read }): View {
  const [{ found, token, isLast, seen }, show] = useState(first)
  const [isBusy, work] = useState(false)
  const [failure, fail] = useState<unknown>()
  const further = async (): Promise<void> => {
    work(true)
    fail(undefined)
    await readOn(found, token, reading).then(show, fail)
    work(false)
  }
  return h(
    'div',
    {},
    found.length === 0 ? emptyNote(VIEW.noEvent) : eventTable(found.toReversed(), reading),
    !isLast &&
      h(
        'p',
        { class: 'soft' },
        VIEW.lookedUntil(moment(seen)),
        h('button', { type: 'button', disabled: isBusy, click: further }, VIEW.lookFurther),
      ),
    failure !== undefined && problemNote(failure),
  )
}

const eventTable = (events: readonly PolicyEvent[], reading: Reading): View =>
  table(
    VIEW.policyEvents,
    [
      { head: VIEW.event, cell: ({ type }) => h('code', { class: 'type' }, type) },
      { head: VIEW.at, cell: ({ timestamp }) => moment(timestamp) },
      { head: VIEW.request, cell: ({ requestId }) => h('code', { class: 'soft' }, requestId.slice(0, 8)) },
    ],
    events,
    event => eventDetail(event, reading),
  )

const eventDetail = (event: PolicyEvent, reading: Reading): Child => [
  h('h3', { class: 'minor' }, VIEW.deliveries),
  reading.webhooks
    ? loadedSection(VIEW.loads.deliveries, () => deliveriesOf(event, reading))
    : h('p', { class: 'notice' }, VIEW.mayNotReadWebhooks),
  h('h3', { class: 'minor' }, VIEW.data),
  facts([
    ...Object.entries(event.data).map(([name, value]) => [name, dataText(name, value)] as const),
    ['locator', h('code', {}, event.locator)],
    ['requestId', h('code', {}, event.requestId)],
  ]),
]

/** Shows a time next to its milliseconds. */
function dataText(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /Timestamp$/.test(name) && /^\d{10,14}$/.test(text) ? `${text} (${moment(text)})` : text
}

async function deliveriesOf(event: PolicyEvent, reading: Reading): Promise<Child> {
  const webhooks = (await reading.webhooks) ?? []
  const query = new URLSearchParams({ eventLocator: event.locator })
  const each = await Promise.all(
    webhooks.map(async webhook => {
      const path = `${tenantPath()}/webhooks/${encodeURIComponent(webhook.locator)}/deliveries/list?${query}`
      const { items } = await get<{ items: Delivery[] }>(path, reading.signal)
      return items.map(delivery => ({ webhook, delivery }))
    }),
  )
  const all = each.flat()
  return all.length === 0
    ? emptyNote(webhooks.length === 0 ? VIEW.noWebhooks : VIEW.noDelivery)
    : all.map(({ webhook, delivery }) => part(DeliveryCard, { webhook, delivery, event, reading }))
}

type DeliveryShown = {
  readonly webhook: Webhook
  readonly delivery: Delivery
  readonly event: PolicyEvent
  readonly reading: Reading
}

function DeliveryCard({ webhook, delivery, event, reading }: DeliveryShown): View {
  const [isSent, send] = useState(false)
  const [said, say] = useState<Child>()
  const resendEvent = async (): Promise<void> => {
    send(true)
    try {
      await call('POST', `${tenantPath()}/webhooks/${encodeURIComponent(webhook.locator)}/redeliver`, {
        body: { eventLocators: [event.locator] },
      })
      say(h('p', { class: 'notice' }, VIEW.isSentAgain))
    } catch (failure) {
      say(problemNote(failure))
      send(false)
    }
  }
  return h(
    'article',
    { class: 'card delivery' },
    h(
      'h4',
      { class: 'name' },
      webhook.name,
      ' ',
      badge(delivery.state),
      webhook.suspended && badge('failed', VIEW.webhookSuspended),
    ),
    facts([
      [VIEW.outcome, delivery.outcome ?? '–'],
      [VIEW.due, delivery.dueAt ? moment(delivery.dueAt) : '–'],
      [VIEW.finished, delivery.finishedAt ? moment(delivery.finishedAt) : '–'],
      [VIEW.to, h('code', {}, webhook.endpoint.url)],
    ]),
    delivery.attempts.length === 0
      ? emptyNote(VIEW.notAttemptedYet)
      : table(
          VIEW.attemptsAt(webhook.name),
          [
            { head: VIEW.attempt, cell: one => moment(one.timestamp) },
            { head: VIEW.outcome, cell: one => words(one.outcome) },
            { head: VIEW.took, amount: true, cell: one => `${one.durationMs} ms` },
          ],
          delivery.attempts,
          one => (one.excerpt ? h('pre', {}, one.excerpt) : emptyNote(VIEW.noAnswerToShow)),
        ),
    reading.mayRedeliver &&
      h('p', {}, h('button', { type: 'button', disabled: isSent, click: resendEvent }, VIEW.sendAgain)),
    h('div', { 'aria-live': 'polite' }, said),
  )
}
