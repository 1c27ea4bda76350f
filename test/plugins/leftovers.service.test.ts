// What a call leaves behind in the isolate of its tenant: nothing that the next one could see, or that could change its rates.
import { describe, expect, it } from 'vitest'
import { callOf, programOf, RUNNERS, table } from './programs.ts'

/** Rates with everything that the language and the sandbox offer. `harm` first leaves its mark. */
const rater = (harm: string) => `exports.getPerilRates = data => {
  const self = arguments.callee
  if (data.harm) { (function () { ${harm} })(); return 'harmed' }
  const list = []
  for (const one of [1, 2, 3]) list.push(one)
  for (const [key, value] of new Map([['a', 1]])) list.push(key + value)
  for (const one of new Set([5])) list.push(one)
  for (const one of 'xy') list.push(one)
  for (const one of (function* () { yield 7 })()) list.push(one)
  return {
    list, most: Math.max(1, 2), texts: [1, 2].map(String).join(), matched: [...'a1b2'.matchAll(/[0-9]/g)].length,
    rate: socotraApi.tableLookup(0, 'rates', 'car') * 2, part: require('./part.js').factor,
    printed: new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' }).format(1.5),
    time: new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', hour: 'numeric', hourCycle: 'h23' }).format(1750000000000),
    typed: [...new Uint8Array([1, 2])], left: [self.left, typeof left, ({}).left, [].map.left, RegExp.$1],
    own: Object.getOwnPropertyNames(globalThis).length, names: Object.keys({ a: 1 }), looped: (() => { const all = []; for (const name in []) all.push(name); return all })(),
  }
}`

const programWith = (harm: string) =>
  programOf(
    { 'main/rater.js': rater(harm), 'main/part.js': 'exports.factor = 1.25' },
    { rates: table('rates', [['car', '1.5']]) },
  )

const CLEAN = {
  list: [1, 2, 3, 'a1', 5, 'x', 'y', 7],
  most: 2,
  texts: '1,2',
  matched: 2,
  rate: 3,
  part: 1.25,
  printed: '$1.50',
  time: '17',
  typed: [1, 2],
  left: [null, 'undefined', null, null, null],
  names: ['a'],
  looped: [],
}

/** Changes that a script cannot undo, but that can be undone after it. */
const MARKS: [what: string, harm: string][] = [
  [
    'methods that a library adds and says to be lasting',
    'Object.defineProperty(Array.prototype, "left", { value: function () { return this.length } }); if ([1, 2].left() !== 2) throw "not added"; Object.defineProperties(String.prototype, { left: { get: () => 1 }, of: { value: 2, enumerable: true } }); if ("".left + "".of !== 3) throw "not added"',
  ],
  [
    'a method that is replaced for good',
    'Object.defineProperty(Math, "max", { value: () => 9, configurable: false, writable: false })',
  ],
  ['a global', 'Reflect.defineProperty(globalThis, "left", { value: 9 })'],
  [
    'what a script is given',
    'Object.defineProperty(globalThis, "socotraApi", { value: { tableLookup: () => "99" }, configurable: false, writable: false })',
  ],
  ['how JSON is written', 'Object.defineProperty(Array.prototype, "toJSON", { value: () => ["forged"] })'],
  [
    'how properties are defined',
    'Object.defineProperty = Reflect.defineProperty = WeakSet.prototype.has = () => { throw "mine" }',
  ],
  ['iterators', 'Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true })'],
  ['iterators of maps', 'Object.getPrototypeOf(new Map().entries()).next = () => ({ done: true })'],
  ['generators', 'Object.getPrototypeOf(function* () {}).prototype.next = () => ({ done: true })'],
  ['iterators of matches', 'Object.getPrototypeOf("a".matchAll(/a/g)).next = () => ({ done: true })'],
  [
    'formats of numbers',
    'Intl.NumberFormat.prototype.resolvedOptions = Intl.DateTimeFormat.prototype.formatToParts = () => [{ value: "mine" }]',
  ],
  ['typed arrays', 'Object.getPrototypeOf(Uint8Array).prototype[Symbol.iterator] = function* () {}'],
  [
    'prototypes',
    'Object.setPrototypeOf(Array.prototype, { left: 1 }); Object.setPrototypeOf(globalThis, { left: 1 })',
  ],
  ['what can be walked', 'Object.defineProperty(Array.prototype, "map", { enumerable: true })'],
  ['its own script', 'self.left = 1; self.prototype.left = 2'],
  ['what was matched last', '/(a)/.exec("a")'],
  [
    'the table of scripts',
    'const { get } = Map.prototype; Map.prototype.get = function (key) { if (key === "main/part.js") for (const [path] of this) this.set(path, (e, r, m) => { m.exports = { factor: 99 } }); return Reflect.apply(get, this, [key]) }; require("./part.js")',
  ],
  [
    'the list of scripts',
    'const { has } = Map.prototype; Map.prototype.has = function (key) { const found = Reflect.apply(has, this, [key]); this.clear(); return found }; require("./part.js")',
  ],
  [
    'rows of a table while they are read',
    'const { set } = Map.prototype; Map.prototype.set = function (key, value) { return Reflect.apply(set, this, [key, value + "9"]) }; socotraApi.tableLookup(0, "rates", "car")',
  ],
  ['how rows are kept', 'Map = class { get() { return "99" } }; socotraApi.tableLookup(0, "rates", "car")'],
  [
    'what zones are called',
    'let asked = 0; new Intl.DateTimeFormat("en", { timeZone: { toString: () => (asked++ === 1 ? "Asia/Kolkata" : "Europe/Berlin") } })',
  ],
  [
    'offsets of zones',
    'Math.floor = () => ({ toString: () => "1750000000", valueOf: () => 1e9 }); new Intl.DateTimeFormat("en", { timeZone: "Europe/Berlin" }).format(1)',
  ],
]

/** Changes that cannot be undone. */
const FOR_GOOD: [what: string, harm: string, named: string][] = [
  ['a frozen prototype', 'Object.freeze(Array.prototype)', 'Array.prototype'],
  ['a sealed one', 'Object.seal(String.prototype)', 'String.prototype'],
  ['one that takes nothing more', 'Object.preventExtensions(Math)', 'Math'],
]

describe.each(RUNNERS)('what a call leaves behind under %s', (_name, runner) => {
  const run = (program: ReturnType<typeof programWith>, harm: boolean) =>
    runner.run(program, callOf({ arguments: [{ harm }] }))

  it.each(MARKS)('does not affect the next call: %s', async (_what, harm) => {
    const program = programWith(harm)
    await run(program, true)
    const first = await run(program, false)
    expect(first.failure).toBeUndefined()
    expect(first.value).toMatchObject(CLEAN)
    await run(program, true)
    expect(await run(program, false)).toEqual(first)
  })
})

describe.each(RUNNERS)('a call that changes the language irreversibly under %s', (_name, runner) => {
  it.each(FOR_GOOD)('is rejected, and does not affect the next call: %s', async (_what, harm, named) => {
    const program = programWith(harm)
    const clean = await runner.run(program, callOf({ arguments: [{}] }))
    expect(clean.value).toMatchObject(CLEAN)
    for (let round = 0; round < 2; round += 1) {
      const outcome = await runner.run(program, callOf({ arguments: [{ harm: true }] }))
      expect(outcome.value).toBeUndefined()
      expect(outcome.failure).toEqual({
        at: 'main/rater.js',
        reason: `changes ${named} irreversibly, which a plugin must not do, because it would affect the next call`,
      })
      expect(await runner.run(program, callOf({ arguments: [{}] }))).toEqual(clean)
    }
  })
})

describe.each(RUNNERS)('concurrent calls under %s', (_name, runner) => {
  it('are not affected by what another one left running', async () => {
    const program = programWith(`
      const mine = socotraApi
      ;(async () => {
        for (let turn = 0; turn < 200; turn += 1) {
          await null
          Math.max = () => 9
          Array.prototype.map = () => ['mine']
          Promise.prototype.then = () => { throw 'mine' }
          Promise.prototype.constructor = function () { return { then: done => done('mine') } }
          console.log('left running')
          socotraApi.setAuxData('left', 'key', 'value')
        }
      })()
      return Promise.resolve()`)
    const alone = await runner.run(program, callOf({ arguments: [{}] }))
    const calls = Array.from({ length: 8 }, (_, at) =>
      runner.run(program, callOf({ arguments: [{ harm: at % 2 === 0 }] })),
    )
    for (const [at, outcome] of (await Promise.all(calls)).entries())
      if (at % 2 === 1) expect(outcome).toEqual(alone)
    expect(alone.value).toMatchObject(CLEAN)
  })
})
