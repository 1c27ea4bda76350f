// Scripts that use globals of Node or browsers get a warning when they are deployed.
import { expect, test } from 'vitest'
import { parseScript } from '../../../../src/extension/plugins/runners/script.ts'
import { absentGlobalsIn } from '../../../../src/product/check/strict/absent-globals.ts'
import { compiled } from './strict-archive.ts'

const found = (script: string): string[] =>
  [...absentGlobalsIn(parseScript('main/rater.js', script)!)].map(([name, offset]) => {
    expect(script.startsWith(name, offset)).toBe(true)
    return name
  })

test.each([
  'const { fetch } = require("./part.js"); fetch()',
  'function run(fetch, { crypto }) { return fetch(crypto) }',
  'import fetch, { Buffer as Bytes } from "./part.js"; export default () => fetch(Bytes)',
  'if (typeof window !== "undefined") window.moment = 1',
  'root.setTimeout(1); const options = { URL: 1, process() {} }; options.fetch; class A { crypto = 1 }',
  'URL = "address"; exports.url = URL',
  'try { load() } catch (performance) { throw performance }',
  'fetch: for (;;) break fetch',
  'exports.Buffer = class Buffer {}; exports.run = function fetch() {}',
  'exports.text = "fetch()" // fetch()',
])('%s is not reported', script => {
  expect(found(script)).toEqual([])
})

test.each([
  ['window.rate = 1', ['window']],
  ['exports.getPerilRates = () => ({ fetch })', ['fetch']],
  ['new URL("a"); new URL("b"); all[process]', ['URL', 'process']],
])('%s is reported', (script, names) => {
  expect(found(script)).toEqual(names)
})

test('the warning has the place of the first use in each script of an enabled plugin, and what to do instead', async () => {
  const POLICY = 'products/boat/policy'
  const { findings } = await compiled({
    'config.json': { timezone: 'Europe/Berlin', currency: 'EUR' },
    [`${POLICY}/policy.json`]: {
      plugins: {
        getPerilRates: { path: 'main/rater.js', enabled: true },
        getUnderwritingResult: { path: 'main/underwriter.js', enabled: false },
      },
    },
    [`${POLICY}/exposures/hull/exposure.json`]: { displayName: 'Hull' },
    [`${POLICY}/exposures/hull/perils/sinking.json`]: {},
    'scripts/main/rater.js':
      "const lib = require('../lib/send.js')\nexports.getPerilRates = () => {\n  lib.send(process.env.KEY || process.env.OLD)\n  return {}\n}",
    'scripts/lib/send.js': 'exports.send = async url => await fetch(url)\nfetch("again")',
    'scripts/main/underwriter.js': 'exports.getUnderwritingResult = () => fetch("never")',
  })
  expect(
    findings
      .filter(({ code }) => code === 'absentGlobal')
      .map(({ severity, path, line, column, message }) => `${severity} ${path}:${line}:${column} ${message}`),
  ).toEqual([
    "WARNING scripts/lib/send.js:1:35 The script uses 'fetch', which plugins do not have: plugins have no network; let an integration fill in data or rate, or write auxiliary data beforehand.",
    "WARNING scripts/main/rater.js:3:12 The script uses 'process', which plugins do not have: plugins have no environment; keep settings in a table, a module or a secret.",
  ])
})
