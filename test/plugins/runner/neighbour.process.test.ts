// The service next to four tenants with harmful plugins at the same time: how long a neighbour waits that rates a policy every
// 100 ms, by templates and by plugins. At full size (BINDERY_SIZES=full), on a computer with nothing else to do, the times are
// checked too.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiClient } from '../../../scripts/api-client.ts'
import { archive, draftOf, tenantOf } from '../../support/plugged-tenants.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts'
import { measured, size } from '../../support/sizes.ts'
import { HOSTILE_SCRIPTS } from './hostile-scripts.ts'

/** How long the idle service is observed. */
const IDLE_MS = size(500, 20_000)

/** The scripts that run then, a built-in function and a pattern, or all of them, and how many of them each tenant runs. */
const SCRIPTS = size([0, 27], [...HOSTILE_SCRIPTS.keys()])
const EACH_RUNS = size(1, SCRIPTS.length)

const EVERY_MS = 100

/** The errors of a call on a busy computer that gets no turn or gets it too late. At full size there are none. */
const BUSY = size(/; try again\.|getPerilRates failed: main\/rater\.js: takes longer/, /^$/)

let service: ServiceProcess

beforeAll(async () => {
  service = await startServiceProcess()
})

afterAll(() => service.remove())

/** Each script as a lambda, by its number. */
const LAMBDA = `const scripts = [
${HOSTILE_SCRIPTS.map(([, body]) => `() => {\n${body}\n}`).join(',\n')}
]
exports.executeLambda = number => scripts[Number(number)]()`

/**
 * Rates the policy every 100 ms until the returned function is called, which returns the times in ascending order. At full size
 * it does so even while the last call goes on. Otherwise it waits for it, because on a busy computer each call may take longer.
 */
function rating(client: ApiClient, policy: string): () => Promise<number[]> {
  const times: Promise<number>[] = []
  let going = 0
  const rated = async (): Promise<number> => {
    const began = performance.now()
    going += 1
    await client.call('POST', `/policy/${policy}/price`).catch((problem: Error) => {
      if (!BUSY.test(problem.message)) throw problem
    })
    going -= 1
    return performance.now() - began
  }
  const timer = setInterval(() => {
    if (going > size(0, Number.POSITIVE_INFINITY)) return
    const one = rated()
    one.catch(() => undefined)
    times.push(one)
  }, EVERY_MS)
  return async () => {
    clearInterval(timer)
    return (await Promise.all(times)).sort((a, b) => a - b)
  }
}

const p99 = (times: readonly number[]): number => times[Math.ceil(times.length * 0.99) - 1]!

test('a neighbour is served while four tenants run hostile scripts, and each script is ended', async () => {
  const byTemplates = await service.signInAs('agent')
  const byPlugins = await tenantOf(service, 'neighbour', archive())
  const neighbours: [name: string, client: ApiClient, policy: string][] = [
    ['templates', byTemplates, await draftOf(byTemplates, 0)],
    ['plugins', byPlugins, await draftOf(byPlugins, 0)],
  ]
  const hostile = await Promise.all(
    ['one', 'two', 'three', 'four'].map(name =>
      tenantOf(service, name, archive({ 'lambda/lambda.js': LAMBDA })),
    ),
  )
  for (const [, client, policy] of neighbours)
    for (let n = 0; n < 5; n += 1) await client.call('POST', `/policy/${policy}/price`)

  const watch = () => neighbours.map(([, client, policy]) => rating(client, policy))
  const settle = (watched: (() => Promise<number[]>)[]) => Promise.all(watched.map(one => one()))
  const idly = watch()
  await sleep(IDLE_MS)
  const idle = await settle(idly)

  const busily = watch()
  const calls: { script: number; ms: number; message: string }[] = []
  await Promise.all(
    hostile.map(async (client, at) => {
      // Each tenant begins elsewhere, so that they do not all run the same script.
      const begin = Math.floor((at * SCRIPTS.length) / hostile.length)
      const own = [...SCRIPTS.slice(begin), ...SCRIPTS.slice(0, begin)].slice(0, EACH_RUNS)
      for (const script of own) {
        const began = performance.now()
        const message = await client.call('POST', `/lambda/${script}`).then(
          () => 'answered',
          (problem: Error) => problem.message,
        )
        calls.push({ script, ms: performance.now() - began, message })
      }
    }),
  )
  const busy = await settle(busily)

  for (const [at, [name]] of neighbours.entries()) {
    measured(`rating by ${name}, idle, p99`, Math.round(p99(idle[at]!)), 'ms')
    measured(`rating by ${name} beside four hostile tenants, p99`, Math.round(p99(busy[at]!)), 'ms')
    measured(`rating by ${name} beside four hostile tenants, slowest`, Math.round(busy[at]!.at(-1)!), 'ms')
    if (size(false, true)) {
      expect(p99(busy[at]!)).toBeLessThanOrEqual(3 * p99(idle[at]!))
      expect(busy[at]!.at(-1)).toBeLessThanOrEqual(500)
    }
  }
  measured('longest hostile call', Math.round(Math.max(...calls.map(({ ms }) => ms))), 'ms')
  const isEnded = ({ message }: { message: string }) => /Plugin executeLambda failed/.test(message)
  expect(calls).toHaveLength(hostile.length * EACH_RUNS)
  expect(calls.filter(call => !isEnded(call) && !BUSY.test(call.message))).toEqual([])
  if (size(false, true)) expect(calls.filter(({ ms }) => ms > 5_000)).toEqual([])
})
