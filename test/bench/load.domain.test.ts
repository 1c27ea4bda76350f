import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Answer, type Call, drive } from '../../tools/bench/load.ts'

const ANSWER: Answer = { text: '{}', serverTiming: '', latencyMs: 1 }

function* calls(count: number): Generator<Call, undefined> {
  for (let at = 0; at < count; at += 1) yield { method: 'GET', path: `/${at}` }
}

describe('drive', () => {
  test('makes every call once, and never more than the limit at a time', async () => {
    const made: string[] = []
    let under = 0
    let most = 0
    const connection = {
      async send({ path }: Call) {
        made.push(path)
        under += 1
        most = Math.max(most, under)
        await sleep(1)
        under -= 1
        return ANSWER
      },
    }
    const paths: string[] = []
    const { answers } = await drive(connection, calls(50), { atOnce: 4, longestMs: 60_000 }, ({ path }) =>
      paths.push(path),
    )
    expect(new Set(made).size).toBe(50)
    expect(made).toHaveLength(50)
    expect(paths).toHaveLength(50)
    expect(answers).toHaveLength(50)
    expect(most).toBe(4)
  })

  test('starts no call after its time is up', async () => {
    const endless = (function* (): Generator<Call> {
      for (;;) yield { method: 'GET', path: '/' }
    })()
    const connection = { send: () => sleep(5, ANSWER) }
    const { answers, elapsedMs } = await drive(connection, endless, { atOnce: 2, longestMs: 50 }, () => {})
    expect(answers.length).toBeGreaterThan(0)
    expect(elapsedMs).toBeGreaterThanOrEqual(50)
  })

  test('fails with the first wrong response', async () => {
    const connection = { send: () => Promise.reject(new Error('GET / answered 500')) }
    await expect(drive(connection, calls(5), { atOnce: 2, longestMs: 1_000 }, () => {})).rejects.toThrow(
      'answered 500',
    )
  })
})
