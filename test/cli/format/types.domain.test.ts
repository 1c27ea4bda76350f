// The declarations for authors, checked by the compiler: against the service's own types, and the examples' plugins against them.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PLUGIN_FUNCTIONS } from '../../../src/product/configuration.ts'
import { bindery } from '../terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-types-'))
afterAll(() => rmSync(folder, { recursive: true }))

const inFolder = (name: string): string => join(folder, name)

/** Returns the errors of the compiler for the folder, one for each mistake. */
function mistakes(project: string): string[] {
  try {
    execFileSync(
      resolve('node_modules/.bin/tsc'),
      ['-p', join(project, 'jsconfig.json'), '--pretty', 'false', '--checkers', '1'],
      {
        encoding: 'utf8',
        cwd: project,
      },
    )
    return []
  } catch (problem) {
    const { stdout } = problem as { stdout: string }
    return stdout.split('\n').filter(line => /error TS/.test(line))
  }
}

/** Creates a folder with these scripts, and with what editors need to check them. */
async function withScripts(name: string, scripts: Record<string, string>): Promise<string> {
  const project = inFolder(name)
  mkdirSync(join(project, 'scripts/main'), { recursive: true })
  for (const [path, text] of Object.entries(scripts)) writeFileSync(join(project, 'scripts/main', path), text)
  await bindery('types', '--into', project)
  return project
}

describe('the declarations', () => {
  let text: string
  beforeAll(async () => {
    text = (await bindery('types')).out
  })

  test('have a function type and a result type for each function that a product may have in scripts', () => {
    for (const name of PLUGIN_FUNCTIONS) {
      const own = name[0]!.toUpperCase() + name.slice(1)
      expect(text).toMatch(new RegExp(`type ${own} = \\(`))
      if (name !== 'executeLambda') expect(text).toMatch(new RegExp(`type ${own}Answer = `))
    }
  })

  test('describe every property', () => {
    const lines = text.split('\n')
    const bare = lines.filter(
      (line, at) => /^ {4,}(?:readonly )?["\w]+\??: /.test(line) && !/\*\/$/.test(lines[at - 1]!),
    )
    // Arguments of functions are described above the function.
    expect(bare.filter(line => !/^ {6}\w+\??: .*,$/.test(line))).toEqual([])
  })

  test('are written to a file, or printed as JSON', async () => {
    const file = inFolder('deep/plugins.d.ts')
    expect((await bindery('types', '--out', file)).out).toBe(`wrote ${file}\n`)
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(JSON.parse((await bindery('types', '--json')).out)).toEqual({ ok: true, types: text })
    expect((await bindery('types', '--out', file, '--into', folder)).exit).toBe(2)
    expect((await bindery('types', '--into', inFolder('nowhere'))).exit).toBe(2)
  })

  test('do not replace existing settings of an editor', async () => {
    const project = inFolder('own')
    mkdirSync(project)
    writeFileSync(join(project, 'jsconfig.json'), '{ "mine": true }')
    expect((await bindery('types', '--into', project)).out).toContain('jsconfig.json already exists')
    expect(readFileSync(join(project, 'jsconfig.json'), 'utf8')).toBe('{ "mine": true }')
    expect(existsSync(join(project, '.bindery/plugins.d.ts'))).toBe(true)
  })
})

test("the declarations fit the inputs and results in the service's own types", () => {
  const project = inFolder('service')
  mkdirSync(project)
  const names = ['PerilRates', 'Underwriting', 'Proration', 'Installments', 'PreGrace', 'PostPaymentReversal']
  const functions = ['GetPerilRates', 'GetUnderwritingResult', 'GetProrationResult', 'CreateInstallments']
  functions.push('GetPreGraceResult', 'GetPostPaymentReversal')
  const contract = resolve('src/extension/plugins/contract.ts')
  const checks = names.map((name, at) => {
    const own = functions[at]!
    return [
      `export const of${name} = (given: contract.${name}Input): Bindery.${own}Input => given`,
      `export const by${name} = (answer: Bindery.${own}Answer): z.input<typeof contract.${name}Result> => answer as never as Mutable<typeof answer>`,
    ].join('\n')
  })
  writeFileSync(
    join(project, 'check.ts'),
    [
      `/// <reference path="./plugins.d.ts" />`,
      `import type { z } from '${resolve('node_modules/zod/index.js')}'`,
      `import type * as contract from '${contract}'`,
      'type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T',
      ...checks,
      '',
    ].join('\n'),
  )
  return bindery('types', '--out', join(project, 'plugins.d.ts')).then(() => {
    const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as {
      compilerOptions: object
    }
    const typeRoots = [resolve('node_modules/@types')]
    writeFileSync(
      join(project, 'jsconfig.json'),
      JSON.stringify({
        compilerOptions: { ...compilerOptions, types: ['node'], typeRoots },
        files: ['check.ts'],
      }),
    )
    // The types of the Workers runtime are missing here, and none of these types depends on them.
    expect(mistakes(project).filter(line => line.startsWith('check.ts'))).toEqual([])
  })
})

describe('scripts', () => {
  test.each(['motor', 'commercial_property'])('of the example %s have no type errors', async example => {
    const project = inFolder(example)
    cpSync(`examples/${example}/configuration`, join(project, 'configuration'), { recursive: true })
    await bindery('types', '--into', project)
    expect(mistakes(project)).toEqual([])
  })

  test('with mistakes have a type error at each of them', async () => {
    const rates = (body: string): string =>
      `/** @type {Bindery.GetPerilRates} */\nfunction getPerilRates(data) {\n  ${body}\n}\nexports.getPerilRates = getPerilRates\n`
    const project = await withScripts('mistakes', {
      'path.js': rates('data.polcy\n  return {}'),
      'number.js': rates('const sum = data.policy.configVersion * 2\n  return {}'),
      'answer.js': rates("return { pricedPerilCharacteristics: { x: { yearlyPremum: '1' } } }"),
      'operation.js': rates("if (data.operation === 'new-business') return {}\n  return {}"),
      'nothing.js': rates('return'),
      'api.js': "socotraApi.tableLokup(0, 'rates', 'a')\n",
      'entity.js': "socotraApi.fetchByLocator('Claim', 'x')\n",
      'sound.js': rates(
        "const rate = socotraApi.tableLookup(0, 'rates', ['a', 1])\n  console.log(rate, Policy)\n  const asked = data.policyExposurePerils.map(one => [one.perilCharacteristicsLocator, { yearlyPremium: rate }])\n  return { pricedPerilCharacteristics: Object.fromEntries(asked), exceptionMessage: '' }",
      ),
    })
    const found = mistakes(project).map(line => line.replace(/^scripts\/main\//, ''))
    expect(found.map(line => line.replace(/\((\d+),.*/, ':$1')).sort()).toEqual([
      'answer.js:3',
      'api.js:1',
      'entity.js:1',
      'nothing.js:3',
      'number.js:3',
      'operation.js:3',
      'path.js:3',
    ])
    expect(found.join('\n')).toContain("Did you mean 'policy'?")
  })
})
