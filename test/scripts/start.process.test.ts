import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'
import { describeCommandLine } from '../cli/against-service.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

const run = promisify(execFile)

let service: ServiceProcess
beforeAll(async () => {
  service = await startServiceProcess()
})
afterAll(() => service.remove())

const health = async (): Promise<number> => (await fetch(`${service.origin}/health`)).status

/** The blocks of code of a page. */
const codeOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^```\w*\n(.*?)^```$/gms)].map(match => match[1]!)

describe('npm start', () => {
  test('says what it is doing, and what to do next', () => {
    const output = service.output()
    expect(output).toContain('making the databases')
    expect(output).toContain('64 of 64 tenant databases')
    expect(output).toContain('deploying examples/motor')
    expect(output).toContain(`${service.origin}/docs`)
    expect(output).toContain(service.example().hostname)
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

  test('npm run demo finds every figure right', async () => {
    const { stdout } = await run(process.execPath, ['scripts/demo.ts'], {
      env: { ...process.env, BASE_URL: service.origin, BINDERY_DATA: service.dataFolder },
    })
    expect(stdout).toMatch(/All \d+ figures are right\./)
  })

  test('tenants are made, grown, migrated and deleted beside it', async () => {
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
    expect(await command('tenant', 'show', 'growing')).toMatch(/^shards +TENANT_\d+ TENANT_\d+ TENANT_\d+$/m)
    expect(await command('tenant', 'migrate', 'growing')).toContain('3 of 3 tenant databases')
    expect(await command('tenant', 'delete', 'growing')).toContain('Nothing was deleted.')
    expect(await command('tenant', 'delete', 'growing', '--yes')).toContain('growing is deleted')
    expect(await command('migrate')).toContain('all databases are up to date')
  })

  test('the example of docs/client.md prints what the page says, with the client as packages have it', async () => {
    await run(process.execPath, ['scripts/client.ts', '--build'])
    const [example, printed] = codeOf('docs/client.md')
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', example!], {
      env: { ...process.env, BASE_URL: service.origin, TENANT_HOST: service.example().hostname },
    })
    expect(stdout).toBe(printed)
  })

  test('a port that another program has is named', async () => {
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

  test('answers are compressed, as they are at the edge', async () => {
    const { headers } = await fetch(`${service.origin}/openapi.json`, {
      headers: { 'accept-encoding': 'gzip' },
    })
    expect(headers.get('content-encoding')).toBe('gzip')
    const plain = await fetch(`${service.origin}/openapi.json`, {
      headers: { 'accept-encoding': 'identity' },
    })
    expect(plain.headers.get('content-encoding')).toBeNull()
  })

  test('a second start on the same data is refused while the first runs', async () => {
    const failure = await run(process.execPath, ['scripts/start.ts'], {
      env: { ...process.env, PORT: String(await freePort()), BINDERY_DATA: service.dataFolder },
    }).catch((error: { stderr: string }) => error)
    expect(failure.stderr).toContain('runs on')
    expect(await health()).toBe(200)
  })
})

describeCommandLine(() => service)

describe('starting again', () => {
  test('after a stop, all data is there and the example is not deployed again', async () => {
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

  test('after kill -9 of the launcher, the service that it left does not keep the port', async () => {
    await service.kill9Launcher()
    expect(await health()).toBe(200)
    await service.start()
    expect(service.output()).toContain('ended a service that a crash had left running')
    expect(await health()).toBe(200)
  })

  test('after kill -9 of all of it', async () => {
    await service.kill9()
    await service.start()
    expect(await health()).toBe(200)
  })
})
