// Calls over HTTP to a real server, with a shorter timeout than in production.
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { exchange, LARGEST_BODY } from '../../src/extension/integrations/call/exchange.ts'
import { openRater } from '../support/rater.ts'
import type { RaterBehaviour } from '../support/rater-server.ts'

const PATIENCE_MS = 700

/** Enough to read a large response on a slow computer. */
const MUCH_PATIENCE_MS = 30_000

const exchanged = (...behaviours: RaterBehaviour[]) => exchangedWithin(PATIENCE_MS, ...behaviours)

async function exchangedWithin(patienceMs: number, ...behaviours: RaterBehaviour[]) {
  const rater = await openRater(...behaviours)
  const { ending, attempts } = await exchange(env, { url: rater.url, headers: {} }, 'key', '{}', patienceMs)
  return { ending, outcomes: attempts.map(one => one.outcome), calls: await rater.calls() }
}

it.each(['hang', 'hangInBody'] as const)(
  'a response with the fault %s times out, and the call is not retried',
  async fault => {
    const { ending, outcomes, calls } = await exchanged({ fault })
    expect([ending.kind, outcomes, calls.length]).toEqual(['timeout', ['timeout'], 1])
  },
)

it('a retry gets only the time that is left', async () => {
  const { ending, outcomes } = await exchanged({ status: 503 }, { fault: 'hang' })
  expect([ending.kind, outcomes]).toEqual(['timeout', ['503', 'timeout']])
})

it('a call is not retried if no time would be left for it', async () => {
  const { outcomes } = await exchanged({ status: 503, headers: { 'retry-after': '1' } })
  expect(outcomes).toEqual(['503'])
})

it('a response of 10 MB is read, and one byte more is rejected', async () => {
  const [most, more] = [
    await exchangedWithin(MUCH_PATIENCE_MS, { bytes: LARGEST_BODY }),
    await exchangedWithin(MUCH_PATIENCE_MS, { bytes: LARGEST_BODY + 1 }),
  ]
  expect(most.ending).toMatchObject({ kind: 'answered', status: 200 })
  expect(more.ending).toEqual({ kind: 'tooLarge' })
})

it('a redirect is not followed', async () => {
  const elsewhere = await openRater()
  const { ending } = await exchanged({ status: 307, headers: { location: elsewhere.url } })
  expect(ending).toMatchObject({ kind: 'answered', status: 307 })
  expect(await elsewhere.calls()).toEqual([])
})

it('an unreachable address is tried twice', async () => {
  const { ending, attempts } = await exchange(
    env,
    { url: 'http://127.0.0.1:9/never', headers: {} },
    'key',
    '{}',
    PATIENCE_MS,
  )
  expect([ending.kind, attempts.length]).toEqual(['unreachable', 2])
})

it('a private or unencrypted address is not called in production', async () => {
  for (const url of ['https://10.0.0.1/', 'https://169.254.169.254/latest', 'http://rater.example.com/'])
    expect(
      (await exchange({ ...env, ENVIRONMENT: 'production' as 'local' }, { url, headers: {} }, 'key', '{}'))
        .ending,
    ).toEqual({
      kind: 'addressRefused',
    })
  const own = await openRater()
  const production = { ...env, ENVIRONMENT: 'production' as 'local' }
  expect((await exchange(production, { url: own.url, headers: {} }, 'key', '{}')).ending).toEqual({
    kind: 'addressRefused',
  })
  expect(await own.calls()).toEqual([])
})
