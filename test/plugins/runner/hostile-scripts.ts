// Function bodies that do harm. None of them returns a value: each ends by a limit, or by its own error.

export type HostileScript = readonly [what: string, body: string]

/** Built-in functions that run for as long as they like in one call. */
const NATIVES: readonly HostileScript[] = [
  ['indexOf over a length of 2^53', 'return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'],
  [
    'lastIndexOf over a length of 2^53',
    'return Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)',
  ],
  ['includes over a length of 2^53', 'return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)'],
  ['fill of a length of 2^53', 'const o = { length: 2 ** 53 - 1 }; return Array.prototype.fill.call(o, 1)'],
  ['join of a length of 2^32', 'return new Array(4294967295).join("")'],
  ['reverse of a length of 2^32', 'const a = []; a.length = 4294967295; a.reverse(); throw 1'],
  ['sort of a length of 2^32', 'const a = []; a.length = 4294967295; a.sort(); throw 1'],
  ['copyWithin a length of 2^53', 'Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 1, 0); throw 1'],
  ['shift of a length of 2^53', 'Array.prototype.shift.call({ length: 2 ** 53 - 1 }); throw 1'],
  ['unshift to a length of 2^52', 'Array.prototype.unshift.call({ length: 2 ** 52 }, 1); throw 1'],
  ['splice of a length of 2^53', 'Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 1, 0); throw 1'],
  ['slice of a length of 2^31', 'Array.prototype.slice.call({ length: 2 ** 31 }); throw 1'],
  [
    'concat of long spreadable objects',
    'const o = { length: 2 ** 52, [Symbol.isConcatSpreadable]: true }; [].concat(o); throw 1',
  ],
  [
    'forEach over a length of 2^53',
    'Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, () => 1); throw 1',
  ],
  ['every of a length of 2^53', 'Array.prototype.every.call({ length: 2 ** 53 - 1 }, () => true); throw 1'],
  [
    'reduceRight over a length of 2^53',
    'return Array.prototype.reduceRight.call({ length: 2 ** 53 - 1 }, x => x)',
  ],
  ['flat of a length of 2^53', 'Array.prototype.flat.call({ length: 2 ** 53 - 1 }); throw 1'],
  ['a search in a long text', 'return "a".repeat(1e7).indexOf("a".repeat(5e6) + "b")'],
  ['a search from the end of a long text', 'return "a".repeat(1e7).lastIndexOf("b" + "a".repeat(5e6)) / 0n'],
  ['replaceAll in a long text', 'return "a".repeat(1e7).replaceAll("a".repeat(5e6) + "b", "").length / 0n'],
  ['split of a long text', 'return "a".repeat(2e7).split("").length / 0n'],
  [
    'normalize of combining marks',
    'return ("a" + "\\u0301\\u0323".repeat(400000)).normalize("NFD").length / 0n',
  ],
  [
    'text of an object doubled 60 times',
    'let o = { a: 1 }; for (let i = 0; i < 60; i++) o = { a: o, b: o }; return JSON.stringify(o)',
  ],
  ['apply with a length of 2^32', 'return Math.max.apply(null, { length: 4294967295 })'],
  ['a list of a length of 2^32 by from', 'return Array.from({ length: 4294967295 })'],
  ['a large power', 'return (2n ** 4000000n) ** 40n'],
  ['text of a large number', 'return String(3n ** 6000000n).length / 0n'],
]

/** Patterns that backtrack without end. */
const PATTERNS: readonly HostileScript[] = [
  ['a pattern in a pattern', 'return /^(a+)+$/.test("a".repeat(60) + "b") / 0n'],
  ['alternatives that overlap', 'return /^(a|aa)+$/.test("a".repeat(90) + "b") / 0n'],
  ['stars in a row', 'return /a*a*a*a*a*a*a*a*a*a*b/.test("a".repeat(3000)) / 0n'],
  ['a reference back', 'return /^(a*)*\\1$/.test("a".repeat(60) + "b") / 0n'],
  ['looking ahead again and again', 'return /^(?=(a+)+$)/.test("a".repeat(60) + "b") / 0n'],
  ['replace with such a pattern', 'return "a".repeat(60).concat("b").replace(/(a+)+$/g, "").length / 0n'],
  ['split by such a pattern', 'return ("a".repeat(60) + "b").split(/(a+)+c/).length / 0n'],
  ['a pattern over a long text, for each place of it', 'return /a+b/.test("a".repeat(1e7)) / 0n'],
]

/** Cheap loops of expensive built-in functions. */
const LOOPS: readonly HostileScript[] = [
  ['fill in a loop', 'const a = new Array(1e6); for (;;) a.fill(1)'],
  ['sort in a loop', 'const a = Array.from({ length: 1e5 }, (_, i) => -i); for (;;) a.slice().sort()'],
  ['Date.parse in a loop', 'for (;;) Date.parse("Sat, 21 Nov 2026 12:00:00 GMT".padEnd(1e5))'],
  ['Intl in a loop', 'for (;;) new Date().toLocaleString("en-US", { timeZone: "Europe/Berlin" })'],
  [
    'zones under all of their names',
    'for (let i = 0; ; i++) new Date().toLocaleString("en-US", { timeZone: [..."europe/berlin"].map((c, at) => (i >> at) & 1 ? c.toUpperCase() : c).join("") })',
  ],
  [
    'JSON in a loop',
    'const o = Array.from({ length: 1e5 }, () => ({ a: 1 })); for (;;) JSON.parse(JSON.stringify(o))',
  ],
  ['a loop that does nothing', 'for (;;) {}'],
  ['a loop that catches everything', 'for (;;) { try { for (;;) {} } catch (e) {} finally { continue } }'],
  ['a loop in finally', 'try { return 1 } finally { for (;;) {} }'],
  ['a generator without end', 'function* all() { for (;;) yield 1 } for (const one of all()) ; throw 1'],
  [
    'an iterator that never ends',
    'const o = { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }; return [...o]',
  ],
  [
    'names of properties in a loop',
    'const o = {}; for (let i = 0; ; i++) { o["p" + (i % 1e5)] = i; if (i % 1e5 === 0) Object.keys(o) }',
  ],
]

/** Scripts that take up memory or fill the log. */
const FLOODS: readonly HostileScript[] = [
  ['a log of ten million lines', 'for (let i = 0; i < 1e7; i++) console.log("z".repeat(1000)); throw 1'],
  ['a log of one endless line', 'console.log("z".repeat(5e7)); throw 1'],
  ['a log of what is deep', 'let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; console.log(o); throw 1'],
  ['a gibibyte at once', 'return "x".repeat(1024 * 1024 * 1024)'],
  ['a list that grows', 'const all = []; for (;;) all.push(new Array(1000).fill(all.length))'],
  ['a text that doubles', 'let s = "x"; for (;;) s += s'],
  ['typed arrays that are kept', 'const all = []; for (;;) all.push(new Uint8Array(1e6))'],
  ['a typed array of 4 GB', 'return new Uint8Array(2 ** 32)'],
  ['typed arrays in a loop', 'const a = new Float64Array(1e6); for (;;) a.sort()'],
  ['a typed array that is set', 'const a = new Uint8Array(2e7); for (;;) a.set(a.subarray(0, 1e7), 1)'],
  ['a map that grows', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })'],
  ['symbols that are kept', 'const all = []; for (let i = 0; ; i++) all.push(Symbol.for("s" + i))'],
  ['functions that are kept', 'const all = []; for (;;) all.push(() => all)'],
  ['writes without end', 'for (let i = 0; ; i++) socotraApi.setAuxData("a", "k" + i, "v".repeat(1e5))'],
  ['look-ups without end', 'for (let i = 0; ; i++) socotraApi.tableLookup(0, "t".repeat(1e5) + i, "k")'],
  ['an answer of 50 MB', 'return "x".repeat(5e7)'],
]

/** Scripts that look harmless until they are evaluated. */
const TRICKS: readonly HostileScript[] = [
  ['recursion', 'function f() { return f() + 1 } return f()'],
  ['recursion of two', 'const f = () => g() + 1, g = () => f() + 1; return f()'],
  ['recursion through toString', 'const o = { toString() { return "" + o } }; return "" + o'],
  ['recursion through valueOf', 'const o = { valueOf() { return +o } }; return +o'],
  ['recursion through toJSON', 'const o = { toJSON() { return JSON.stringify(o) } }; return o'],
  ['recursion through a getter', 'const o = { get a() { return o.a } }; return o.a'],
  ['recursion through a proxy', 'const p = new Proxy({}, { get: (_, k) => p[k] }); return p.a'],
  ['a proxy of proxies', 'let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.a.b'],
  [
    'a chain of prototypes',
    'let o = {}; for (let i = 0; i < 1e6; i++) o = Object.create(o); for (;;) o.missing',
  ],
  ['an answer whose getter never ends', 'return { get a() { for (;;) {} } }'],
  ['an answer whose toJSON never ends', 'return { toJSON() { for (;;) {} } }'],
  ['an answer that is a proxy with endless names', 'return new Proxy({}, { ownKeys() { for (;;) {} } })'],
  ['an answer that is a long empty list', 'const a = []; a.length = 4294967295; return a'],
  ['an error whose message never ends', 'throw { get message() { for (;;) {} } }'],
  [
    'an error whose stack never ends',
    'const e = new Error("x"); Object.defineProperty(e, "stack", { get() { for (;;) {} } }); throw e',
  ],
  ['a then that never ends', 'return { then() { for (;;) {} } }'],
  ['a then of itself', 'const o = { then(done) { done(o) } }; return o'],
  ['a promise that never settles', 'return new Promise(() => {})'],
  ['promises without end', 'const f = () => Promise.resolve().then(f); f(); return new Promise(() => {})'],
  [
    'promises that double',
    'const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f(); return new Promise(() => {})',
  ],
  ['a key that never ends', 'return ({})[{ toString() { for (;;) {} } }]'],
  ['a comparison that never ends', 'return [3, 2, 1].sort(() => { for (;;) {} })'],
  ['a primitive that never ends', 'return "" + { [Symbol.toPrimitive]() { for (;;) {} } }'],
  [
    'an instance that never ends',
    'class A { static [Symbol.hasInstance]() { for (;;) {} } } return ({}) instanceof A',
  ],
  [
    'a species that never ends',
    'class A extends Array { static get [Symbol.species]() { for (;;) {} } } return new A(3).map(x => x)',
  ],
  [
    'the language itself in a loop',
    'Array.prototype.push = function () { for (;;) {} }; JSON.stringify = () => { for (;;) {} }; socotraApi.setAuxData("a", "b", "c"); for (;;) [].push(1)',
  ],
]

export const HOSTILE_SCRIPTS: readonly HostileScript[] = [
  ...NATIVES,
  ...PATTERNS,
  ...LOOPS,
  ...FLOODS,
  ...TRICKS,
]
