import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyCheckout } from '../../scripts/checkout-copy.ts'
import { consoleModule } from '../../scripts/console-page.ts'
import { freePort } from '../../scripts/free-port.ts'
import { openLocalDatabases } from '../../scripts/local-databases.ts'
import { KEPT_IN } from '../../scripts/source-key.ts'
import { describeCommandLine } from '../cli/against-service.ts'
import { type ServiceProcess, startFirst } from '../support/service-process.ts'

const run = promisify(execFile)

// A separate checkout, so that commands which write to it meet only this service.
const checkout = copyCheckout()
let service: ServiceProcess
const workers = (): string[] => readdirSync(KEPT_IN).filter(name => name.startsWith('worker-'))
let built: string[]
beforeAll(async () => {
  built = workers()
  service = await startFirst(checkout)
})
afterAll(async () => {
  await service.remove()
  rmSync(checkout, { recursive: true })
})

const health = async (): Promise<number> => (await fetch(`${service.origin}/health`)).status

/** The code blocks of a page. */
const codeOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^```\w*\n(.*?)^```$/gms)].map(match => match[1]!)

/** Every file of the checkout with its time, except packages and data. */
const checkoutFiles = (): string[] =>
  readdirSync(checkout, { recursive: true, encoding: 'utf8' })
    .filter(path => !path.startsWith('node_modules') && statSync(join(checkout, path)).isFile())
    .map(path => `${path} ${statSync(join(checkout, path)).mtimeMs}`)

describe('npm start', () => {
  test('prints what it does, and what to do next', () => {
    const output = service.output()
    expect(output).toContain('creating the databases')
    expect(output).toContain('64 of 64 tenant databases')
    expect(output).toContain('deploying examples/motor')
    expect(output).toContain(`${service.origin}/docs`)
    expect(output).toContain(service.example().hostname)
    // Secrets appear only in their file.
    expect(output).not.toMatch(/secret\.|"crv"/)
  })

  test('uses the Worker that was built from the same sources, even in another folder', () => {
    expect(built.length).toBeGreaterThan(0)
    expect(workers()).toEqual(built)
  })

  test('prints three lines that work when pasted', async () => {
    const lines = service
      .output()
      .split('\n')
      .filter(line => line.startsWith('curl -s ') || line.startsWith('TOKEN='))
    expect(lines).toHaveLength(3)
    const [signedIn, holder, policy] = await Promise.all(
      lines.map(async line => JSON.parse((await run('bash', ['-c', line])).stdout)),
    )
    expect(signedIn.authorizationToken).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(holder.locator).toMatch(/^[0-9a-f-]{36}$/)
    expect(policy.locator).toMatch(/^\d{9,}$/)
  })

  test('serves npm run demo, which finds every figure right', async () => {
    const { stdout } = await run(process.execPath, ['scripts/demo.ts'], {
      env: { ...process.env, BASE_URL: service.origin, BINDERY_DATA: service.dataFolder },
    })
    expect(stdout).toMatch(/All \d+ figures are correct\./)
  })

  test('is suggested by npm run demo, with the address that it tried, when no service responds', async () => {
    const origin = `http://localhost:${await freePort()}`
    const failure = await run(process.execPath, ['scripts/demo.ts'], {
      env: { ...process.env, BASE_URL: origin, BINDERY_DATA: service.dataFolder },
    }).catch((error: { stderr: string }) => error)
    expect(failure.stderr).toBe(
      `demo: No service responds at ${origin} (ECONNREFUSED). Start it with \`npm start\`, or set BASE_URL to the address of a running service.\n`,
    )
  })

  test('keeps running while tenants are created, grown, migrated and deleted', async () => {
    const environment = { ...process.env, BINDERY_DATA: service.dataFolder }
    const command = async (script: string, ...words: string[]): Promise<string> => {
      const ended = run(process.execPath, [`scripts/${script}.ts`, ...words], { env: environment })
      const { stdout, stderr } = await ended.catch((failed: { stdout: string; stderr: string }) => failed)
      return stdout + stderr
    }
    expect(await command('tenant', 'create', 'growing', '--type', 'production')).toContain(
      'growing.co.local.bindery.test',
    )
    expect(await command('tenant', 'shards', 'growing', '3')).toContain('growing has 3 databases')
    expect(await command('tenant', 'show', 'growing')).toMatch(
      /^databases +TENANT_\d+ TENANT_\d+ TENANT_\d+$/m,
    )
    expect(await command('tenant', 'migrate', 'growing')).toContain(
      'the 3 databases of growing are up to date',
    )
    expect(await command('tenant', 'delete', 'growing')).toContain('Nothing was deleted.')
    expect(await command('tenant', 'delete', 'growing', '--yes')).toContain('growing is deleted')
    expect(await command('migrate')).toContain('all databases are up to date')
  })

  test('creates all databases of the pool, so that a new tenant finds a free one', async () => {
    const databases = openLocalDatabases(service.dataFolder)
    const [counted] = await databases.control.query(
      `select count(*) as free from pool_database where state = 'free'`,
    )
    await databases.close()
    expect(counted!.free).toBeGreaterThan(50)
    const { stdout } = await run(process.execPath, ['scripts/tenant.ts', 'create', 'ninth'], {
      env: { ...process.env, BINDERY_DATA: service.dataFolder },
    })
    expect(stdout).toContain('ninth.co.local.bindery.test')
  })

  test('is not interrupted by npm run config, pool grow and deploy --dry-run in its checkout', async () => {
    const answers: number[] = []
    let isOver = false
    const watching = (async () => {
      for (; !isOver; await sleep(25)) answers.push(await health().catch(() => 0))
    })()
    const environment = { ...process.env, BINDERY_DATA: service.dataFolder }
    const command = (...words: string[]) =>
      run(process.execPath, words, { cwd: checkout, env: environment }).catch(
        (failed: { stderr: string }) => failed,
      )
    const settings = join(checkout, 'wrangler.toml')
    const unedited = readFileSync(settings)
    try {
      const before = checkoutFiles()
      const dry = await command(
        ...['scripts/deploy.ts', '--dry-run', '--environment', 'eu1'],
        ...['--domain', 'example.com', '--location', 'weur'],
      )
      expect(dry).toMatchObject({
        stdout: expect.stringContaining('the Worker builds; nothing was changed'),
      })
      expect(checkoutFiles()).toEqual(before)
      // As after an edit: all generated files are written again.
      appendFileSync(settings, '\n# edited\n')
      rmSync(join(checkout, 'src/route-index.mjs'))
      rmSync(join(checkout, 'src/bundles/patterns.bundle.mjs'))
      for (const script of ['write-config', 'route-index', 'bundles'])
        expect(await command(`scripts/${script}.ts`)).not.toHaveProperty('code')
      // The same in every folder, so that the Worker is built once for all checkouts that use these packages.
      expect(readFileSync(join(checkout, 'src/bundles/console.bundle.mjs'), 'utf8')).toBe(
        await consoleModule(),
      )
      expect(await command('scripts/pool.ts', 'grow', '2')).toMatchObject({
        stdout: expect.stringContaining('2 databases were added and are free'),
      })
    } finally {
      isOver = true
      await watching
      // Later starts use the Worker that is already built.
      writeFileSync(settings, unedited)
    }
    expect(answers.length).toBeGreaterThan(20)
    expect(new Set(answers)).toEqual(new Set([200]))
  })

  test.each([
    [
      'a data folder that is a file',
      { BINDERY_DATA: 'package.json' },
      /The data folder \S+ cannot be used: .*\n$/,
    ],
    [
      'a password that is too short',
      { ADMIN_PASSWORD: 'short' },
      /ADMIN_PASSWORD must have at least 12 characters\..*\n$/,
    ],
  ])('rejects %s in one line', async (_, environment, line) => {
    const failure = await run(process.execPath, ['scripts/start.ts'], {
      cwd: checkout,
      env: {
        ...process.env,
        PORT: String(await freePort()),
        BINDERY_DATA: `${service.dataFolder}/refused`,
        ...environment,
      },
    }).catch((error: { code: number; stderr: string }) => error)
    expect(failure).toMatchObject({ code: 1, stderr: expect.stringMatching(line) })
    expect(failure.stderr.split('\n')).toHaveLength(2)
  })

  test('serves the example of docs/client.md, whose output with the packaged client is that on the page', async () => {
    await run(process.execPath, ['scripts/client.ts', '--build'])
    const [, example, printed] = codeOf('docs/client.md')
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', example!], {
      env: { ...process.env, BASE_URL: service.origin, TENANT_HOST: service.example().hostname },
    })
    expect(stdout).toBe(printed)
  })

  test('names a port that another program uses', async () => {
    const port = await freePort()
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    const child = spawn(process.execPath, ['scripts/start.ts'], {
      env: { ...process.env, PORT: String(port), BINDERY_DATA: `${service.dataFolder}/other` },
    })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    const [code] = await once(child, 'exit')
    other.close()
    expect(code).toBe(1)
    expect(said).toContain(`Port ${port} is in use by another program.`)
  })

  test('compresses responses, as the edge does', async () => {
    const { headers } = await fetch(`${service.origin}/openapi.json`, {
      headers: { 'accept-encoding': 'gzip' },
    })
    expect(headers.get('content-encoding')).toBe('gzip')
    const plain = await fetch(`${service.origin}/openapi.json`, {
      headers: { 'accept-encoding': 'identity' },
    })
    expect(plain.headers.get('content-encoding')).toBeNull()
  })

  test('is rejected while another service runs on the same data', async () => {
    const failure = await run(process.execPath, ['scripts/start.ts'], {
      env: { ...process.env, PORT: String(await freePort()), BINDERY_DATA: service.dataFolder },
    }).catch((error: { stderr: string }) => error)
    expect(failure.stderr).toContain('is already running on')
    expect(await health()).toBe(200)
  })
})

describeCommandLine(() => service)

describe('Starting again', () => {
  test('after a stop keeps all data and does not deploy the example again', async () => {
    const before = service.example()
    const agent = await service.signInAs('agent')
    const { locator } = await agent.call<{ locator: string }>('POST', '/policyholder/create', {
      values: { last_name: 'Keller' },
    })
    expect(await service.stop()).toBe(0)
    const printed = service.output().length
    await service.start()
    expect(service.output().slice(printed)).not.toContain('deploying examples/motor')
    expect(service.example()).toEqual(before)
    const again = await service.signInAs('agent')
    expect(await again.call('GET', `/policyholder/${locator}`)).toMatchObject({ locator })
  })

  test('after kill -9 of the launcher ends the service that it left, which had the port', async () => {
    await service.kill9Launcher()
    expect(await health()).toBe(200)
    await service.start()
    expect(service.output()).toContain('stopped a service that was left running after a crash')
    expect(await health()).toBe(200)
  })

  test('works after kill -9 of all processes', async () => {
    await service.kill9()
    await service.start()
    expect(await health()).toBe(200)
  })
})
