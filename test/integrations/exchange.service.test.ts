// Calls over HTTP, with a real server on the other side and less patience than in earnest.
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { exchange, LARGEST_BODY } from '../../src/extension/integrations/call/exchange.ts'
import { openRater } from '../support/rater.ts'
import type { RaterBehaviour } from '../support/rater-server.ts'

const PATIENCE_MS = 700

/** Enough to read a large answer on a busy machine. */
const MUCH_PATIENCE_MS = 30_000

const exchanged = (...behaviours: RaterBehaviour[]) => exchangedWithin(PATIENCE_MS, ...behaviours)

async function exchangedWithin(patienceMs: number, ...behaviours: RaterBehaviour[]) {
  const rater = await openRater(...behaviours)
  const { ending, attempts } = await exchange(env, { url: rater.url, headers: {} }, 'key', '{}', patienceMs)
  return { ending, outcomes: attempts.map(one => one.outcome), calls: await rater.calls() }
}

it.each(['hang', 'hangInBody'] as const)(
  'an answer that %ss is given up, and not asked for again',
  async fault => {
    const { ending, outcomes, calls } = await exchanged({ fault })
    expect([ending.kind, outcomes, calls.length]).toEqual(['timeout', ['timeout'], 1])
  },
)

it('the retry has the time that is left, no more', async () => {
  const { ending, outcomes } = await exchanged({ status: 503 }, { fault: 'hang' })
  expect([ending.kind, outcomes]).toEqual(['timeout', ['503', 'timeout']])
})

it('there is no retry where no time would be left for it', async () => {
  const { outcomes } = await exchanged({ status: 503, headers: { 'retry-after': '1' } })
  expect(outcomes).toEqual(['503'])
})

it('an answer of 10 MB is read, and one byte more is not', async () => {
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

it('where nobody listens is tried twice', async () => {
  const { ending, attempts } = await exchange(
    env,
    { url: 'http://127.0.0.1:9/never', headers: {} },
    'key',
    '{}',
    PATIENCE_MS,
  )
  expect([ending.kind, attempts.length]).toEqual(['unreachable', 2])
})

it('an address that may not be called is not', async () => {
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
