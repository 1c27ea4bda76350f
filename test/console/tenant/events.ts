// Webhooks, the audit trail and the plugin log in the console: what is sent again is received, and each action is done once.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { workedPolicies } from '../../../scripts/example.ts'
import { faintTexts, settled, until } from '../page.ts'
import type { Locator, Running } from './running.ts'

type Delivery = { eventLocator: string; state: string; attempts: unknown[] }
type Got = { id: string; body: string }

export function eventTests(running: () => Running): void {
  let receiver: Server
  let webhook: string
  const received: Got[] = []
  /** Whether `/gone` accepts events again, after its 410 has suspended the webhook. */
  let isBack = false
  /** Whether `/busy` accepts events. */
  let isIdle = false

  beforeAll(async () => {
    const { admin, tenant } = running()
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const isGone = request.url === '/gone' && !isBack
        if (request.url === '/events')
          received.push({ id: String(request.headers['webhook-id']), body: Buffer.concat(chunks).toString() })
        const isBusy = request.url === '/busy' && !isIdle
        response.writeHead(isGone ? 410 : isBusy ? 503 : 200, { 'content-type': 'text/plain' }).end('Taken.')
      })
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const { port } = receiver.address() as AddressInfo
    ;({ locator: webhook } = await admin.call<Locator>('POST', `/event/${tenant}/webhooks`, {
      name: 'Ledger',
      enabled: true,
      endpoint: { url: `http://127.0.0.1:${port}/events`, headers: {}, hmacEnabled: true },
      eventTypes: ['policyholder.create'],
    }))
  })
  afterAll(() => void receiver?.close())

  test('sends a delivery again once, so that the receiver gets it twice in total', async () => {
    const { admin, page, faults, tenant, go, heading, firstCells, confirm } = running()
    const { policyholder } = workedPolicies()[0]!.request
    await admin.call('POST', '/policyholder/create', { completed: true, values: policyholder.values })
    const deliveries = async (): Promise<Delivery[]> =>
      (
        await admin.call<{ items: Delivery[] }>(
          'GET',
          `/event/${tenant}/webhooks/${webhook}/deliveries/list?state=sent`,
        )
      ).items
    await expect.poll(async () => (await deliveries()).length, { timeout: 30_000 }).toBe(1)
    await go('/tenant/webhooks')
    await page.getByRole('link', { name: 'Ledger' }).click()
    await until(page, `location.hash.startsWith('#/tenant/webhooks/')`)
    await settled(page)
    expect(await heading()).toBe('Ledger active')
    expect(await firstCells('Deliveries')).toEqual(['policyholder.create'])
    await page.getByRole('button', { name: 'Details of policyholder.create' }).click()
    await page.locator('.detail pre', { hasText: 'Taken.' }).waitFor()
    await page.getByRole('button', { name: 'Send again' }).click()
    expect(await faintTexts(page)).toEqual([])
    // The response is lost on its way back. Trying again sends the same request.
    const keys: (string | undefined)[] = []
    await page.route('**/redeliver', async route => {
      keys.push(route.request().headers()['idempotency-key'])
      if (keys.length > 1) return await route.continue()
      await route.fetch()
      await route.abort()
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).dblclick()
    await page.getByText('It is unknown whether this was done.').waitFor()
    await confirm('Try again', 'The event is being sent.')
    await page.unroute('**/redeliver')
    expect(keys).toEqual([keys[0], keys[0]])
    await expect.poll(() => received.length, { timeout: 30_000 }).toBe(2)
    await expect.poll(async () => (await deliveries())[0]?.attempts.length, { timeout: 30_000 }).toBe(2)
    const [delivery] = await deliveries()
    expect(received.map(({ id }) => id)).toEqual([delivery!.eventLocator, delivery!.eventLocator])
    await page.getByRole('button', { name: 'Reload' }).click()
    await settled(page)
    expect(await page.locator('td[data-head="Attempts"]').first().textContent()).toBe('2')
    // Paused, and resumed.
    await page.getByRole('button', { name: 'Pause' }).click()
    await confirm('Pause', 'Ledger is paused.')
    expect(await heading()).toBe('Ledger paused')
    expect(await admin.call('GET', `/event/${tenant}/webhooks/${webhook}`)).toMatchObject({ enabled: false })
    await page.getByRole('button', { name: 'Resume' }).click()
    await confirm('Resume', 'Ledger is resumed.')
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send a test event' }).click()
    await page.getByText(/Response 200 after/).waitFor()
    await page.keyboard.press('Escape')
    expect(received).toHaveLength(3)
    expect(faults).toEqual([])
  })

  test('resumes a suspended webhook, and delivers what came meanwhile', async () => {
    const { admin, page, faults, tenant, go, heading, confirm } = running()
    const { port } = receiver.address() as AddressInfo
    const gone = await admin.call<Locator>('POST', `/event/${tenant}/webhooks`, {
      name: 'Archive',
      enabled: true,
      endpoint: { url: `http://127.0.0.1:${port}/gone`, headers: {}, hmacEnabled: true },
      eventTypes: ['policyholder.create'],
    })
    const path = `/event/${tenant}/webhooks/${gone.locator}`
    const { policyholder } = workedPolicies()[0]!.request
    await admin.call('POST', '/policyholder/create', { completed: true, values: policyholder.values })
    await expect
      .poll(async () => (await admin.call<{ suspended: boolean }>('GET', path)).suspended, {
        timeout: 30_000,
      })
      .toBe(true)
    await go(`/tenant/webhooks/${gone.locator}`)
    expect(await heading()).toBe('Archive suspended')
    isBack = true
    await page.getByRole('button', { name: 'Lift it and send the diverted events' }).click()
    await confirm('Lift it and send the diverted events', 'Archive is no longer suspended.')
    expect(await heading()).toBe('Archive active')
    await expect
      .poll(
        async () =>
          (await admin.call<{ items: Delivery[] }>('GET', `${path}/deliveries/list`)).items[0]?.state,
        { timeout: 30_000 },
      )
      .toBe('sent')
    expect(faults).toEqual([])
  })

  test('sends a diverted event again, which is then no longer diverted', async () => {
    const { admin, page, faults, tenant, go, confirm } = running()
    const { port } = receiver.address() as AddressInfo
    const busy = await admin.call<Locator>('POST', `/event/${tenant}/webhooks`, {
      name: 'Statistics',
      enabled: true,
      endpoint: { url: `http://127.0.0.1:${port}/busy`, headers: {}, hmacEnabled: true },
      eventTypes: ['policyholder.create'],
      failureHandling: { triggers: ['5xx'], divert: true },
    })
    const path = `/event/${tenant}/webhooks/${busy.locator}`
    const { policyholder } = workedPolicies()[0]!.request
    await admin.call('POST', '/policyholder/create', { completed: true, values: policyholder.values })
    const states = async () =>
      (await admin.call<{ items: Delivery[] }>('GET', `${path}/deliveries/list`)).items.map(one => one.state)
    await expect.poll(states, { timeout: 30_000 }).toEqual(['diverted'])
    isIdle = true
    await go(`/tenant/webhooks/${busy.locator}?state=diverted`)
    await page.getByText('Diverted').first().waitFor()
    await page.getByRole('button', { name: 'Details of policyholder.create' }).click()
    await page.getByRole('button', { name: 'Send again' }).click()
    await confirm('Send again', 'The event is being sent.')
    await expect.poll(states, { timeout: 30_000 }).toEqual(['sent'])
    expect(await admin.call('GET', `${path}/diverted`)).toEqual([])
    const { entries } = await admin.call<{ entries: unknown[] }>(
      'GET',
      `/audit/list?action=webhooks.resend&subject=${busy.locator}`,
    )
    expect(entries).toHaveLength(1)
    expect(faults).toEqual([])
  })

  test('lists the newest audit entries first, and links to the next page', async () => {
    const { admin, page, faults, go } = running()
    type Page = { entries: { locator: string; subject: string; action: string }[]; pagingToken?: string }
    const asked = '/audit/list?order=newestFirst&pageSize=50'
    const first = await admin.call<Page>('GET', asked)
    const subjects = (): Promise<string[]> =>
      page.locator('tbody tr.opens td[data-head="Subject"]').allTextContents()
    await go('/tenant/audit')
    // Reading the trail creates no entry.
    expect(await subjects()).toEqual(first.entries.map(({ subject }) => subject))
    if (first.pagingToken !== undefined) {
      await page.getByRole('link', { name: 'Next' }).click()
      await until(page, `location.hash.includes('page=')`)
      await settled(page)
      const next = await admin.call<Page>('GET', `${asked}&pagingToken=${first.pagingToken}`)
      expect(await subjects()).toEqual(next.entries.map(({ subject }) => subject))
    }
    expect(faults).toEqual([])
  })

  test('filters the audit trail by action, user, subject and day, and keeps the filter in the URL', async () => {
    const { admin, page, faults, go } = running()
    await go('/tenant/audit')
    await page.getByLabel('Action').selectOption('webhooks.resend')
    await page.getByLabel('User', { exact: true }).fill('anna.admin')
    await page.getByLabel('Subject').fill(webhook)
    await page.getByRole('button', { name: 'Show' }).click()
    await until(
      page,
      `location.hash.includes('action=webhooks.resend') && location.hash.includes('username=anna.admin')`,
    )
    await settled(page)
    const { entries } = await admin.call<{ entries: { subject: string }[] }>(
      'GET',
      `/audit/list?action=webhooks.resend&username=anna.admin&subject=${webhook}`,
    )
    // The two clicks of the confirmation sent one request.
    expect(entries).toHaveLength(1)
    expect(await page.locator('tbody tr.opens').count()).toBe(1)
    await page.getByText(entries[0]!.subject).first().waitFor()
    await page.reload()
    await settled(page)
    expect(await page.locator('tbody tr.opens').count()).toBe(1)
    await go('/tenant/audit?from=2020-01-01&until=2020-02-01')
    await page.getByText('The audit trail has no entries in this period.').waitFor()
    expect(faults).toEqual([])
  })

  test('shows what each plugin call printed, filtered by function and policy', async () => {
    const { admin, page, faults, go } = running()
    const { policyholder, policy } = workedPolicies()[0]!.request
    const holder = await admin.call<Locator>('POST', '/policyholder/create', {
      completed: true,
      values: policyholder.values,
    })
    const made = await admin.call<Locator>('POST', '/policy', {
      ...policy,
      policyholderLocator: holder.locator,
    })
    await go(`/tenant/plugins?plugin=getUnderwritingResult&policyLocator=${made.locator}`)
    const { logs } = await admin.call<{ logs: unknown[] }>(
      'GET',
      `/plugin/logs?policyLocator=${made.locator}`,
    )
    expect(logs.length).toBeGreaterThan(0)
    expect(await page.locator('tbody tr.opens').count()).toBe(logs.length)
    await page.locator('.toggle').first().click()
    await page.getByText('info decided accept').waitFor()
    expect(faults).toEqual([])
  })

  test('can be used with the keyboard alone', async () => {
    const { page, go } = running()
    await go('/tenant/webhooks')
    await page.getByRole('link', { name: 'Ledger' }).focus()
    await page.keyboard.press('Enter')
    await until(page, `location.hash.startsWith('#/tenant/webhooks/')`)
    await settled(page)
    const toggle = page.getByRole('button', { name: 'Details of policyholder.create' }).first()
    await toggle.focus()
    await page.keyboard.press('Enter')
    const again = page.getByRole('button', { name: 'Send again' }).first()
    await again.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await until(page, `!document.querySelector('dialog')`)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Send again')
  })
}
