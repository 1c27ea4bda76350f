// What a script finds in its sandbox is the same in every engine: what works on an author's machine works in production.
import { describe, expect, it } from 'vitest'
import { outcomeOf, RUNNERS } from './programs.ts'

const valueIn = async (runner: (typeof RUNNERS)[number][1], body: string): Promise<unknown> => {
  const { failure, value } = await outcomeOf(runner, body)
  if (failure) throw new Error(`${failure.at}: ${failure.reason}`)
  return value
}

/** The names of all properties that can be reached by names from a global, except those that symbols name. */
const SURFACE = `
const names = []
const visit = (owner, path, depth) => {
  for (const key of Object.getOwnPropertyNames(owner)) {
    if (key === 'caller' || key === 'arguments' || key === 'length' || key === 'name') continue
    // Where an engine stores the place of an error, and what belongs to it, is its own affair.
    if (/^(fileName|lineNumber|columnNumber|stack)$/.test(key)) continue
    names.push(path + key)
    const { value } = Object.getOwnPropertyDescriptor(owner, key)
    const isObject = typeof value === 'object' || typeof value === 'function'
    if (depth < 3 && isObject && value && value !== globalThis && key !== 'constructor') visit(value, path + key + '.', depth + 1)
  }
}
visit(globalThis, '', 0)
return names.sort()`

it('every engine has the same globals with the same members', async () => {
  const [quickjs, isolate] = await Promise.all(RUNNERS.map(([, runner]) => valueIn(runner, SURFACE)))
  const [own, other] = [new Set(quickjs as string[]), new Set(isolate as string[])]
  expect([...own].filter(name => !other.has(name))).toEqual([])
  expect([...other].filter(name => !own.has(name))).toEqual([])
  expect(own.size).toBeGreaterThan(600)
})

describe.each(RUNNERS)('a script under %s', (_name, runner) => {
  const value = (body: string) => valueIn(runner, body)

  it('copies values with structuredClone, also those that contain themselves', async () => {
    expect(
      await value(`
const given = { at: new Date(5), list: [1, , { a: 1n }], map: new Map([[{ k: 1 }, new Set([2])]]), bytes: new Uint8Array([1, 2, 3]).subarray(1), pattern: /a/gi, error: new RangeError('r', { cause: { c: 1 } }), none: undefined, text: 't', boxed: Object(1) }
given.self = given
const copy = structuredClone(given)
const [[key, set]] = copy.map
return [
  copy !== given, copy.self === copy, copy.at.getTime(), copy.at !== given.at, copy.list.length, 1 in copy.list, copy.list[2].a, copy.list[2] !== given.list[2],
  key.k, set.has(2), [...copy.bytes], copy.bytes.buffer !== given.bytes.buffer, String(copy.pattern), copy.error instanceof RangeError, copy.error.message, copy.error.cause,
  'none' in copy, copy.text, copy.boxed instanceof Number, structuredClone(7), structuredClone(null),
]`),
    ).toEqual([
      ...[true, true, 5, true, 3, false, '1', true],
      ...[1, true, [2, 3], true, '/a/gi', true, 'r', { c: 1 }],
      ...[true, 't', true, 7, null],
    ])
    for (const [what, shown] of [
      ['() => 1', 'a function'],
      ['Symbol()', 'a symbol'],
      ['Promise.resolve()', 'a Promise'],
    ])
      expect(await outcomeOf(runner, `return structuredClone({ a: [${what}] })`)).toMatchObject({
        failure: { reason: `DataCloneError: ${shown} cannot be cloned`, at: 'main/rater.js:2' },
      })
  })

  it('converts Base64', async () => {
    expect(
      await value(
        `return [btoa(''), btoa('a'), btoa('ab'), btoa('abc'), btoa('\\xff\\x00'), atob('YWJj'), atob(' YQ = ='), atob('YWI'), atob('/wA=').length, decodeURIComponent(escape(atob(btoa(unescape(encodeURIComponent('Zürich ☂'))))))]`,
      ),
    ).toEqual(['', 'YQ==', 'YWI=', 'YWJj', '/wA=', 'abc', 'a', 'ab', 2, 'Zürich ☂'])
    for (const wrong of ['atob("a")', 'atob("a?==")', 'atob("YQ=")', 'btoa("☂")'])
      expect((await outcomeOf(runner, `return ${wrong}`)).failure?.reason).toMatch(
        /^RangeError: (atob|btoa) takes/,
      )
  })

  it('sorts by a comparison that answers true or false as its author means', async () => {
    expect(
      await value(
        `const list = [3, 1, 10, 2, 1]; return [[...list].sort((a, b) => a > b), [...list].sort((a, b) => b > a), list.toSorted((a, b) => a > b), [...list].sort(), [...list].sort((a, b) => a - b), [{ n: 1, at: 0 }, { n: 0, at: 1 }, { n: 1, at: 2 }].sort((a, b) => a.n > b.n).map(one => one.at)]`,
      ),
    ).toEqual([
      [1, 1, 2, 3, 10],
      [10, 3, 2, 1, 1],
      [1, 1, 2, 3, 10],
      [1, 1, 10, 2, 3],
      [1, 1, 2, 3, 10],
      [1, 0, 2],
    ])
    const ties = '[{ n: 1, at: 0 }, { n: 0, at: 1 }, { n: 1, at: 2 }, { n: 0, at: 3 }]'
    const ways = [
      ...[
        'a.n > b.n',
        'a.n >= b.n',
        '!(a.n < b.n)',
        'a.n > b.n ? 1 : 0',
        'a.n < b.n ? -1 : 0',
        'a.n > b.n && 1',
      ],
      ...['a.n >= b.n ? 1 : -1', 'a.n > b.n || -1', '{ valueOf: () => a.n - b.n }', 'a.n > b.n ? 1 : NaN'],
    ]
    for (const way of ways)
      expect(await value(`return ${ties}.sort((a, b) => (${way})).map(one => one.at)`), way).toEqual([
        ...(way.endsWith('-1') && !way.includes('>=') ? [3, 1, 2, 0] : [1, 3, 0, 2]),
      ])
    expect(
      await value(`
const holes = [3, , undefined, 1, , 2]
const sorted = holes.toSorted((a, b) => a - b)
holes.sort((a, b) => a > b)
const numbers = new Float64Array([3, 1, 2])
return [holes.slice(0, 4), 3 in holes, 4 in holes, holes.length, sorted, 5 in sorted, [...numbers.toSorted((a, b) => a < b)], [...numbers], [...numbers.sort((a, b) => a > b)],
  [].sort.call({ length: 2, 0: 'b', 1: 'a' }, (a, b) => a > b)]`),
    ).toEqual([
      ...[[1, 2, 3, null], true, false, 6, [1, 2, 3, null, null, null], true],
      ...[[3, 2, 1], [3, 1, 2], [1, 2, 3], { length: 2, 0: 'a', 1: 'b' }],
    ])
    expect((await outcomeOf(runner, 'return [1, 2].sort("up")')).failure?.reason).toMatch(/^TypeError/)
  })

  it('sorts a long list as the language does', async () => {
    expect(
      await value(`
const list = Array.from({ length: 50000 }, (_, at) => ({ n: Math.imul(at, 2654435761) % 1000, at }))
const sorted = list.toSorted((a, b) => a.n - b.n)
return sorted.every((one, at) => at === 0 || sorted[at - 1].n < one.n || (sorted[at - 1].n === one.n && sorted[at - 1].at < one.at))`),
    ).toBe(true)
  })

  it('gets the same message for a name that does not exist, and what to do without it', async () => {
    const reasonOf = async (body: string) => (await outcomeOf(runner, body)).failure
    expect(await reasonOf('return setTimeout(() => 1, 0)')).toEqual({
      reason:
        'ReferenceError: setTimeout is not defined: plugins have no timers; return the result at once, or from an async function',
      at: 'main/rater.js:2',
    })
    expect((await reasonOf('return Buffer.from("a")'))?.reason).toBe(
      'ReferenceError: Buffer is not defined: it belongs to Node; use btoa and atob for Base64',
    )
    expect((await reasonOf('return basRate * 2'))?.reason).toBe('ReferenceError: basRate is not defined')
    expect((await reasonOf('const all = {}; all.own = all; return all'))?.reason).toBe(
      'returned a value that is not JSON: it contains itself',
    )
    expect((await reasonOf('using one = null; return 1'))?.reason).toMatch(/^SyntaxError: Unexpected token/)
  })
})
