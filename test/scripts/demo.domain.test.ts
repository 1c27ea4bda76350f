import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Price, showPrice } from '../../scripts/demo/prices.ts'
import { type Receiver, startReceiver } from '../../scripts/demo/receiver.ts'
import { newStory } from '../../scripts/demo/story.ts'
import { workedPolicies } from '../../scripts/example.ts'

describe('The figures of the demo', () => {
  const { expected } = workedPolicies().find(({ name }) => name === 'Several exposures')!
  const named = (amounts: Record<string, string>) =>
    Object.entries(amounts).map(([name, amount]) => ({ name, amount: Number(amount) }))
  const price: Price = {
    grossPremium: Number(expected.grossPremium),
    grossTaxes: Number(expected.grossTaxes),
    grossFees: Number(expected.grossFees),
    grossCommissions: Number(expected.grossCommissions),
    totalDue: Number(expected.total),
    taxGroups: named(expected.taxGroups),
    fees: named(expected.fees),
    commissions: named(expected.commissions).map(({ name, amount }) => ({ recipient: name, amount })),
  }

  const comparePrice = (answer: Price) => {
    const lines: string[] = []
    const story = newStory(line => lines.push(line))
    showPrice(story, answer, expected)
    return { ...story, text: lines.join('\n') }
  }

  test('are correct when the service returns the amounts of the worked example', () => {
    const { wrong, compared, text } = comparePrice(price)
    expect(wrong).toBe(0)
    expect(compared).toBe(10)
    expect(text).toContain('1922.01')
  })

  test('are marked as wrong when an amount is a cent too high, a tax is missing or a fee is unexpected', () => {
    const fees = [...price.fees, { name: 'surprise', amount: 1 }]
    const { wrong, text } = comparePrice({
      ...price,
      totalDue: 1922.02,
      taxGroups: price.taxGroups.slice(1),
      fees,
    })
    expect(wrong).toBe(3)
    expect(text).toMatch(/total due +1922\.02 {3}WRONG: expected 1922\.01/)
    expect(text).toMatch(/tax insurance_tax +missing/)
    expect(text).toMatch(/fee surprise +1\.00 {3}WRONG: expected absent/)
  })
})

describe('The webhook receiver of the demo', () => {
  let receiver: Receiver
  beforeEach(async () => {
    receiver = await startReceiver()
  })
  afterEach(() => receiver.close())

  const deliver = async (signature: (signed: string) => string): Promise<number> => {
    const body = JSON.stringify({ locator: 'e1', type: 'policy.issue', data: {} })
    const headers = { 'webhook-id': 'e1', 'webhook-timestamp': '1795279626' }
    const response = await fetch(receiver.url, {
      method: 'POST',
      headers: { ...headers, 'webhook-signature': signature(`e1.1795279626.${body}`) },
      body,
    })
    return response.status
  }
  const sign = (signed: string): string =>
    createHmac('sha256', Buffer.from(receiver.secret.slice('whsec_'.length), 'base64'))
      .update(signed)
      .digest('base64')

  test('keeps an event once, however often it is delivered', async () => {
    expect(await deliver(signed => `v1,AAAA v1,${sign(signed)}`)).toBe(204)
    expect(await deliver(signed => `v1,${sign(signed)}`)).toBe(204)
    expect(receiver.events.map(({ type }) => type)).toEqual(['policy.issue'])
    expect(await receiver.waitUntil(() => receiver.events.length === 1, 1_000)).toBe(true)
  })

  test('rejects a wrong signature with 401', async () => {
    expect(await deliver(signed => `v1,${sign(`${signed} `)}`)).toBe(401)
    expect(receiver.events).toEqual([])
    expect(receiver.refused).toBe(1)
  })
})
