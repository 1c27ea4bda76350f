// Webhooks: their addresses, their states, and the delivery of each event.

import { actionButtons } from '../action-buttons.ts'
import { get, ownTenant } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { moment } from '../format.ts'
import { badge, emptyNote, facts, loadedSection, section, table } from '../parts.ts'
import type { Webhook, WebhookList } from '../wire.ts'
import { addressOf } from './address.ts'
import { deliveriesSection } from './deliveries.ts'
import { backLine, confirmButton, type Opened, type Shown } from './page.ts'
import { testButton } from './test-event.ts'
import { PAGES, TENANT, WEBHOOKS as WORDS } from './words.ts'

const WRITE = ['webhooks.write'] as const

export const webhooksPage = (opened: Opened): Shown | Promise<Shown> => {
  const [locator] = opened.rest
  return locator === undefined ? listed(opened) : webhookPage(locator, opened)
}

const pathOf = (locator: string): string => `/event/${ownTenant()}/webhooks/${encodeURIComponent(locator)}`

function stateOf({ enabled, suspended }: Webhook): View {
  if (suspended) return badge('failed', WORDS.states.suspended)
  return enabled ? badge('issued', WORDS.states.active) : badge('diverted', WORDS.states.paused)
}

const listed = ({ signal, held }: Opened): Shown => ({
  title: PAGES.webhooks.title,
  content: [
    backLine(undefined),
    loadedSection('the webhooks', async () => {
      const { items } = await get<WebhookList>(
        `/event/${ownTenant()}/webhooks/list?extended=true&count=1000`,
        signal,
      )
      return items.length === 0 ? emptyNote(WORDS.none) : webhookTable(items, held.has('webhooks.read'))
    }),
  ],
})

const webhookTable = (webhooks: readonly Webhook[], mayRead: boolean): View =>
  table<Webhook>(
    PAGES.webhooks.title,
    [
      {
        head: WORDS.webhook,
        cell: ({ locator, name }) =>
          mayRead ? h('a', { href: addressOf(['webhooks', locator]) }, name) : name,
      },
      { head: TENANT.state, cell: stateOf },
      { head: WORDS.address, cell: ({ endpoint }) => endpoint.url },
      { head: WORDS.events, cell: ({ eventTypes }) => eventTypes.join(', ') || '–' },
    ],
    webhooks,
  )

async function webhookPage(locator: string, { query, signal, held }: Opened): Promise<Shown> {
  const webhook = await get<Webhook>(pathOf(locator), signal)
  return {
    title: [webhook.name, ' ', stateOf(webhook)],
    content: [
      backLine('#/tenant/webhooks', WORDS.all),
      h('div', { class: 'section' }, factsOf(webhook)),
      actionButtons(deedsOf(webhook), held),
      section(WORDS.deliveries, deliveriesSection(webhook, query, held, signal)),
    ],
  }
}

function factsOf(webhook: Webhook): View {
  const { endpoint, eventTypes, failureHandling, suspendedAt, skippedEvents, divertedEvents } = webhook
  const { retryStrategy, triggers, divert, suspend } = failureHandling
  const afterwards = [divert && WORDS.divert, suspend && WORDS.suspend].filter(Boolean).join(', ')
  const pairs: (readonly [string, Child] | false)[] = [
    [WORDS.address, endpoint.url],
    [WORDS.events, eventTypes.join(', ') || '–'],
    [WORDS.signed, endpoint.hmacEnabled ? TENANT.yes : TENANT.no],
    [
      WORDS.retries,
      retryStrategy
        ? WORDS.retryText(retryStrategy.attempts, retryStrategy.interval, retryStrategy.type)
        : WORDS.noRetry,
    ],
    [WORDS.triggers, triggers.join(', ')],
    [WORDS.afterwards, afterwards || WORDS.givesUp],
    suspendedAt !== null && [WORDS.suspendedSince, moment(suspendedAt)],
    skippedEvents !== undefined && [WORDS.skipped, skippedEvents],
    divertedEvents !== undefined && [WORDS.diverted, divertedEvents],
  ]
  return facts(pairs.filter(pair => pair !== false))
}

function deedsOf({ locator, name, enabled, suspended }: Webhook) {
  const path = pathOf(locator)
  const patch = { permissions: WRITE, method: 'PATCH' }
  return [
    ...(suspended
      ? [
          confirmButton({
            ...patch,
            path: `${path}/unsuspend`,
            text: WORDS.unsuspend,
            title: WORDS.unsuspendTitle(name),
            about: WORDS.unsuspendAbout,
            done: WORDS.isUnsuspended(name),
          }),
          confirmButton({
            ...patch,
            path: `${path}/unsuspend?replay=true`,
            text: WORDS.replay,
            title: WORDS.unsuspendTitle(name),
            about: WORDS.replayAbout,
            done: WORDS.isUnsuspended(name),
          }),
        ]
      : []),
    enabled
      ? confirmButton({
          ...patch,
          path,
          body: { enabled: false },
          text: WORDS.pause,
          title: WORDS.pauseTitle(name),
          about: WORDS.pauseAbout,
          done: WORDS.isPaused(name),
        })
      : confirmButton({
          ...patch,
          path,
          body: { enabled: true },
          text: WORDS.resume,
          title: WORDS.resumeTitle(name),
          about: WORDS.resumeAbout,
          done: WORDS.isResumed(name),
        }),
    testButton(path, name, WRITE),
  ]
}
