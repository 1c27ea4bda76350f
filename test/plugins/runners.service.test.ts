// The common behaviour of both sandboxes: what tenant code finds there, what it returns, and how it fails.
import { describe, expect, it } from 'vitest'
import { PLUGIN_FUNCTIONS } from '../../src/product/configuration.ts'
import { callOf, nothingKnown, outcomeOf, programOf, RUNNERS, table } from './programs.ts'

const NOW = Date.UTC(2026, 10, 21, 12)

describe.each(RUNNERS)('tenant code under %s', (_name, runner) => {
  const value = async (body: string, more = {}): Promise<unknown> => {
    const { failure, value } = await outcomeOf(runner, body, more)
    if (failure) throw new Error(`${failure.at}: ${failure.reason}`)
    return value
  }

  it('receives values and returns values', async () => {
    expect(
      await value('return { sum: data.a + data.b, list: [1, null, "x"] }', { arguments: [{ a: 1, b: 2 }] }),
    ).toEqual({
      sum: 3,
      list: [1, null, 'x'],
    })
  })

  it('requires relative files, the shared library, folders and JSON, each loaded once in a call', async () => {
    const program = programOf({
      'main/rater.js':
        "const a = require('./parts/a.js'); const lib = require('../lib/money'); const data = require('./data.json')\nexports.getPerilRates = () => [a.name, lib.cents(1.5), data.rate, require('money').cents(2), require('./parts/a') === a, require('./folder').n]",
      'main/parts/a.js': "exports.name = 'a' + require('../../lib/money.js').cents(1)",
      'main/data.json': '{"rate": 0.5}',
      'main/folder/index.js': 'module.exports = { n: 9 }',
      'lib/money.js': 'let loads = 0; loads += 1; exports.cents = n => n * 100 + loads - 1',
    })
    expect(await runner.run(program, callOf())).toMatchObject({ value: ['a100', 150, 0.5, 200, true, 9] })
  })

  it('gets MODULE_NOT_FOUND for a missing file, so that a script can do without it', async () => {
    const program = programOf({
      'main/rater.js': `
const optional = name => { try { return require(name) } catch (e) { if (e.code !== 'MODULE_NOT_FOUND') throw e; return 'none' } }
exports.getPerilRates = () => [optional('./locale/de'), optional('csv'), optional('./there')]`,
      'main/there.js': 'module.exports = 5',
    })
    expect(await runner.run(program, callOf())).toMatchObject({ value: ['none', 'none', 5] })
  })

  it('can be ES modules, which can import CommonJS', async () => {
    const program = programOf({
      'main/rater.js': `import { double, default as named, twice as again } from './maths.mjs'
import * as maths from './maths.mjs'
import common, { third } from './common.js'
import './effect.js'
export const unused = 1, { more, rest: [inner] } = { more: 2, rest: [3] }
export { third as reexported } from './common.js'
export async function getPerilRates(data) {
  return [double(2), named(), again(3), maths.double(5), common.third(9), third(3), more, inner]
}`,
      'main/maths.mjs':
        'export const double = n => n * 2\nexport default function () { return "default" }\nexport { double as twice }',
      'main/common.js': 'exports.third = n => n / 3',
      'main/effect.js': 'global.seen = true',
    })
    expect(await runner.run(program, callOf())).toMatchObject({ value: [4, 'default', 6, 10, 3, 1, 2, 3] })
  })

  it('is called as a method of its exports, so that it finds its helpers by `this`', async () => {
    const outcomeIn = async (script: string) =>
      await runner.run(programOf({ 'main/rater.js': script }), callOf())
    const method = 'getPerilRates() { return this.rate() }, rate() { return 120 }'
    for (const script of [
      `module.exports = { ${method} }`,
      `module.exports = new (class { ${method.replace(',', '')} })()`,
      'exports.rate = () => 120; exports.getPerilRates = function () { return this.rate() }',
      `export default { ${method} }`,
    ])
      expect(await outcomeIn(script)).toMatchObject({ value: 120 })
  })

  it('may use undeclared names and the with statement', async () => {
    expect(
      await value('for (i = 0, sum = 0; i < 3; i++) sum += i; with ({ a: 1 }) { sum += a } return sum'),
    ).toBe(4)
  })

  it('has the time of the call as its clock, in UTC, and repeatable random numbers', async () => {
    const seen = await value(
      'return [Date.now(), new Date().toISOString(), String(new Date(0)), new Date(2026, 0, 1).getTime(), Date(), new Date() instanceof Date, Math.random(), Math.random()]',
    )
    expect(seen).toEqual([
      NOW,
      '2026-11-21T12:00:00.000Z',
      'Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)',
      Date.UTC(2026, 0, 1),
      'Sat Nov 21 2026 12:00:00 GMT+0000 (Coordinated Universal Time)',
      true,
      0.011704753153026104,
      0.06195825757458806,
    ])
  })

  it('prints numbers and dates the same everywhere, with time zones', async () => {
    expect(
      await value(`return [
        (1234567.891).toLocaleString(), new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(-1234.5),
        new Intl.NumberFormat('en', { style: 'percent' }).format(0.256),
        new Date(0).toLocaleString('en-US', { timeZone: 'America/New_York' }),
        new Date(1750000000000).toLocaleDateString('en-GB', { timeZone: 'Europe/Berlin', month: 'long', day: 'numeric', year: 'numeric', weekday: 'short' }),
        new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', hour: 'numeric', hourCycle: 'h23', minute: '2-digit' }).format(1750000000000),
        ['b', 'a', 'B'].sort((a, b) => a.localeCompare(b)).join('')
      ]`),
    ).toEqual([
      '1,234,567.891',
      '-€1,234.50',
      '26%',
      '12/31/1969, 7:00:00 PM',
      'Sun, June 15, 2025',
      '17:06',
      'Bab',
    ])
  })

  it('prints amounts with the decimal places of their currency, even if its code is in lower case', async () => {
    expect(
      await value(`const print = (amount, currency, more) => amount.toLocaleString('en-US', { style: 'currency', currency, ...more })
      return [
        ...['BHD', 'kwd', 'KRW', 'JPY', 'jpy', 'eur', 'CLF', 'CHF'].map(currency => print(1234.5678, currency)),
        print(-1234.5678, 'BHD', { maximumFractionDigits: 2 }), print(5, 'JPY', { minimumFractionDigits: 2 })
      ]`),
    ).toEqual([
      'BHD 1,234.568',
      'KWD 1,234.568',
      'KRW 1,235',
      '¥1,235',
      '¥1,235',
      '€1,234.57',
      'CLF 1,234.5678',
      'CHF 1,234.57',
      '-BHD 1,234.57',
      '¥5.00',
    ])
  })

  it('rounds printed numbers of any size half up, by their decimal digits', async () => {
    expect(
      await value(`const print = (number, digits, more) => number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits, ...more })
      return [
        print(1.005, 2), print(8.345, 2), print(-2.5, 0), print(0.5, 0), print(0.4999, 0), print(0.05, 1), print(0.0049, 2), print(0, 2), print(99.995, 2),
        print(1e21, 0), print(1e-7, 2), print(5e-324, 2), print(0.285, 0, { style: 'percent' }), print(0.00285, 1, { style: 'percent' }),
        (1234.5).toLocaleString(),
      ]`),
    ).toEqual([
      ...['1.01', '8.35', '-3', '1', '0', '0.1', '0.00', '0.00', '100.00'],
      ...['1,000,000,000,000,000,000,000', '0.00', '0.00', '29%', '0.3%', '1,234.5'],
    ])
  })

  it('prints a month with its year, without a comma between them', async () => {
    expect(
      await value(`return [
        new Date(0).toLocaleDateString('en-US', { year: 'numeric', month: 'long' }),
        new Date(0).toLocaleDateString('en-US', { year: 'numeric', month: 'short' }),
        new Date(0).toLocaleDateString('en-US', { year: 'numeric', month: 'long', day: 'numeric' }),
        new Date(0).toLocaleDateString('en-US', { year: 'numeric', month: '2-digit' }),
      ]`),
    ).toEqual(['January 1970', 'Jan 1970', 'January 1, 1970', '01/1970'])
  })

  it('prints dates as 2026-01-31 in the locales en-CA and sv-SE, and pads numbers', async () => {
    expect(
      await value(`const at = new Date(1750031940000), timeZone = 'Europe/Berlin'
      return [
        at.toLocaleDateString('en-CA', { timeZone }), at.toLocaleDateString(['sv-SE'], { timeZone }), at.toLocaleString('sv-SE', { timeZone }),
        new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at),
        at.toLocaleDateString('en-CA', { month: 'long', day: 'numeric' }),
        (7).toLocaleString('en-US', { minimumIntegerDigits: 2 }), (7).toLocaleString('en-US', { minimumIntegerDigits: 5, minimumFractionDigits: 1 })
      ]`),
    ).toEqual(['2025-06-16', '2025-06-16', '2025-06-16 01:59:00', '2025-06-16', 'June 15', '07', '00,007.0'])
  })

  it('prints dates in a style, and may use the formats of Intl without `new`', async () => {
    const styled = ['short', 'medium', 'long', 'full'].map(
      style =>
        `new Date(1750031940000).toLocaleString('en-US', { timeZone: 'Europe/Berlin', dateStyle: '${style}', timeStyle: '${style === 'full' ? 'short' : style}' })`,
    )
    expect(await value(`return [${styled}]`)).toEqual([
      '6/16/25, 1:59 AM',
      'Jun 16, 2025, 1:59:00 AM',
      'June 16, 2025 at 1:59:00 AM',
      'Monday, June 16, 2025 at 1:59 AM',
    ])
    expect(
      await value(
        `const format = Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
        return [format.format(1234.5), Intl.DateTimeFormat('en-US').format(0), format instanceof Intl.NumberFormat, Intl.DateTimeFormat.name, new Date(0).toLocaleDateString('en-US', { dateStyle: 'constructor' })]`,
      ),
    ).toEqual(['$1,234.50', '1/1/1970', true, 'DateTimeFormat', '1/1/1970'])
  })

  it('has no network, timers or environment, and cannot make code from text', async () => {
    const names = [
      'fetch',
      'setTimeout',
      'crypto',
      'process',
      'caches',
      'WebSocket',
      'WebAssembly',
      'performance',
      'navigator',
      'SharedArrayBuffer',
      'WeakRef',
      'Buffer',
      'Cloudflare',
    ]
    expect(await value(`return ${JSON.stringify(names)}.map(name => typeof global[name])`)).toEqual(
      names.map(() => 'undefined'),
    )
    for (const attempt of [
      'eval("1")',
      'new Function("return 1")()',
      '(() => {}).constructor("return 1")()',
      '(async () => {}).constructor("return 1")()',
      '(0, eval)("1")',
    ])
      expect((await outcomeOf(runner, `return ${attempt}`)).failure?.reason).toBe(
        'EvalError: a plugin cannot create code from text',
      )
    expect((await outcomeOf(runner, 'return fetch("http://example.com")')).failure).toEqual({
      reason: expect.stringMatching(/^ReferenceError: fetch is not defined: plugins have no network; /),
      at: 'main/rater.js:2',
    })
    expect((await outcomeOf(runner, 'return import("cloudflare:workers")')).failure).toEqual({
      reason: 'SyntaxError: import() and import.meta are not available in plugins',
      at: 'main/rater.js:2',
    })
  })

  it('logs in order, up to 1,000 lines', async () => {
    const { logs } = await outcomeOf(
      runner,
      'console.log("a", 1, { b: [2] }, null, undefined, new Error("no")); console.warn("w"); console.error(3n); return 1',
    )
    expect(logs).toEqual([
      { level: 'info', text: 'a 1 {"b":[2]} null undefined Error: no' },
      { level: 'warn', text: 'w' },
      { level: 'error', text: '3' },
    ])
    const many = await outcomeOf(runner, 'for (let n = 0; n < 5000; n++) console.log(n); return 1')
    expect(many.logs).toHaveLength(1_001)
    expect(many.logs.at(-1)?.text).toContain('full')
  })

  it('has a complete console, of which only calls with content are logged', async () => {
    const { logs, failure } = await outcomeOf(
      runner,
      'console.group("rates"); console.time("t"); console.assert(1 === 1, "so"); console.assert(1 === 2, "sum", { a: 1 }); console.table([1]); console.dir({ b: 2 }); console.timeEnd("t"); console.groupEnd(); console.clear(); return 1',
    )
    expect(failure).toBeUndefined()
    expect(logs).toEqual([
      { level: 'info', text: 'rates' },
      { level: 'error', text: 'Assertion failed sum {"a":1}' },
      { level: 'info', text: '[1]' },
      { level: 'info', text: '{"b":2}' },
    ])
  })

  it('looks up tables as text, and gets empty text for a missing row or table', async () => {
    const program = programOf(
      {
        'main/rater.js':
          "exports.getPerilRates = () => ['car', 'none', 'twice'].map(key => socotraApi.tableLookup(0, 'rates', key)).concat(socotraApi.tableLookup(0, 'unknown', 'car'), socotraApi.tableLookup(0, 'constructor', 'x'), socotraApi.tableLookup(0, 'rates', 'car', 'value'), socotraApi.tableLookup(0, 'rates', ['twice'], 'value'), socotraApi.tableLookup(0, 'rates', 'car', 'rate'))",
      },
      {
        rates: table('rates', [
          ['car', '1.5'],
          ['twice', 'first'],
          ['twice', 'second'],
        ]),
      },
    )
    expect(await runner.run(program, callOf())).toMatchObject({
      value: ['1.5', '', 'first', '', '', '1.5', 'first', ''],
    })
  })

  it('looks up tables as of a time, even if an older script gives it in the place of the column', async () => {
    const asked = (times: string) =>
      `return [${times}].map(time => socotraApi.tableLookup(0, 'rates', 'car', ...time))`
    const rates = { rates: table('rates', [['car', '1.5']]) }
    const outcome = async (body: string, more = {}) =>
      await runner.run(
        programOf({ 'main/rater.js': `exports.getPerilRates = () => { ${body} }` }, rates),
        callOf(more),
      )
    const now =
      '[1798758000000], ["1798758000000"], [new Date(1798758000000)], [null], [undefined, 1798758000000], [null, null]'
    expect(await outcome(asked(now))).toMatchObject({ value: Array(6).fill('1.5') })
    // A column is still a column.
    expect(await outcome(asked('["value"], [2027], ["2027"]'))).toMatchObject({ value: ['1.5', '', ''] })
    const dated = await outcome(asked('[1798758000000]'), { datedTables: ['rates'] })
    expect(dated.missing).toEqual([{ kind: 'row', table: 'rates', key: 'car\u001d1798758000000' }])
    const both = await outcome(asked('["rate", "1798758000000"]'), { datedTables: ['rates'] })
    expect(both.missing).toEqual([{ kind: 'row', table: 'rates', key: 'car\u001erate\u001d1798758000000' }])
    // Without a time, the table of the transaction is used, which is that of the program.
    expect(await outcome(asked('[]'), { datedTables: ['rates'] })).toMatchObject({ value: ['1.5'] })
    expect((await outcome(asked('["rate", "today"]'))).failure?.reason).toBe(
      'TypeError: the time of a look-up is today, but must be in milliseconds',
    )
  })

  it('stops for missing data even if the script catches this, and continues in the next round', async () => {
    const body =
      'let a; try { a = socotraApi.getAuxData("x", "k") } catch (e) { a = "caught" } try { socotraApi.fetchByLocator(Policy, "1") } catch (e) {} console.log("ran"); return a + socotraApi.getAuxData("all", "absent")'
    const stopped = await outcomeOf(runner, body)
    expect(stopped.missing).toEqual([{ kind: 'aux', locator: 'x', key: 'k' }])
    expect(stopped.value).toBeUndefined()
    expect(stopped.failure?.reason ?? '').not.toContain('Error')
    const known = {
      ...nothingKnown(),
      aux: [['x', 'k', 'value']] as const,
      auxLocators: ['all'],
      entities: [['Policy', '1', { locator: '1' }]] as const,
    }
    expect(await outcomeOf(runner, body, { known: known as never })).toMatchObject({
      value: 'value',
      missing: [],
      logs: [{ text: 'ran' }],
    })
  })

  it('that gathers continues without missing data, requests it once, and no secret after other data', async () => {
    const body = `const seen = []
for (const key of ['a', 'b', 'a']) seen.push(socotraApi.tableLookup(0, 'rates', key))
seen.push(socotraApi.getAuxData('x', 'k'), socotraApi.rangeLookup('ages', [], seen[0]).factor, socotraApi.fetchByLocator(Policy, '1'))
console.log(JSON.stringify(seen))
try { socotraApi.getSecret('partner', 'key') } catch (e) {}
socotraApi.tableLookup(0, 'rates', 'after')
return seen`
    const gathering = await outcomeOf(runner, body, { resourceTables: ['rates'], gathers: true })
    expect(gathering.missing).toEqual([
      { kind: 'row', table: 'rates', key: 'a' },
      { kind: 'row', table: 'rates', key: 'b' },
      { kind: 'aux', locator: 'x', key: 'k' },
      {
        kind: 'range',
        table: 'ages',
        wanted: '{"keys":[],"bound":"","operation":"record","columns":{}}',
      },
      { kind: 'entity', entity: 'Policy', locator: '1' },
    ])
    const strict = await outcomeOf(runner, body, { resourceTables: ['rates'] })
    expect(strict.missing).toEqual(gathering.missing.slice(0, 1))
    const secretFirst = await outcomeOf(runner, `socotraApi.getSecret('partner', 'key'); return 1`, {
      gathers: true,
    })
    expect(secretFirst.missing).toEqual([{ kind: 'secret', staticName: 'partner', item: 'key' }])
    const endless = await outcomeOf(
      runner,
      `let n = 0; while (socotraApi.getAuxData('x' + n, 'k') === '') n += 1; return n`,
      { gathers: true },
    )
    expect(endless.missing).toHaveLength(1_000)
    const records = `for (let n = 0; ; n += 1) socotraApi.fetchByLocator(Policy, n)`
    expect((await outcomeOf(runner, records, { gathers: true })).missing).toHaveLength(50)
  })

  it('reads its own writes, and returns its writes and events', async () => {
    const outcome = await outcomeOf(
      runner,
      'socotraApi.setAuxData("x", "k", 12, "hidden"); socotraApi.createCustomEvent("custom.rate.done", { a: 1, b: "t" }); return socotraApi.getAuxData("x", "k")',
    )
    expect(outcome).toMatchObject({
      value: '12',
      writes: [{ locator: 'x', key: 'k', value: '12', uiType: 'hidden' }],
      events: [{ type: 'custom.rate.done', data: { a: '1', b: 't' } }],
    })
    for (const wrong of [
      'setAuxData("x", "k", "v", "loud")',
      'setAuxData("", "k", "v")',
      'setAuxData("x", "k", "v".repeat(100001))',
      'setAuxData("x", "k", { a: 1 })',
      'setAuxData("x", { k: 1 })',
      'createCustomEvent("policy.issue", {})',
      'createCustomEvent("custom.a", 1)',
      'fetchByLocator("Nothing", "1")',
    ])
      expect((await outcomeOf(runner, `socotraApi.${wrong}; return 1`)).failure).toEqual({
        reason: expect.stringMatching(/^(Type|Range)Error: /),
        at: 'main/rater.js:2',
      })
  })

  it('omits null and undefined from the data of an event', async () => {
    const source =
      'socotraApi.createCustomEvent("custom.rated", { by: data.endorsementLocator, no: null, empty: "", zero: 0, of: { a: null } }); return 1'
    const { events } = await outcomeOf(runner, source)
    expect(events).toEqual([{ type: 'custom.rated', data: { empty: '', zero: '0', of: '{"a":null}' } }])
  })

  it('makes at most 1,000 writes and events, with at most 2,097,152 characters', async () => {
    const many = await outcomeOf(
      runner,
      'for (let n = 0; n < 1001; n++) socotraApi.setAuxData("x", "k" + n, n); return 1',
    )
    expect(many.failure?.reason).toBe('RangeError: a call can make at most 1000 writes and events')
    const much = await outcomeOf(
      runner,
      'for (let n = 0; n < 30; n++) socotraApi.setAuxData("x", "k" + n, "v".repeat(100000)); return 1',
    )
    expect(much.failure?.reason).toBe('RangeError: a call can write at most 2097152 characters')
  })

  it('reports a failure with the file and line of the tenant, and the reason', async () => {
    const program = programOf({
      'main/rater.js':
        "const lib = require('../lib/money.js')\n\nexports.getPerilRates = data => lib.cents(data.missing.value)\nexports.deep = () => lib.cents(undefined)\nexports.text = () => { throw 'no rate' }\nexports.late = async () => { await null; throw new RangeError('late') }\nexports.notThere = 5",
      'lib/money.js': '// money\nexports.cents = n => {\n  return n.value * 100\n}',
      'main/broken.js': 'exports.a = 1\n\nvar = 2',
      'main/lost.js': "\nrequire('./nowhere.js')",
    })
    const fails = async (name: string, path = 'main/rater.js') =>
      (await runner.run(program, callOf({ function: name, path }))).failure
    expect(await fails('getPerilRates')).toMatchObject({
      at: 'main/rater.js:3',
      reason: expect.stringContaining('TypeError'),
    })
    expect(await fails('deep')).toMatchObject({
      at: 'lib/money.js:3',
      reason: expect.stringContaining('TypeError'),
    })
    expect(await fails('text')).toEqual({ at: 'main/rater.js', reason: 'threw no rate' })
    expect(await fails('late')).toEqual({ at: 'main/rater.js:6', reason: 'RangeError: late' })
    expect(await fails('notThere')).toMatchObject({
      at: 'main/rater.js',
      reason: expect.stringContaining('exports no function notThere'),
    })
    expect(await fails('x', 'main/broken.js')).toEqual({
      at: 'main/broken.js:3',
      reason: 'SyntaxError: Unexpected token',
    })
    expect(await fails('x', 'main/lost.js')).toEqual({
      at: 'main/lost.js:2',
      reason: "Error: cannot find './nowhere.js', which main/lost.js requires; it is not under scripts/",
    })
  })

  it('runs without a package that a script requires and never uses', async () => {
    const program = programOf({
      'main/rater.js': `"use strict"; let money = require('money'), parse = require('csv-parse'), read = require("read")
const { each } = require('money')
exports.rate = () => [money.rate, each]
exports.place = () => { throw new Error('here') }`,
      'main/used.js': "const parse = require('csv-parse')\nexports.rate = () => parse.all",
      'lib/money.js': 'exports.rate = 7\nexports.each = 8',
    })
    const run = async (name: string, path = 'main/rater.js') =>
      await runner.run(program, callOf({ function: name, path }))
    expect(await run('rate')).toMatchObject({ value: [7, 8] })
    expect((await run('place')).failure).toEqual({ at: 'main/rater.js:4', reason: 'Error: here' })
    expect((await run('rate', 'main/used.js')).failure).toEqual({
      at: 'main/used.js:1',
      reason: "Error: cannot find 'csv-parse', which main/used.js requires; it is not under scripts/",
    })
  })

  it('runs without a package whose names occur only as names of properties, in comments or in texts', async () => {
    const program = programOf({
      'main/rater.js': `const parse = require('csv-parse') // csv-parse: parse
const { DateTime, Interval: Span, ...others } = require('luxon')
const sum = require('lodash').sum
exports.rate = () => [JSON.parse('{"sum":7}').sum, { DateTime: 8 }.DateTime, 'Span others']`,
      'main/module.js': `import moment, { utc as inUtc } from 'moment'
import * as _ from 'lodash'
export const rate = () => ({ moment: 1 }).moment`,
      'main/used.js': `const { DateTime } = require('luxon')
exports.rate = () => DateTime.now()`,
      'main/imported.js': "import moment from 'moment'\nexport const rate = () => moment()",
    })
    const run = async (path: string) => await runner.run(program, callOf({ function: 'rate', path }))
    expect(await run('main/rater.js')).toMatchObject({ value: [7, 8, 'Span others'] })
    expect(await run('main/module.js')).toMatchObject({ value: 1 })
    for (const path of ['main/used.js', 'main/imported.js'])
      expect((await run(path)).failure?.reason).toContain('it is not under scripts/')
  })

  it("reports where an error of the tenant's own class was thrown, not where the class creates it", async () => {
    const program = programOf({
      'main/rater.js': `const { RatingError, Refusal, Plain } = require('../lib/errors.js')
exports.ofClass = () => {
  throw new RatingError('no rate')
}
exports.ofChild = () => [1].map(() => {
  throw new Refusal('refused')
})
exports.ofPlain = () => {
  throw new Plain('plain')
}
exports.ofClassItself = () => {
  throw new (class Own extends Error { constructor() { super('own'); null.x } })()
}`,
      'lib/errors.js': `class RatingError extends Error {
  constructor(message) {
    super(message)
    this.name = 'RatingError'
    Error.captureStackTrace(this, RatingError)
  }
}
class Refusal extends RatingError {}
function Plain(message) {
  this.name = 'Plain'
  this.message = message
  this.stack = new Error().stack
}
Plain.prototype = Object.create(Error.prototype, { constructor: { value: Plain } })
module.exports = { RatingError, Refusal, Plain }`,
    })
    const fails = async (name: string) =>
      (await runner.run(program, callOf({ function: name, path: 'main/rater.js' }))).failure
    expect(await fails('ofClass')).toEqual({ at: 'main/rater.js:3', reason: 'RatingError: no rate' })
    expect(await fails('ofChild')).toEqual({ at: 'main/rater.js:6', reason: 'RatingError: refused' })
    expect(await fails('ofPlain')).toEqual({ at: 'main/rater.js:9', reason: 'Plain: plain' })
    expect(await fails('ofClassItself')).toMatchObject({ at: 'main/rater.js:12' })
  })

  it('may return nothing from functions with an optional answer, and from no others', async () => {
    const program = programOf({
      'main/all.js': `for (const name of ${JSON.stringify(PLUGIN_FUNCTIONS)}) exports[name] = () => { if (name === '') return 1 }`,
    })
    const said: Record<string, unknown> = {}
    for (const name of PLUGIN_FUNCTIONS) {
      const outcome = await runner.run(program, callOf({ function: name, path: 'main/all.js' }))
      said[name] = outcome.failure?.reason ?? outcome.value
    }
    expect(said).toEqual({
      getPerilRates: 'returned nothing',
      getUnderwritingResult: 'returned nothing',
      getProrationResult: 'returned nothing',
      createInstallments: 'returned nothing',
      getPreGraceResult: null,
      getPostPaymentReversal: null,
      getPostIssuanceResult: null,
      getDataAutofill: null,
      executeLambda: null,
    })
  })

  it('fails if it returns cyclic data, nothing, a promise that never settles or 5 MiB of text', async () => {
    expect((await outcomeOf(runner, 'const a = {}; a.a = a; return a')).failure?.reason).toContain(
      'returned a value that is not JSON',
    )
    expect((await outcomeOf(runner, '')).failure?.reason).toBe('returned nothing')
    expect((await outcomeOf(runner, 'return new Promise(() => {})')).failure?.reason).toBe(
      'returned a promise that never settles',
    )
    expect(await value('return [NaN, Infinity, 12n]')).toEqual(['NaN', 'Infinity', '12'])
    const long = await outcomeOf(runner, 'return "x".repeat(5 * 1024 * 1024)')
    expect(long.failure).toMatchObject({ limit: true, reason: expect.stringContaining('characters') })
  })

  it('is stopped at endless recursion', async () => {
    const { failure } = await outcomeOf(runner, 'const f = n => f(n + 1) + 1; return f(0)')
    expect(failure?.reason).toBe('calls itself too deeply (endless recursion?)')
  })

  it('leaves no trace for the next call in globals, built-in objects and inputs', async () => {
    const program = programOf({
      'main/rater.js': `let calls = 0
exports.getPerilRates = data => {
  calls += 1
  const seen = [calls, typeof leaked, ({}).polluted, [].map === Array.prototype.map, JSON.stringify({ a: 1 }), data.__proto__ === Object.prototype, Math.max(1, 2), typeof Date.now()]
  leaked = 1
  global.other = 2
  Object.prototype.polluted = 'yes'
  data.__proto__.deeper = 1
  Array.prototype.map = () => 'mine'
  JSON.stringify = () => 'stolen'
  Math.max = () => 9
  Object.prototype.toJSON = () => 'taken'
  socotraApi.tableLookup = () => '9'
  delete global.Date
  return seen
}`,
    })
    const first = await runner.run(program, callOf())
    const expected = [1, 'undefined', null, true, '{"a":1}', true, 2, 'number']
    expect(first).toMatchObject({ missing: [], logs: [] })
    const second = await runner.run(program, callOf())
    const third = await runner.run(program, callOf())
    expect(second).toEqual(first)
    expect(third).toEqual(first)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(first.value === 'taken' || JSON.stringify(first.value) === JSON.stringify(expected)).toBe(true)
  })

  it('receives inputs as plain data of its own call, which it may change', async () => {
    const vehicles = Array.from({ length: 40 }, (_, at) => ({
      locator: `vehicle-${at}`,
      name: 'vehicle',
      fieldValues: at % 2 === 0 ? { usage: ['private'] } : { usage: ['private'], '1': ['x'] },
      perils: [{ name: 'glass', deductible: '0.00', characteristics: [] }],
    }))
    const given = { policy: { vehicles, none: null, is: true }, operation: 'new_business' }
    const program = programOf({
      'main/rater.js': `exports.getPerilRates = data => {
  const { vehicles } = data.policy
  const [first, second] = vehicles
  const before = JSON.stringify(data)
  const seen = {
    names: Object.keys(first), entries: Object.entries(second.fieldValues), own: Object.hasOwn(first, 'perils') && 'locator' in first,
    lists: Array.isArray(vehicles) && Array.isArray(first.fieldValues.usage) && vehicles.length,
    descriptor: Object.getOwnPropertyDescriptor(first, 'name'), spread: JSON.stringify({ ...first, name: 'other' }),
    looped: (() => { const all = []; for (const name in first) all.push(name); return all })(),
    prototypes: [first, vehicles, second.fieldValues].map(one => Object.getPrototypeOf(one) === (Array.isArray(one) ? Array : Object).prototype),
  }
  first.name = 'changed'
  first.perils[0].deductible = '1.00'
  first.fieldValues.usage.push('rented')
  delete second.locator
  second.added = 1
  Object.freeze(vehicles[2])
  vehicles[2].name = 'frozen'
  vehicles.length = 4
  vehicles.unshift({ name: 'new' })
  return { before, seen, after: vehicles }
}`,
    })
    const [, second, third, fourth] = vehicles
    const { locator: _, ...rest } = second!
    const expected = {
      before: JSON.stringify(given),
      seen: {
        names: ['locator', 'name', 'fieldValues', 'perils'],
        entries: [
          ['1', ['x']],
          ['usage', ['private']],
        ],
        own: true,
        lists: 40,
        descriptor: { value: 'vehicle', writable: true, enumerable: true, configurable: true },
        spread: JSON.stringify({ ...vehicles[0], name: 'other' }),
        looped: ['locator', 'name', 'fieldValues', 'perils'],
        prototypes: [true, true, true],
      },
      after: [
        { name: 'new' },
        {
          ...vehicles[0],
          name: 'changed',
          fieldValues: { usage: ['private', 'rented'] },
          perils: [{ ...vehicles[0]!.perils[0], deductible: '1.00' }],
        },
        { ...rest, added: 1 },
        third,
        fourth,
      ],
    }
    // Again, as when a call is stopped to fetch something: it finds the same inputs as at first.
    for (let round = 0; round < 3; round += 1)
      expect((await runner.run(program, callOf({ arguments: [given] }))).value).toEqual(expected)
  })

  it('receives unchanged inputs after an earlier call changed the language', async () => {
    const program = programOf({
      'main/rater.js': `exports.getPerilRates = data => {
  const seen = JSON.stringify(data)
  for (const name of ['name', 'list', '0'])
    Object.defineProperty(Object.prototype, name, { configurable: true, get() { return 'taken' }, set() {} })
  Object.defineProperty(Array.prototype, '0', { configurable: true, get() { return 'taken' }, set() {} })
  Array.prototype.push = String.prototype.slice = () => 'mine'
  Array.prototype[Symbol.iterator] = function* () { yield 'mine' }
  JSON.parse = () => ({ stolen: true })
  Object.prototype.get = Object.prototype.set = () => 'taken'
  return seen
}`,
    })
    const given = [{ list: [{ name: 'a' }, { name: 'b', more: ['c'] }] }]
    for (let round = 0; round < 3; round += 1)
      expect((await runner.run(program, callOf({ arguments: given }))).value).toBe(JSON.stringify(given[0]))
  })

  it('finds the same zones and tables after an earlier call changed how they are looked up', async () => {
    const program = programOf(
      {
        'main/rater.js': `exports.getPerilRates = ({ harm }) => {
  if (harm) {
    Map.prototype.get = function () { this.clear(); return 'mine' }
    Map.prototype.set = Map.prototype.has = () => 'mine'
    Number = () => 0
    Object.defineProperty(Object.prototype, 'year', { configurable: true, set() {} })
    Array.prototype[Symbol.iterator] = function* () {}
  }
  const seen = []
  try { seen[0] = new Intl.DateTimeFormat('en', { timeZone: 'Asia/Kolkata', hour: 'numeric', hourCycle: 'h23' }).format(0) } catch (e) {}
  try { seen[1] = socotraApi.tableLookup(0, 'rates', 'car') } catch (e) {}
  return harm ? 'done' : seen
}`,
      },
      { rates: table('rates', [['car', '1.5']]) },
    )
    const run = async (harm: boolean) => (await runner.run(program, callOf({ arguments: [{ harm }] }))).value
    expect([await run(true), await run(false), await run(true), await run(false)]).toEqual([
      'done',
      ['05', '1.5'],
      'done',
      ['05', '1.5'],
    ])
  })

  it('has its answer written once, as by JSON.stringify, so that each getter and toJSON is read once', async () => {
    const told = `let read = 0
const told = { toJSON() { read += 1; console.log('written'); socotraApi.setAuxData('x', 'k', read); return read } }
const got = { get rate() { read += 1; return read } }`
    for (const [beside, others] of [
      ['rate: 1.5', { rate: 1.5 }],
      ['none: null, not: undefined', { none: null }],
      ['rate: 12n, bad: [-Infinity]', { rate: '12', bad: ['-Infinity'] }],
    ] as const)
      expect(await outcomeOf(runner, `${told}; return { told, got, ${beside} }`)).toMatchObject({
        value: { told: 1, got: { rate: 2 }, ...others },
        logs: [{ text: 'written' }],
        writes: [{ key: 'k', value: '1' }],
      })
    expect(await value('return ["null", { "null": 1 }]')).toEqual(['null', { null: 1 }])
    expect(
      await value('BigInt.prototype.toJSON = function () { return Number(this) }; return { rate: 12n }'),
    ).toEqual({ rate: 12 })
  })

  it('keeps what it stops for, and what it writes, even if it changes lists and promises', async () => {
    const harm = `for (const at of ['0', '1'])
  Object.defineProperty(Array.prototype, at, { configurable: true, get() { return undefined }, set() {} })
Promise.prototype.then = function (done) { done({ made: '"forged"' }) }
Promise.prototype.constructor = function (start) { start(() => {}, () => {}); return { then: done => done('forged') } }`
    const stopped = await outcomeOf(
      runner,
      `${harm}\ntry { socotraApi.getAuxData('x', 'k') } catch (e) {}\nreturn 'went on'`,
    )
    expect(stopped.missing).toEqual([{ kind: 'aux', locator: 'x', key: 'k' }])
    const ofRow = await outcomeOf(
      runner,
      `Set.prototype.has = () => true\ntry { socotraApi.tableLookup(0, 'rates', 'a') } catch (e) {}\nreturn 'went on'`,
    )
    expect(ofRow.missing).toEqual([{ kind: 'row', table: 'rates', key: 'a' }])
    expect(
      await outcomeOf(
        runner,
        `${harm}\nsocotraApi.setAuxData('x', 'k', 'v'); console.log('said'); socotraApi.createCustomEvent('custom.a', {}); return 'done'`,
      ),
    ).toMatchObject({
      value: 'done',
      writes: [{ locator: 'x', key: 'k', value: 'v' }],
      logs: [{ text: 'said' }],
      events: [{ type: 'custom.a' }],
    })
  })

  it('writes only text, and fails if it forges an outcome', async () => {
    const made =
      'String = () => ({ length: 1, toJSON: () => 7 }); socotraApi.setAuxData("x", "k", "v"); return 1'
    expect((await outcomeOf(runner, made)).writes).toEqual([{ locator: 'x', key: 'k', value: 'v' }])
    for (const harm of [
      'RegExp.prototype.test = () => true; socotraApi.createCustomEvent("policy.issue", {})',
      'Object.fromEntries = () => ({ a: { b: 1 } }); socotraApi.createCustomEvent("custom.a", {})',
    ])
      expect((await outcomeOf(runner, `${harm}; return 1`)).failure?.reason).toBe(
        'the script broke the sandbox',
      )
  })

  it('keeps concurrent calls apart', async () => {
    const program = programOf({
      'main/rater.js':
        'exports.getPerilRates = async data => { console.log(data.n); for (let i = 0; i < 50; i++) await null; socotraApi.setAuxData("x", "k", data.n); return [data.n, Date.now()] }',
    })
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, n) => runner.run(program, callOf({ arguments: [{ n }], now: NOW + n }))),
    )
    for (const [n, outcome] of outcomes.entries())
      expect(outcome).toMatchObject({
        value: [n, NOW + n],
        logs: [{ text: String(n) }],
        writes: [{ value: String(n) }],
      })
  })
})

/** Describes everything that a script can see of a value. */
const TOLD = `const told = one =>
  one === null ? 'null'
  : Array.isArray(one) ? '[' + one.map(told).join() + ']'
  : typeof one === 'object' ? '{' + Reflect.ownKeys(one).map(key => JSON.stringify(key) + (Object.getPrototypeOf(one) === Object.prototype) + told(Object.getOwnPropertyDescriptor(one, key).value)).join() + '}'
  : typeof one === 'string' ? Array.from({ length: one.length }, (_, at) => one.charCodeAt(at)).join(' ')
  : typeof one + (Object.is(one, -0) ? '-0' : one)
return { told: told(data), json: JSON.stringify(data), back: data, polluted: ({}).polluted }`

it('a script receives the same in both sandboxes, and what JSON would make of it', async () => {
  const shared = { list: ['x'], deep: { of: 'y' } }
  const odd: unknown[] = [
    [
      '',
      '\u0000',
      '🚗',
      '\ud800',
      '\udc00',
      '\ud83d',
      '\ude00',
      'é',
      'e\u0301',
      '\u2028',
      '"\\/\n',
      '\ufeffb',
      '漢字',
    ],
    [
      -0,
      0,
      1e21,
      1e-7,
      Number.MAX_SAFE_INTEGER,
      5e-324,
      Number.MAX_VALUE,
      Number.NaN,
      Number.POSITIVE_INFINITY,
    ],
    ['123456789012345678901234567890.000000000000000001', '-0', '1e400'],
    [[], [[]], {}, [{}], null, [null], [undefined, undefined], { a: undefined, b: null }, { b: null, a: 1 }],
    JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"x":1}},"toJSON":"text","valueOf":null,"hasOwnProperty":false,"length":5,"then":"x","10":"ten","2":"two","-1":"m","":"empty"}',
    ),
    [
      { toJSON: null, x: 1 },
      { toJSON: 2, x: 1 },
      { x: 1, toJSON: '3' },
    ],
    { a: shared, b: shared, list: [shared, shared] },
    [{ x: true }, { x: false }, { x: null }, { x: '' }, { x: 0 }, { x: [] }, { x: {} }, { x: '0' }],
  ]
  const exposures = Array.from({ length: 2_000 }, (_, at) => ({
    locator: `vehicle-${at}`,
    name: at % 3 === 0 ? '🚗' : 'vehicle',
    fieldValues: { usage: [String(at)], [`field_${at % 40}`]: at % 7 === 0 ? ['\ud800'] : [] },
    perils: Array.from({ length: at % 4 }, (_, of) => ({
      locator: `${at}-${of}`,
      from: at % 5 ? '1' : null,
      of,
    })),
  }))
  for (const given of [...odd, odd, { policy: { exposures }, again: exposures }, 'text', null, true, []]) {
    const [first, second] = await Promise.all(
      RUNNERS.map(([, runner]) => outcomeOf(runner, TOLD, { arguments: [given] })),
    )
    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
    expect(first!.value).toMatchObject({ json: JSON.stringify(given) })
    expect(first!.value).not.toHaveProperty('polluted')
  }
})
