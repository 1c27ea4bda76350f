// The command line against a running service. test/scripts/start.process.test.ts calls this and shares its service, because
// starting one takes longer than all of these tests.
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import { openStores } from '../../scripts/databases.ts'
import { testUsers, workedPolicies } from '../../scripts/example.ts'
import { freePort } from '../../scripts/free-port.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { readTenant } from '../../src/platform/tenancy.ts'
import { changeTenant, openDatabases } from '../../src/tenants/suspension.ts'
import { PROCESS_ADMINISTRATOR, type ServiceProcess } from '../support/service-process.ts'
import { bindery, binderyWith, type Ran, type RunOptions } from './terminal.ts'

const TENANT = 'command-line'

export function describeCommandLine(service: () => ServiceProcess): void {
  describe('npx bindery against a service', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bindery-cli-'))
    const configuration = join(folder, 'bicycle')
    const policyFile = join(configuration, 'configuration/products/bicycle/policy/policy.json')
    afterAll(() => rmSync(folder, { recursive: true }))

    /** Each account has its own configuration folder. */
    const as =
      (account: string, options: RunOptions = {}) =>
      (...argv: string[]): Promise<Ran> =>
        binderyWith({ ...options, env: { XDG_CONFIG_HOME: join(folder, account), ...options.env } }, ...argv)
    const administrator = as('all')

    /** Marks the example's tenant as the end of a restore does. */
    const markRestored = async (): Promise<void> => {
      const { env, close } = await openStores(service().dataFolder)
      try {
        const tenant = (await readTenant(env, { name: service().example().tenantName }, noCalls()))!
        const restores = [{ to: Date.now() - 1, at: Date.now() }]
        await changeTenant(env, tenant, { restores }, noCalls())
        await openDatabases(env, { ...tenant, restores })
      } finally {
        await close()
      }
    }

    const change = (file: string, from: string, to: string): void =>
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))

    beforeAll(async () => {
      await bindery('new', configuration)
      const input = `${PROCESS_ADMINISTRATOR.password}\n`
      await as('all', { input })('login', service().origin)
    })

    test('login stores the token in a file that only its owner can read', async () => {
      const file = join(folder, 'all/bindery/sign-in.json')
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(statSync(join(folder, 'all/bindery')).mode & 0o777).toBe(0o700)
      const kept = JSON.parse(readFileSync(file, 'utf8'))
      expect(kept).toMatchObject({
        address: service().origin,
        administration: { username: 'administrator', expiresAt: expect.any(Number) },
      })
      expect(readFileSync(file, 'utf8')).not.toContain(PROCESS_ADMINISTRATOR.password)
    })

    test('login with a wrong password exits with 4 and stores nothing', async () => {
      const { exit, err } = await as('wrong', { input: 'not this one' })('login', service().origin)
      expect(err).toContain('User name or password is wrong')
      expect(exit).toBe(4)
      expect((await as('wrong')('deploy', configuration, '--tenant', TENANT)).err).toContain('Not signed in.')
    })

    test('deploy creates the test tenant, and exits when the version is in force', async () => {
      const { exit, out } = await administrator('deploy', configuration, '--tenant', TENANT)
      expect(out).toMatch(
        /^Deployed version 1 to command-line\.co\.local\.bindery\.test \(0 errors, 0 warnings\)\n$/,
      )
      expect(exit).toBe(0)
    })

    test('diff compares a deployed version with a folder', async () => {
      const same = await administrator('diff', `${TENANT}@latest`, configuration)
      expect(same.out).toBe(`${TENANT}@1 and ${configuration} have the same meaning.\n`)
      change(policyFile, 'Every month', 'Month by month')
      const other = await administrator('diff', `${TENANT}@1`, configuration)
      change(policyFile, 'Month by month', 'Every month')
      expect(other.out).toContain(
        "~ payment schedule 'monthly': display name: 'Every month' becomes 'Month by month'\n",
      )
      const { exit, err } = await administrator('diff', `${TENANT}@7`, configuration)
      expect([exit, err]).toEqual([1, expect.stringContaining("configuration version '7'")])
    })

    test('deploy shows the errors that the service found, at their places in the files', async () => {
      change(policyFile, '"type": "monthly"', '"type": "montly"')
      const { exit, out } = await administrator('deploy', configuration, '--tenant', TENANT)
      const checked = await bindery('check', configuration)
      change(policyFile, '"type": "montly"', '"type": "monthly"')
      expect(out).toContain(':10:56  error  badValue\n')
      expect(out).toContain("not 'montly'. Did you mean 'monthly'?")
      expect(out).toMatch(/\nNot deployed: 1 error, 0 warnings\n$/)
      expect(exit).toBe(1)
      // check prints the same findings.
      expect(checked.out.split('\n\n')[0]).toBe(out.split('\n\n')[0])
    })

    test('a policy costs in the service what price printed', async () => {
      const file = join(configuration, 'policy.json')
      const priced = await bindery('price', configuration, '--policy', file, '--json')
      const { policyholder, policy } = JSON.parse(readFileSync(file, 'utf8'))
      const agent = await tenantUser()
      const { locator: policyholderLocator } = await agent.call<{ locator: string }>(
        'POST',
        '/policyholder/create',
        { completed: true, ...policyholder },
      )
      const { locator } = await agent.call<{ locator: string }>('POST', '/policy', {
        ...policy,
        policyholderLocator,
      })
      const { total, grossPremium, grossTaxes } = JSON.parse(priced.out).price
      expect(total).toBe(281.55)
      expect(await agent.call('POST', `/policy/${locator}/price`)).toMatchObject({
        total,
        grossPremium,
        grossTaxes,
      })
    })

    const tenantUser = (): Promise<ApiClient> =>
      signIn(service().origin, {
        username: 'alice',
        password: 'password',
        hostName: `${TENANT}.co.local.bindery.test`,
      })

    test('book export writes a book that impact prices, and resumes after an interruption', async () => {
      const agent = await tenantUser()
      const { policyholder, policy } = JSON.parse(readFileSync(join(configuration, 'policy.json'), 'utf8'))
      const { locator: policyholderLocator } = await agent.call<{ locator: string }>(
        'POST',
        '/policyholder/create',
        { completed: true, ...policyholder },
      )
      for (let count = 0; count < 3; count += 1) {
        const { locator } = await agent.call<{ locator: string }>('POST', '/policy', {
          ...policy,
          policyholderLocator,
        })
        await agent.call('POST', `/policy/${locator}/issue`)
      }
      const signedIn = as('book', { input: 'password' })
      await signedIn('login', service().origin, '--tenant', TENANT, '--user', 'alice')
      const file = join(folder, 'book.ndjson')
      const exported = () => as('book')('book', 'export', '--out', file, '--day', '2027-02-01')
      expect(await exported()).toMatchObject({ exit: 0, out: `3 policies in ${file}\n` })
      const whole = readFileSync(file, 'utf8')
      expect((await exported()).err).toContain('is already a complete book')
      // As if the connection had broken in the middle of the second policy.
      writeFileSync(file, whole.split('\n').slice(0, 2).join('\n') + whole.split('\n')[2]!.slice(0, 40))
      expect(await exported()).toMatchObject({ exit: 0, out: `3 policies in ${file}\n` })
      expect(readFileSync(file, 'utf8')).toBe(whole)

      const { exit, out } = await bindery(
        'impact',
        configuration,
        '--book',
        file,
        '--day',
        '2027-02-01',
        '--json',
      )
      expect(exit).toBe(0)
      const { totals } = JSON.parse(out)
      expect(totals).toMatchObject({ policies: 3, unpriced: 0 })
      // The recorded prices are those that the same configuration gives for the next year.
      expect(totals.compared).toMatchObject({ policies: 3, old: 3 * 281_55, new: 3 * 281_55 })
    })

    test('report writes files that add up to the totals that it prints', async () => {
      await as('books', { input: 'password' })(
        'login',
        service().origin,
        '--tenant',
        TENANT,
        '--user',
        'alice',
      )
      const to = join(folder, 'written')
      const asked = ['--param', 'from=2020-01-01', '--param', 'to=2099-01-01', '--param', 'by=product']
      const { exit, out } = await as('books')('report', 'writtenPremium', ...asked, '--out', to)
      expect([exit, out]).toEqual([0, expect.stringContaining('5 files in')])
      const [, lines, premium] = /^bicycle +EUR +(\d+) +(\d+\.\d\d)/m.exec(out)!
      const [head, ...rows] = readFileSync(join(to, 'lines.csv'), 'utf8')
        .trimEnd()
        .split('\r\n')
        .map(line => line.split(','))
      expect(rows).toHaveLength(Number(lines))
      const at = head!.indexOf('premium')
      expect(rows.reduce((sum, row) => sum + Number(row[at]), 0).toFixed(2)).toBe(premium)
      expect((await as('books')('report', 'written')).err).toContain('There is no report')
      expect((await as('books')('report', 'charges', '--param', 'x')).exit).toBe(2)
    })

    test('export writes all records and files, and brings an earlier export up to date', async () => {
      const { username, password } = testUsers().find(({ roles }) => roles.includes('admin'))!
      const host = service().example().hostname
      const login = ['login', service().origin, '--tenant', host, '--user', username]
      await as('exporter', { input: password })(...login)
      const to = join(folder, 'export')
      const exported = () => as('exporter')('export', '--out', to, '--files')
      expect(await exported()).toMatchObject({ exit: 0 })
      const policies = () =>
        readFileSync(join(to, 'policies.ndjson'), 'utf8').trimEnd().split('\n').filter(Boolean)
      const before = policies().length
      const agent = await service().signInAs('agent')
      const { policyholder, policy } = workedPolicies()[0]!.request
      const { locator: policyholderLocator } = await agent.call<{ locator: string }>(
        'POST',
        '/policyholder/create',
        { completed: true, ...policyholder },
      )
      const { locator } = await agent.call<{ locator: string }>('POST', '/policy', {
        ...policy,
        policyholderLocator,
      })
      const journal = () => readFileSync(join(to, 'journal.ndjson'), 'utf8').trimEnd().split('\n')
      const rows = journal().filter(Boolean)
      await agent.call('POST', `/policy/${locator}/issue`)
      expect(await exported()).toMatchObject({ exit: 0 })
      expect(policies()).toHaveLength(before + 1)
      expect(journal().length).toBeGreaterThan(rows.length)
      expect(journal().slice(0, rows.length)).toEqual(rows)
      const { documents } = JSON.parse(policies().at(-1)!) as {
        documents: { locator: string; fileName: string; state: string }[]
      }
      for (const one of documents.filter(({ state }) => state === 'ready'))
        expect(existsSync(join(to, 'files', one.locator, one.fileName))).toBe(true)
      // As if the export had broken off in the middle of a page: the part of that page is cut off.
      const whole = readFileSync(join(to, 'policies.ndjson'), 'utf8')
      const state = JSON.parse(readFileSync(join(to, 'export.json'), 'utf8'))
      writeFileSync(join(to, 'policies.ndjson'), whole.slice(0, -40))
      writeFileSync(
        join(to, 'export.json'),
        JSON.stringify({ ...state, kinds: { ...state.kinds, policies: { bytes: 0 } } }),
      )
      expect(await exported()).toMatchObject({ exit: 0 })
      expect(policies()).toHaveLength(before + 1)
      const { files } = JSON.parse(readFileSync(join(to, 'export.json'), 'utf8'))
      expect(files.policies.records).toBe(before + 1)
      // As if somebody had removed a file and truncated another: both are exported again in full, and the command says so.
      const locators = () => policies().map(line => JSON.parse(line).locator)
      const [known, journalled] = [locators(), journal()]
      rmSync(join(to, 'journal.ndjson'))
      writeFileSync(join(to, 'policies.ndjson'), whole.slice(0, whole.indexOf('\n') + 1))
      const mended = await exported()
      for (const kind of ['journal', 'policies'])
        expect(mended.err).toContain(`${kind}.ndjson is missing or has changed since the last run`)
      expect([mended.exit, locators(), journal()]).toEqual([0, known, journalled])
      // Files that a run without --files left out.
      const bare = join(folder, 'bare')
      expect((await as('exporter')('export', '--out', bare)).exit).toBe(0)
      expect(existsSync(join(bare, 'files'))).toBe(false)
      expect((await as('exporter')('export', '--out', bare, '--files')).exit).toBe(0)
      const filesOf = (out: string) => readdirSync(join(out, 'files'), { recursive: true }).sort()
      expect(filesOf(bare)).toEqual(filesOf(to))
      expect((await as('books')('export', '--out', join(folder, 'refused'))).exit).toBe(4)
      expect((await as('books')('export', '--out', to)).exit).not.toBe(0)

      // No change reports what a restore undid, so everything is exported again.
      await markRestored()
      writeFileSync(join(to, 'policies.ndjson'), `${whole}{"locator":"999999999"}\n`)
      const again = await exported()
      expect(again).toMatchObject({ exit: 0, err: expect.stringContaining('restored to an earlier time') })
      expect(policies().map(line => JSON.parse(line).locator)).not.toContain('999999999')
      expect(policies()).toHaveLength(before + 1)
      expect(await exported()).toMatchObject({ exit: 0, err: expect.not.stringContaining('restored') })
    })

    test('import brings an export into another tenant, compares it, and creates nothing twice', async () => {
      const { username, password } = testUsers().find(({ roles }) => roles.includes('admin'))!
      const from = join(folder, 'moved')
      const importer = as('importer', { input: password })
      const signedInto = (host: string) =>
        importer('login', service().origin, '--tenant', host, '--user', username)
      await signedInto(service().example().hostname)
      const someone = JSON.parse(
        readFileSync(join(folder, 'export', 'policyholders.ndjson'), 'utf8').split('\n')[0]!,
      ).locator
      const source = await service().signInAs('admin')
      const secret = [{ key: 'crm.id', value: 'K-1', uiType: 'hidden' }]
      await source.call('PUT', `/auxData/${someone}`, { auxData: secret })
      expect((await as('importer')('export', '--out', from)).exit).toBe(0)
      expect((await as('importer')('import', from)).err).toContain(
        'You are signed in to the tenant that was exported.',
      )
      expect((await administrator('deploy', 'examples/motor', '--tenant', 'moved')).exit).toBe(0)
      await signedInto('moved.co.local.bindery.test')
      const records = (kind: string) =>
        readFileSync(join(from, `${kind}.ndjson`), 'utf8')
          .trimEnd()
          .split('\n')
          .filter(Boolean)
      const issued = records('policies').filter(line => JSON.parse(line).issuedTimestamp !== undefined).length
      const said = async (...options: string[]) => {
        const { exit, out, err } = await as('importer')('import', from, '--json', ...options)
        expect(err).not.toContain('Error')
        const found = JSON.parse(out)
        const findings = readFileSync(found.file, 'utf8')
          .trimEnd()
          .split('\n')
          .filter(Boolean)
          .map(line => JSON.parse(line))
        for (const finding of findings)
          if (finding.as === 'left' && 'policy' in finding) expect(finding.reason).toBe('it is not issued')
        return { exit, found }
      }
      const accounts = records('policyholders').length
      const { found: checked } = await said('--validate-only')
      expect(checked).toMatchObject({ accounts, failed: 0, compared: 0 })
      const { exit, found } = await said()
      expect(found).toMatchObject({
        accounts,
        present: 0,
        failed: 0,
        compared: issued,
        differing: 0,
        notCompared: 0,
      })
      expect(found.policies.history + found.policies.asNow).toBe(issued)
      expect(exit).toBe(found.policies.left === 0 ? 0 : 1)
      const again = await said()
      expect(again.found).toMatchObject({ accounts: 0, present: accounts, failed: 0, differing: 0 })
      expect([again.exit, again.found.policies]).toEqual([exit, found.policies])
      const [total, ...others] = found.controlTotals
      expect(others).toEqual([])
      expect(total).toMatchObject({ isEqual: true, exported: { policies: issued } })
      expect(total.imported).toEqual(total.exported)
      const price = records('policies')
        .map(line => JSON.parse(line))
        .filter(one => one.issuedTimestamp !== undefined)
        .reduce((sum, one) => sum + Math.round(one.price.total * 100), 0)
      expect(Number(total.imported.price)).toBe(price / 100)
      // As if the import had been cut off in the middle of a line, before it wrote what a migration cannot write.
      const progressFile = found.file.replace(/ndjson$/, 'progress')
      const steps = readFileSync(progressFile, 'utf8').trimEnd().split('\n')
      const kept = steps.filter(step => !('withAuxData' in JSON.parse(step)))
      expect(steps.length - kept.length).toBe(accounts)
      const { locator } = kept.map(step => JSON.parse(step)).find(step => step.account === someone)
      const path = `/auxData/${locator}/crm.id`
      const moved = await signIn(service().origin, {
        username,
        password,
        hostName: 'moved.co.local.bindery.test',
      })
      expect(await moved.call('GET', path)).toMatchObject(secret[0]!)
      await moved.call('DELETE', path)
      writeFileSync(progressFile, `${kept.join('\n')}\n{"withAux`)
      expect((await said()).exit).toBe(exit)
      expect(await moved.call('GET', path)).toMatchObject(secret[0]!)
      // As if the file with the progress had been lost.
      await moved.call('DELETE', path)
      rmSync(progressFile)
      const lost = await said()
      expect(lost.found).toMatchObject({ accounts: 0, present: accounts, failed: 0, differing: 0 })
      expect([lost.exit, lost.found.compared, lost.found.notCompared]).toEqual([exit, issued, 0])
      expect(lost.found.controlTotals).toEqual(found.controlTotals)
      expect(await moved.call('GET', path)).toMatchObject(secret[0]!)
      // An export that was changed, and a folder that is not an export.
      writeFileSync(join(from, 'policies.ndjson'), records('policies').slice(1).join('\n'))
      expect((await as('importer')('import', from)).err).toContain('differs from export.json')
      expect((await as('importer')('import', folder)).err).toContain('has no export.json')
    })

    test('events tail prints past events, and new ones as they happen', async () => {
      await as('all', { input: 'password' })('login', '--tenant', TENANT, '--user', 'alice')
      const { exit, out } = await administrator('events', 'tail', '--since', '1h', '--once', '--json')
      expect(exit).toBe(0)
      const types = out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).type)
      expect(types.slice(0, 1)).toEqual(['login.success'])
      expect(types).toContain('policy.create')

      const interruption = new AbortController()
      let output = ''
      let isAsked = false
      const tail = as('all', {
        interrupted: interruption.signal,
        heard: text => {
          output += text
          if (output.includes('policyholder.create')) interruption.abort()
        },
      })('events', 'tail', '--type', 'policyholder.create')
      const agent = await tenantUser()
      // The tail does not print what was created before it began. Policyholders are created until it prints one.
      const making = (async () => {
        while (!interruption.signal.aborted) {
          isAsked = true
          await agent.call('POST', '/policyholder/create', { values: { last_name: 'Berg' } })
        }
      })()
      expect((await tail).exit).toBe(0)
      await making
      expect(isAsked).toBe(true)
      expect(output).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}policyholder\.create .* by alice\n/)
    })

    test('deploy --watch deploys again after each change of a file, and shows the error of one that does not parse', async () => {
      const interruption = new AbortController()
      const versions: string[] = []
      let heard = ''
      /** As editors save: the new text goes to a file next to it, which is then renamed. */
      const replace = (text: string): void => {
        writeFileSync(`${policyFile}.new`, text)
        renameSync(`${policyFile}.new`, policyFile)
      }
      const original = readFileSync(policyFile, 'utf8')
      const changes = [
        () => change(policyFile, 'Every month', 'Month by month'),
        () => replace(original.replace('Every month', 'Each month')),
        () => replace(original.slice(0, -20)),
        () => replace(original.replace('Every month', 'Monthly')),
        () => interruption.abort(),
      ]
      const watching = as('all', {
        interrupted: interruption.signal,
        heard: text => {
          versions.push(...[...text.matchAll(/Deployed version (\d+)/g)].map(([, version]) => version!))
          heard += text
          if (text.startsWith('Watching ')) changes.shift()?.()
        },
      })('deploy', configuration, '--tenant', TENANT, '--watch')
      const { exit, out } = await watching
      expect(exit).toBe(0)
      expect(versions).toEqual(['2', '3', '4', '5'])
      expect(heard.split('Watching ')).toHaveLength(6)
      expect(out).toMatch(/policy\.json:\d+:\d+ {2}error {2}badSyntax\n.*\n\nNot deployed: 1 error/)
      expect((await administrator('deploy', '.', '--tenant', 'x', '--watch', '--production')).exit).toBe(2)
    })

    describe('migrate', () => {
      const values = workedPolicies()[0]!.request.policyholder.values as object
      const good = { accountData: { id: 'GOOD', data: values } }
      const bad = {
        accountData: { id: 'BAD', data: values },
        policies: [{ id: 'P1', productName: 'no_such_product', terms: [] }],
      }
      const fileOf = (name: string, accounts: object[]): string => {
        const file = join(folder, name)
        writeFileSync(file, JSON.stringify(accounts))
        return file
      }
      const migrating = (options: RunOptions = {}) => as('motor', options)

      beforeAll(async () => {
        const { hostname } = service().example()
        const { exit, err } = await migrating({ input: 'password' })(
          ...['login', service().origin, '--tenant', hostname, '--user', 'anna.admin'],
        )
        expect([exit, err]).toEqual([0, ''])
      })

      test('--validate-only checks everything and writes nothing', async () => {
        const file = fileOf('good.json', [good])
        const { exit, out } = await migrating()('migrate', file, '--validate-only')
        expect(out).toBe('1 account checked; nothing was written\n')
        expect(exit).toBe(0)
      })

      test('lists what fails by account and item, and migrates the other accounts', async () => {
        const { exit, out, err } = await migrating()('migrate', fileOf('both.json', [good, bad]))
        expect(err).toMatch(/^Migration [0-9a-f-]{36}\n\[/)
        expect(err).toContain('2/2 accounts')
        expect(out).toContain('account BAD policies P1\n  P1')
        expect(out).toContain('no_such_product')
        expect(out).toMatch(/1 of 2 accounts failed\. Correct them with PATCH …/)
        expect(exit).toBe(1)
      })

      test('Ctrl-C leaves the migration running and prints how to follow it', async () => {
        const interruption = new AbortController()
        const accounts = Array.from({ length: 50 }, (_, at) => ({
          accountData: { id: `A${at}`, data: values },
        }))
        const left = await migrating({
          interrupted: interruption.signal,
          heard: text => text.startsWith('Migration ') && interruption.abort(),
        })('migrate', fileOf('fifty.json', accounts))
        expect(left.exit).toBe(130)
        const [, locator] = /npx bindery migrate --follow ([0-9a-f-]{36})\n$/.exec(left.err)!
        const back = await migrating()('migrate', '--follow', locator!, '--json')
        expect(JSON.parse(back.out)).toMatchObject({
          ok: true,
          migration: { locator, migrationState: 'finished', totalAccounts: 50, processedAccounts: 50 },
        })
        expect(back.exit).toBe(0)
      })

      test('an account without the permission migration.write exits with 4', async () => {
        const { exit, err } = await administrator('migrate', fileOf('good.json', [good]))
        expect(err).toContain('migration.write')
        expect(exit).toBe(4)
      })
    })

    test('a long-lived token signs in, from a pipe or from the environment', async () => {
      const { token: session } = await service().administration()
      const response = await fetch(`${service().origin}/auth/users/tokens`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          name: 'pipeline',
          expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
          permissions: ['deployments.deploy', 'deployments.read'],
          tenants: ['type:test'],
        }),
      })
      const text = await response.text()
      const token = /bdy_[0-9A-Za-z]+/.exec(text)![0]
      const deploying = ['deploy', configuration, '--tenant', TENANT, '--json']
      expect((await as('token', { input: token })('login', service().origin, '--token')).exit).toBe(0)
      expect(JSON.parse((await as('token')(...deploying)).out)).toMatchObject({ ok: true, version: '6' })
      const env = { BINDERY_URL: service().origin, BINDERY_TOKEN: token }
      expect(JSON.parse((await as('nobody', { env })(...deploying)).out)).toMatchObject({
        ok: true,
        version: '7',
      })
      const mistyped = await as('nobody', { input: `${token}x` })('login', service().origin, '--token')
      expect(mistyped.err).toContain('It was truncated or mistyped')
      expect(mistyped.exit).toBe(2)
    })

    test('a service that does not answer is reported with its address, with exit code 3', async () => {
      const address = `http://localhost:${await freePort()}`
      const { exit, err } = await as('nowhere', { input: 'x' })('login', address)
      expect(err).toContain(`${address} does not respond (ECONNREFUSED)`)
      expect(exit).toBe(3)
    })

    test("npx runs bindery inside the package, and from another folder by the package's path", async () => {
      const npx = promisify(execFile)
      const env = {
        ...process.env,
        npm_config_cache: join(folder, 'npm'),
        npm_config_offline: 'true',
        // Without a terminal there is no colour, even if CI is set.
        CI: 'true',
      }
      const here = process.cwd()
      const summary = '0 errors, 0 warnings: private_motor with 3 exposures, 7 perils; 6 scripts\n'
      const inside = await npx('npx', ['bindery', 'check', 'examples/motor'], { env })
      const beside = await npx('npx', [here, 'check', join(here, 'examples/motor')], { env, cwd: folder })
      expect([inside.stdout, beside.stdout]).toEqual([summary, summary])
    })
  })
}
