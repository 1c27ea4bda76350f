// Tenant code that does harm, on purpose or not. Under QuickJS, loops and memory, which it counts here too. For the isolate, that
// the limits are passed on, because the platform enforces them only in production.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { workerCode } from '../../src/bundles/sandbox.bundle.mjs'
import { isolateRunner } from '../../src/extension/plugins/runners/isolate.ts'
import { callOf, outcomeOf, programOf, QUICKJS, RUNNERS, table } from './programs.ts'

const GOOD = { 'main/rater.js': 'exports.getPerilRates = () => "fine"' }

describe('under QuickJS', () => {
  const harm: [what: string, body: string, reason: RegExp][] = [
    ['a loop without end', 'while (true) {}', /more steps/],
    [
      'a loop without end that catches what it can',
      'for (;;) { try { while (true) {} } catch (e) {} finally { continue } }',
      /more steps/,
    ],
    [
      'a loop without end in a promise',
      'const f = () => Promise.resolve().then(f); f(); return new Promise(() => {})',
      /more steps|never settles/,
    ],
    ['a pattern that never ends', 'return /^(a+)+$/.test("a".repeat(40) + "b")', /more steps/],
    ['a gibibyte at once', 'return "x".repeat(1024 * 1024 * 1024)', /memory|RangeError|invalid/],
    [
      'a gibibyte bit by bit',
      'const all = []; for (;;) all.push(new Array(1000).fill(all.length))',
      /memory|more steps/,
    ],
    [
      'a string that doubles',
      'let s = "x"; for (let i = 0; i < 40; i++) s += s; return s',
      /memory|RangeError|invalid|long/,
    ],
    [
      'recursion through toString',
      'const o = { toString() { return "" + o } }; return "" + o',
      /too deep|memory/,
    ],
    [
      'recursion through JSON',
      'const o = { toJSON() { return JSON.stringify(o) } }; return o',
      /too deep|no JSON/,
    ],
  ]
  it.each(harm)('contains %s', async (_what, body, reason) => {
    const { failure, value } = await outcomeOf(QUICKJS, body)
    expect(value).toBeUndefined()
    expect(failure?.reason).toMatch(reason)
    expect(await QUICKJS.run(programOf(GOOD), callOf())).toMatchObject({ value: 'fine' })
  })

  it('serves neighbours at the same time, even if the interpreter itself crashes', async () => {
    const crash = 'const o = { toString() { return "" + o } }; return "" + o'
    const good = programOf(GOOD)
    const outcomes = await Promise.all([
      QUICKJS.run(good, callOf()),
      outcomeOf(QUICKJS, crash),
      QUICKJS.run(good, callOf()),
      outcomeOf(QUICKJS, crash),
      QUICKJS.run(good, callOf()),
    ])
    expect(outcomes.map(one => one.value)).toEqual(['fine', undefined, 'fine', undefined, 'fine'])
  })

  it('serves a neighbour at the same time as an endless loop', async () => {
    const [bad, good] = await Promise.all([
      outcomeOf(QUICKJS, 'while (true) {}'),
      QUICKJS.run(programOf(GOOD), callOf()),
    ])
    expect(bad.failure).toMatchObject({ limit: true })
    expect(good).toMatchObject({ value: 'fine' })
  })
})

describe.each(RUNNERS)('under %s', (_name, runner) => {
  const harm: [what: string, body: string, reason: RegExp][] = [
    ['throwing text', 'throw "no"', /^threw no$/],
    ['throwing nothing', 'throw undefined', /^threw undefined$/],
    ['throwing null', 'throw null', /^threw null$/],
    ['throwing what throws when looked at', 'throw { get message() { throw 1 } }', /cannot be shown|threw/],
    ['throwing a proxy', 'throw new Proxy({}, { get() { throw new Error("x") } })', /cannot be shown|threw/],
    [
      'throwing an error without a stack',
      'const e = new Error("bare"); e.stack = { toString() { throw 1 } }; throw e',
      /^Error: bare$/,
    ],
    ['a rejection', 'return Promise.reject(new Error("late"))', /^Error: late$/],
    ['a promise without end', 'return new Promise(() => {})', /never settles/],
    ['a thenable that lies', 'return { then(yes) { yes(1); yes(2); throw 3 } , toJSON: 5 }', /^$/],
    ['a stack overflow', 'function f() { return f() + 1 } return f()', /too deep/],
  ]
  it.each(harm)('contains %s', async (_what, body, reason) => {
    const { failure } = await outcomeOf(runner, body)
    expect(failure?.reason ?? '').toMatch(reason)
    expect(await runner.run(programOf(GOOD), callOf())).toMatchObject({ value: 'fine' })
  })

  it('never shows a program what another one left behind', async () => {
    await outcomeOf(runner, 'global.secret = "mine"; Object.prototype.secret = "mine"; return 1')
    const { value } = await outcomeOf(runner, 'return [typeof secret, typeof ({}).secret]')
    expect(value).toEqual(['undefined', 'undefined'])
  })
})

describe('the isolate', () => {
  it('gets no network, no bindings, and limits of CPU time and requests', () => {
    const code = workerCode(programOf(GOOD, { rates: table('rates', [['a', '1']]) }))
    expect(code).toMatchObject({
      globalOutbound: null,
      env: {},
      limits: { cpuMs: 4_000, subRequests: 0 },
      mainModule: 'sandbox',
    })
    expect(code.compatibilityFlags).toBeUndefined()
  })

  it('does not contain a table of more than 1 MiB, but asks for its rows', async () => {
    const rows = Array.from({ length: 60_000 }, (_, at): [string, string] => [`key-${at}`, `value-${at}`])
    const program = programOf(
      { 'main/rater.js': 'exports.getPerilRates = () => socotraApi.tableLookup(0, "big", "key-59999")' },
      { big: table('big', rows) },
    )
    const runner = isolateRunner(env.LOADER, workerCode)
    expect((await runner.run(program, callOf())).missing).toEqual([
      { kind: 'row', table: 'big', key: 'key-59999' },
    ])
    const known = {
      aux: [],
      auxLocators: [],
      entities: [],
      rows: [['big', 'key-59999', 'value-59999'] as const],
    }
    expect(await runner.run(program, callOf({ known }))).toMatchObject({ value: 'value-59999' })
  })

  it('fails only the script that requires an unreadable file, and names the file', async () => {
    const program = programOf({
      ...GOOD,
      'main/asks.js': "exports.getPerilRates = () => { require('./odd.js') }",
      'main/odd.js': '',
    })
    const scripts = new Map(program.scripts).set('main/odd.js', { text: '(function () { var = 2 })' })
    const run = (path: string) =>
      isolateRunner(env.LOADER, workerCode).run({ ...program, scripts }, callOf({ path }))
    expect((await run('main/asks.js')).failure).toMatchObject({
      at: 'main/asks.js:1',
      reason: "SyntaxError: Unexpected token '=' (main/odd.js)",
    })
    expect(await run('main/rater.js')).toMatchObject({ value: 'fine' })
  })

  it('does not execute code in the name of a file', async () => {
    const program = programOf({
      ...GOOD,
      'main/odd.js\nglobalThis.taken = 1': 'exports.a = 1',
      'main/look.js': 'exports.getPerilRates = () => typeof taken',
    })
    const runner = isolateRunner(env.LOADER, workerCode)
    expect(await runner.run(program, callOf({ path: 'main/look.js' }))).toMatchObject({ value: 'undefined' })
  })

  it('is created once for a program, and reused', async () => {
    let made = 0
    const counting = {
      get: (name: string, code: () => WorkerLoaderWorkerCode) =>
        env.LOADER.get(name, () => {
          made += 1
          return code()
        }),
    } as unknown as WorkerLoader
    const runner = isolateRunner(counting, workerCode)
    const program = programOf(GOOD)
    for (let n = 0; n < 5; n += 1)
      expect(await runner.run(program, callOf())).toMatchObject({ value: 'fine' })
    expect(made).toBe(1)
    await runner.run(programOf(GOOD), callOf())
    expect(made).toBe(2)
  })
})
