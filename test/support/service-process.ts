// The service as a separate process, started as `npm start` starts it, on a free port, with a data folder that exists as long as
// the test. For `process` tests, on Node.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import {
  type DeployedExample,
  deployedExample,
  deployTestTenant,
  testUsers,
  zipOf,
} from '../../scripts/example.ts'
import { freePort } from '../../scripts/free-port.ts'
import { notedService } from '../../scripts/service.ts'

export const PROCESS_ADMINISTRATOR = { username: 'administrator', password: 'correct horse battery staple' }

/** A running service with a tenant. */
export type Service = {
  origin: string
  /** The tenant of examples/motor. */
  example(): DeployedExample
  /** Signs in to the example's tenant as its first test user with the role. */
  signInAs(role: string): Promise<ApiClient>
  /** Signs in as the administration account. */
  administration(): Promise<ApiClient>
  /** Stops the service if it is running, and removes its data. */
  remove(): Promise<void>
}

export type ServiceProcess = Service & {
  dataFolder: string
  /** Everything that it has printed, over all starts. */
  output(): string
  /** Sends `kill -9` to the service and to the process that started it. */
  kill9(): Promise<void>
  /** Sends `kill -9` only to the process that started the service. The service continues to run. */
  kill9Launcher(): Promise<void>
  /** Starts again on the same data and port. Resolves when the service responds. */
  start(): Promise<void>
  /** Sends SIGTERM, which ends the service as Ctrl+C does. Returns the exit code. */
  stop(): Promise<number | null>
}

const MOTOR = (): Blob => new Blob([zipOf('examples/motor/configuration')])

const newDataFolder = (): string => mkdtempSync(join(tmpdir(), 'bindery-data-'))

/** Starts a service with the example deployed, as after a first start. Resolves when the service responds. */
export function startServiceProcess(data = inject('dataOfFirstStart')): Promise<ServiceProcess> {
  const dataFolder = newDataFolder()
  cpSync(data, dataFolder, { recursive: true })
  return serviceProcess('.', dataFolder)
}

/** One service for all files that only call it and leave its example unchanged. */
export async function sharedService(): Promise<Service> {
  const answer = await fetch(inject('sharedServiceAt'))
  if (!answer.ok) throw new Error(await answer.text())
  const { origin, dataFolder } = (await answer.json()) as { origin: string; dataFolder: string }
  const example = deployedExample(dataFolder)!
  return {
    origin,
    example: () => example,
    remove: async () => {},
    signInAs: role => signInTo(origin, example, role),
    administration: () => signIn(origin, PROCESS_ADMINISTRATOR),
  }
}

/** The shared service, with a separate tenant for the file instead of the example's. By default also of examples/motor. */
export async function sharedTenant(archive = MOTOR): Promise<Service> {
  // Screenshots show the name of the tenant that a first start creates.
  if (process.env.BINDERY_SCREENSHOTS) return startServiceProcess()
  const service = await sharedService()
  const suffix = `motor-${randomUUID().slice(0, 8)}`
  const example = await deployTestTenant(await service.administration(), suffix, archive())
  return {
    ...service,
    example: () => example,
    signInAs: role => signInTo(service.origin, example, role),
  }
}

function signInTo(origin: string, { hostname }: DeployedExample, role: string): Promise<ApiClient> {
  const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
  return signIn(origin, { username, password, hostName: hostname })
}

/** Makes a first start in that checkout. Resolves when the example is deployed and the service responds. */
export const startFirst = (checkout: string): Promise<ServiceProcess> =>
  serviceProcess(checkout, newDataFolder())

async function serviceProcess(checkout: string, dataFolder: string): Promise<ServiceProcess> {
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const printed: string[] = []
  let launcher: ChildProcess | undefined

  const ended = async (): Promise<number | null> => {
    const running = launcher
    if (running && running.exitCode === null && running.signalCode === null) await once(running, 'exit')
    launcher = undefined
    return running?.exitCode ?? null
  }

  const service: ServiceProcess = {
    origin,
    dataFolder,
    output: () => printed.join(''),
    example() {
      const example = deployedExample(dataFolder)
      if (!example) throw new Error(`No example is deployed:\n${service.output()}`)
      return example
    },
    signInAs: role => signInTo(origin, service.example(), role),
    administration: () => signIn(origin, PROCESS_ADMINISTRATOR),
    async kill9() {
      const group = notedService(dataFolder)?.group
      launcher?.kill('SIGKILL')
      if (group !== undefined) process.kill(-group, 'SIGKILL')
      await ended()
      while (group !== undefined && isAlive(group)) await sleep(20)
    },
    async kill9Launcher() {
      launcher?.kill('SIGKILL')
      await ended()
    },
    async start() {
      const child = spawn(process.execPath, ['scripts/start.ts'], {
        stdio: ['ignore', 'pipe', 'pipe'],
        cwd: checkout,
        env: {
          ...process.env,
          PORT: String(port),
          BINDERY_DATA: dataFolder,
          ADMIN_USERNAME: PROCESS_ADMINISTRATOR.username,
          // The account keeps its password. Checking it again would take a tenth of each later start.
          ...(!deployedExample(dataFolder) && { ADMIN_PASSWORD: PROCESS_ADMINISTRATOR.password }),
        },
      })
      launcher = child
      let text = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString()
          printed.push(chunk.toString())
        })
      while (!text.includes('Bindery answers on')) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`The service did not start:\n${text}`)
        await sleep(50)
      }
    },
    async stop() {
      launcher?.kill('SIGTERM')
      return ended()
    },
    async remove() {
      if (launcher) await service.kill9()
      const left = notedService(dataFolder)?.group
      if (left !== undefined && isAlive(left)) process.kill(-left, 'SIGKILL')
      rmSync(dataFolder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  await service.start().catch(async (error: unknown) => {
    await service.remove()
    throw error
  })
  return service
}

/** Whether the process group has a member. */
function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}
