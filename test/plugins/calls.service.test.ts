// What the calls of an attempt leave behind if one is refused, or if the transaction goes on without it.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { AttemptCalls, type PluginSubject } from '../../src/extension/plugins/attempt-calls.ts'
import { OperationCalls } from '../../src/extension/plugins/operation-calls.ts'
import type { PluginCall } from '../../src/extension/plugins/runners/runner.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import { type Instant, now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import type { RequestContext } from '../../src/platform/context.ts'
import { openDatabase } from '../../src/platform/database.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import { faultyDatabase } from '../support/faulty-database.ts'
import { nothingKnown, programOf, QUICKJS, RUNNERS, table } from './programs.ts'

const SCRIPT = `exports.getPreGraceResult = ({ key, say }) => {
  console.log('asked of', key)
  const before = socotraApi.getAuxData('a', 'one')
  socotraApi.setAuxData('a', key, say)
  socotraApi.createCustomEvent('custom.asked', { key })
  return before
}`

/** Returns the plugin calls of a separate program. Data of locators that begin with `far` cannot be written here. */
function openProgram() {
  const product = {
    name: 'motor',
    plugins: { getPreGraceResult: { path: 'main/grace.js', enabled: true } },
  } as unknown as ProductDefinition
  const program = programOf({ 'main/grace.js': SCRIPT })
  const subject: PluginSubject = {
    configuration: program.configuration,
    configVersion: 1,
    product,
    policyLocator: '64',
  }
  const calls = new AttemptCalls(
    async () => ({ runner: QUICKJS, programOf: () => program, longestCallMs: 60_000 }),
    { tenant: {} as never, now: Date.UTC(2026, 10, 21) as Instant },
    async () => ({ ...nothingKnown(), aux: [['a', 'one', '']] }),
    ({ key }) => (key.startsWith('far') ? `${key} lies elsewhere` : undefined),
  )
  const call = (key: string, say: string) => calls.call(subject, 'getPreGraceResult', [{ key, say }])
  return { calls, call, disregard: (why: string) => calls.disregard(subject, 'getPreGraceResult', why) }
}

describe('a call that is disregarded', () => {
  it('keeps no writes, marks its events as failed and logs the reason, while earlier calls stand', async () => {
    const { calls, call, disregard } = openProgram()
    expect(await call('one', 'first')).toBe('')
    expect(await call('one', 'second')).toBe('first')
    disregard('It came too late.')
    expect(calls.writes.map(({ value }) => value)).toEqual(['first'])
    expect(calls.events.map(({ data }) => data)).toEqual([
      { key: 'one' },
      { key: 'one', operationFailed: 'true' },
    ])
    expect(calls.logs.map(({ failure, lines }) => [failure, lines.map(one => one.text)])).toEqual([
      [undefined, ['asked of one']],
      ['It came too late.', ['asked of one']],
    ])
    expect(await call('two', 'third')).toBe('first')
    expect(calls.writes.map(({ value }) => value)).toEqual(['first', 'third'])
  })
})

it('a call that writes what cannot be written with the transaction is rejected, and writes nothing', async () => {
  const { calls, call } = openProgram()
  const refused = await call('far away', 'x').catch((problem: unknown) => problem)
  expect(refused).toBeInstanceOf(Refusal)
  expect([(refused as Refusal).code, (refused as Refusal).message]).toEqual([
    'pluginFailed',
    'far away lies elsewhere',
  ])
  expect(calls.writes).toEqual([])
})

const FLEET = `exports.executeLambda = (operation, many) => {
  let sum = 0
  if (operation === 'rows')
    for (let at = 0; at < many; at += 1) sum += Number(socotraApi.tableLookup(0, 'vehicles', 'vehicle-' + at))
  if (operation === 'loop') {
    const step = Number(socotraApi.tableLookup(0, 'vehicles', 'vehicle-1')) * Number(socotraApi.tableLookup(0, 'vehicles', 'vehicle-2'))
    while (sum < 10) sum += step
  }
  return sum
}`

describe.each(RUNNERS)('a call that requests many rows one after the other under %s', (_name, runner) => {
  const lambda = async (operation: string, many: number) => {
    const vehicles = Array.from({ length: 1_500 }, (_, at): [string, string] => [`vehicle-${at}`, String(at)])
    const program = programOf({ 'lambda/lambda.js': FLEET }, { vehicles: table('vehicles', vehicles) })
    const executeLambda = { path: 'lambda/lambda.js', enabled: true }
    const product = { name: 'motor', plugins: { executeLambda } } as unknown as ProductDefinition
    const rounds: (boolean | undefined)[] = []
    const calls = new AttemptCalls(
      async () => ({
        runner: {
          run: (given, call: PluginCall) => {
            rounds.push(call.gathers)
            return runner.run(given, call)
          },
        },
        programOf: () => program,
        longestCallMs: 60_000,
      }),
      { tenant: {} as never, now: Date.UTC(2026, 10, 21) as Instant },
      async () => nothingKnown(),
    )
    const { configuration } = program
    const lookup = configuration.lookup('motor')
    const subject: PluginSubject = {
      configuration,
      configVersion: 1,
      product,
      // As for a table that is a resource: none of its rows is available yet.
      tables: {
        names: ['vehicles'],
        everNames: ['vehicles'],
        lookup,
        range: () => undefined,
        in: () => subject.tables!,
      },
    }
    const value = await calls.call(subject, 'executeLambda', [operation, many])
    return { value, rounds }
  }

  it('gets 100 rows in three rounds, and 1,500 rows in four', async () => {
    expect(await lambda('rows', 100)).toEqual({ value: 4_950, rounds: [false, true, true] })
    expect(await lambda('rows', 1_500)).toEqual({ value: 1_124_250, rounds: [false, true, true, true] })
  })

  it.runIf(runner === QUICKJS)(
    'is stopped at each row if it would loop without end while rows are missing',
    async () => {
      expect(await lambda('loop', 0)).toEqual({ value: 10, rounds: [false, true, false, false] })
    },
  )
})

const READS_SECRET = `const answer = key => ({
  exceptionMessage: 'The key ' + key + ' was refused',
  notes: ['tried ' + key, 7],
  decision: key,
})
exports.getUnderwritingResult = () => answer(socotraApi.getSecret('partner', 'key'))
exports.executeLambda = () => answer(socotraApi.getSecret('partner', 'key'))
exports.getPreGraceResult = () => {
  const key = socotraApi.getSecret('partner', 'key')
  socotraApi.setAuxData('x', key + '\\u0000', 'v')
  return {}
}`

it('a secret that a call read is masked in the texts of its answer, except in the answer of a lambda', async () => {
  const enabled = { path: 'main/all.js', enabled: true }
  const product = {
    name: 'motor',
    plugins: { getUnderwritingResult: enabled, executeLambda: enabled, getPreGraceResult: enabled },
  } as unknown as ProductDefinition
  const program = programOf({ 'main/all.js': READS_SECRET })
  const calls = new AttemptCalls(
    async () => ({ runner: QUICKJS, programOf: () => program, longestCallMs: 60_000 }),
    { tenant: {} as never, now: Date.UTC(2026, 10, 21) as Instant },
    async () => ({ ...nothingKnown(), secrets: [['partner', 'key', 'k-123456']] }),
  )
  const subject = { configuration: program.configuration, configVersion: 1, product }
  expect(await calls.call(subject, 'getUnderwritingResult', [])).toEqual({
    exceptionMessage: 'The key ******** was refused',
    notes: ['tried ********', 7],
    decision: 'k-123456',
  })
  expect(await calls.call(subject, 'executeLambda', [])).toMatchObject({ notes: ['tried k-123456', 7] })
  // Problems with an answer, or with what was written, would show it.
  expect(calls.shown("a rate for k-123456, and 'k-123456'")).toBe("a rate for ********, and '********'")
  await expect(calls.call(subject, 'getPreGraceResult', [])).rejects.toThrow(
    /data '\*{8}' has characters that cannot be stored/,
  )
  calls.disregard(subject, 'getPreGraceResult', 'no end k-123456')
  expect(JSON.stringify(calls.logs)).not.toContain('k-123456')
})

it('a log that cannot be stored is reported to the operator, and the request does not fail', async () => {
  const database = openDatabase(
    faultyDatabase(env.CONTROL, () => 'before'),
    noCalls(),
  )
  const later: Promise<unknown>[] = []
  const requestId = newUuid(0)
  const context = {
    env,
    calls: noCalls(),
    now: now(),
    requestId,
    caller: { username: 'alice.agent' },
    later: (work: Promise<unknown>) => later.push(work),
  } as unknown as RequestContext
  const pluginCalls = new OperationCalls({ context, database, shard: 0 })
  pluginCalls.begin().logs.push({
    plugin: 'getPerilRates',
    path: 'main/rater.js',
    productName: 'motor',
    configVersion: 1,
    policyLocator: undefined,
    failure: undefined,
    lines: [{ level: 'info', text: 'rated' }],
  })
  const reported = vi.spyOn(console, 'error').mockImplementation(() => {})
  pluginCalls.keepLogs()
  expect(later).toHaveLength(1)
  await expect(later[0]).resolves.toBeUndefined()
  expect(reported.mock.calls.map(([text]) => JSON.parse(String(text)))).toEqual([
    { at: 'pluginLogs', requestId, problem: 'Error: D1_ERROR: Network connection lost.' },
  ])
  reported.mockRestore()
})
