// Runs the operator's guide: every command of docs/operate.md in order, against a stub of the provider that keeps its state.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { openStored, readAccount, rememberDatabases } from '../support/provider/account.ts'
import { type Ended, newAccountFolder, newCheckout } from '../support/provider/checkout.ts'

const GUIDE = readFileSync('docs/operate.md', 'utf8')

/** The lines of its command blocks. Blocks with a language (`sh`) are for emergencies, and are not run. */
const COMMANDS = [...GUIDE.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, language, block]) =>
  language === '' ? block!.trimEnd().split('\n') : [],
)

/** Commands mentioned in sentences, up to their variable parts. */
const MENTIONED = [...GUIDE.matchAll(/`npm run ([a-z:]+)(?: -- ([a-z]+))?/g)].map(([, script, word]) => ({
  script,
  word,
}))

/** Not commands of the provider. The release gate and the benchmark run them. */
const OF_THE_CHECKOUT = new Set(['npm ci'])
const ELSEWHERE = new Set(['load', 'counts', 'scale'])

/** Commands for when the control database is lost. test/tenants/control-restored.service.test.ts tests what they restore. */
const OF_THE_PROVIDER = new Set([
  'd1 export',
  'd1 time-travel',
  'd1 create',
  'd1 execute',
  'd1 insights',
  'deployments',
  'rollback',
  'queues',
])

const account = newAccountFolder()
const checkout = newCheckout(account, { TIME_FLIES: '1' })
afterAll(() => {
  checkout.remove()
  rmSync(account, { recursive: true, force: true })
})

/** The words of a line, split as by a shell. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

let remembered = 0

/** Marks the tenants as if an earlier release had created them. */
function markTenants(): void {
  const database = openStored(account, readAccount(account).databases['bindery-production-control']!.id)
  try {
    database.exec('update tenant set former_units = true')
  } finally {
    database.close()
  }
}

/** Preparations that the guide describes in sentences before a command. */
const BEFORE: Readonly<Record<string, () => void>> = {
  'npm run migrate': markTenants,
  'npm run tenant -- units': markTenants,
  'npm run tenant -- suspend': () => {
    remembered = rememberDatabases(account)
  },
  'npm run tenant -- move': () => {
    const read = (name: string) =>
      parseEnv(readFileSync(join(checkout.folder, `.secrets.${name}`), 'utf8')) as Record<string, string>
    const [former, own] = [read('production'), read('eu1')]
    const joined = {
      ...own,
      PASSWORD_PEPPER: `${own.PASSWORD_PEPPER},${former.PASSWORD_PEPPER}`,
      SEALING_KEY: `${own.SEALING_KEY},${former.SEALING_KEY},${own.SEALING_KEY}`,
    }
    const lines = Object.entries(joined).map(([name, value]) => `${name}='${value}'\n`)
    writeFileSync(join(checkout.folder, '.secrets.eu1'), lines.join(''))
  },
}

async function carryOut(line: string): Promise<Ended> {
  const dated = line.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, () => new Date(remembered).toISOString())
  const [tool, ...words] = wordsOf(dated)
  if (tool === 'npx') return await checkout.tool(...words.slice(1))
  const [, script, , ...options] = words
  return await checkout.run(script!, ...options)
}

/** Rows of the account's database with this name. */
function rowsOf(name: string, query: string): Record<string, unknown>[] {
  const database = openStored(account, readAccount(account).databases[name]!.id)
  try {
    return database.prepare(query).all()
  } finally {
    database.close()
  }
}

const tenants = (environment: string) =>
  rowsOf(
    `bindery-${environment}-control`,
    'select name, status, suspension, former_units, restores, operation from tenant',
  )

/** Checks after a command, in addition to its success. */
const AFTER: Readonly<Record<string, (output: string) => void>> = {
  'npm run deploy -- --environment production --domain example.com --location weur --dry-run': () =>
    expect(readAccount(account).databases).toEqual({}),
  'npm run deploy -- --environment production --gradual': () =>
    expect(readAccount(account).workers['bindery-production']!.shares).toMatchObject([{ percentage: 100 }]),
  'npm run tenant -- create': output => expect(output).toContain('https://api.production.example.com'),
  'npm run tenant -- shards': output => expect(output).toContain('the new databases are ready'),
  'npm run migrate': () => expect(tenants('production')).toMatchObject([{ former_units: null }]),
  'npm run tenant -- units': output => {
    expect(output).toContain('acme is served unchanged')
    expect(tenants('production')).toMatchObject([{ former_units: null }])
  },
  'npm run tenant -- suspend': () =>
    expect(String(tenants('production')[0]!.suspension)).toContain('The books are being checked.'),
  'npm run tenant -- resume': () => expect(tenants('production')).toMatchObject([{ suspension: null }]),
  'npm run tenant -- restore': output => {
    expect(output).toContain('undone: 0 events, 0 payments, 0 documents')
    expect(tenants('production')).toMatchObject([{ suspension: null, operation: null }])
    expect(JSON.parse(String(tenants('production')[0]!.restores))).toMatchObject([{ to: remembered }])
  },
  'npx wrangler d1 export': () => {
    const file = join(checkout.folder, 'tenant.sql')
    expect(existsSync(file) && readFileSync(file, 'utf8')).toContain('CREATE TABLE `policy`')
  },
  'npm run tenant -- move': () => {
    expect(String(tenants('production')[0]!.suspension)).toContain(
      'it is served at https://api.eu1.example.com',
    )
    expect(tenants('eu1')).toMatchObject([
      { name: 'acme', status: 'active', suspension: null, operation: null },
    ])
  },
  'npm run tenant -- delete': () => expect(tenants('production')).toMatchObject([{ status: 'deleted' }]),
}

const begins = <Work>(works: Readonly<Record<string, Work>>, line: string): Work[] =>
  Object.entries(works).flatMap(([start, work]) => (line.startsWith(start) ? [work] : []))

describe('The operator’s guide', () => {
  test.each(COMMANDS)('runs: %s', async line => {
    if (OF_THE_CHECKOUT.has(line)) return
    for (const work of begins(BEFORE, line)) work()
    // Before a move, the guide adds the secrets of the former environment and deploys again.
    if (line.startsWith('npm run tenant -- move'))
      expect(await carryOut('npm run deploy -- --environment eu1')).toMatchObject({ code: 0 })
    const { code, output } = await carryOut(line)
    expect(code, output).toBe(0)
    for (const check of begins(AFTER, line)) check(output)
  })

  test('mentions no command that is not run here', () => {
    for (const { script, word } of MENTIONED) {
      if (ELSEWHERE.has(script!)) continue
      const start = `npm run ${script}${word === undefined ? '' : ` -- ${word}`}`
      expect(
        COMMANDS.filter(line => line.startsWith(start)),
        start,
      ).not.toEqual([])
    }
    const others = GUIDE.matchAll(/npx wrangler (?!login)((?:d1 )?\S+)/g)
    expect(
      [...others].map(([, command]) => command).filter(command => !OF_THE_PROVIDER.has(command!)),
    ).toEqual([])
  })
})
