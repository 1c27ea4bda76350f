// Runs two versions of the service simultaneously, as during the rollout of a deploy: a Worker of each, and the objects, all in
// separate isolates. They share only databases, buckets, queues and what calls between them carry.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from 'miniflare'
import { unstable_getMiniflareWorkerOptions } from 'wrangler'
import { prepareAdministrator } from '../../../scripts/administrator.ts'
import { openLocalDatabases } from '../../../scripts/local-databases.ts'
import { migrationFiles } from '../../../scripts/migration-files.ts'
import { readPool } from '../../../scripts/pool-file.ts'
import { prepareControl, registerQueries } from '../../../scripts/prepare-databases.ts'
import { newTokenKeys } from '../../../scripts/token-key.ts'
import { CONFIG_FILE } from '../../../scripts/write-config.ts'
import { migrate, REQUIRED_TENANT_MIGRATION } from '../../../src/platform/database/migrations.ts'
import type { Version } from './bundle.ts'

export type Side = 'old' | 'new'

/** The version of the objects, and the version whose Worker consumes the queues. */
export type Mix = { readonly objects: Side; readonly queues: Side }

export type TwoVersions = {
  readonly administrator: { readonly username: string; readonly password: string }
  /** Origin of the Worker of each version. */
  origin(worker: Side): string
  /** Restarts all isolates in the new mix. Storage remains. */
  become(mix: Mix): Promise<void>
  readonly dataFolder: string
  close(): Promise<void>
}

/** The Worker that hosts the objects. Their storage depends on its name, so both versions find the same objects. */
const OBJECTS = 'objects'

/** Enough for a test with a few tenants. */
const FREE_DATABASES = 4

/** Starts both, on databases with the migrations that this version requires. These are applied before a deploy. */
export async function startTwoVersions(versions: Record<Side, Version>, mix: Mix): Promise<TwoVersions> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'bindery-versions-'))
  const administrator = { username: 'administrator', password: 'correct horse battery staple' }
  const secrets = {
    TOKEN_KEYS: newTokenKeys(),
    TOKEN_SECRET: randomBytes(32).toString('base64url'),
    PASSWORD_PEPPER: randomBytes(32).toString('base64url'),
    SEALING_KEY: randomBytes(32).toString('base64url'),
  }
  const databases = openLocalDatabases(dataFolder)
  await prepareControl(databases.control)
  const needed = (await migrationFiles('tenant')).filter(({ name }) => name <= REQUIRED_TENANT_MIGRATION)
  const pool = readPool()
    .filter(({ place }) => place === '')
    .slice(0, FREE_DATABASES)
  for (const { binding } of pool) await migrate(databases.target(binding), needed)
  await databases.control.execute(registerQueries(pool, REQUIRED_TENANT_MIGRATION))
  await prepareAdministrator(databases.control, secrets.PASSWORD_PEPPER, administrator, true)
  await databases.close()

  const { workerOptions } = unstable_getMiniflareWorkerOptions(CONFIG_FILE)
  const { durableObjects = {}, queueConsumers, bindings, ...stores } = workerOptions as V4WorkerOptions
  const common = {
    ...stores,
    bindings: { ...bindings, ...secrets, PLUGIN_RUNNER: 'isolate', TRUSTED_PROXIES: '', REQUEST_LOG: 'off' },
  }
  const elsewhere = Object.fromEntries(
    Object.entries(durableObjects).map(([binding, one]) => [
      binding,
      { className: typeof one === 'string' ? one : one.className, scriptName: OBJECTS },
    ]),
  )
  const options = ({ objects, queues }: Mix) => {
    const worker = (side: Side): V4WorkerOptions => ({
      ...common,
      name: side,
      modules: versions[side],
      modulesRoot: '/version',
      durableObjects: elsewhere,
      ...(queues === side && { queueConsumers }),
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    })
    const hosting: V4WorkerOptions = {
      ...common,
      name: OBJECTS,
      modules: versions[objects],
      modulesRoot: '/version',
      durableObjects,
    }
    return convertV4MiniflareOptions({
      resourcePersistencePath: join(dataFolder, 'v3'),
      handleStructuredLogs: () => undefined,
      log: new Log(LogLevel.NONE),
      workers: [worker('new'), worker('old'), hosting],
    })
  }

  const runtime = new Miniflare(options(mix))
  const origins = new Map<Side, string>()
  const find = async (): Promise<void> => {
    await runtime.ready
    for (const side of ['old', 'new'] as const)
      origins.set(side, (await runtime.unsafeGetDirectURL(side)).origin)
  }
  const close = async (): Promise<void> => {
    await runtime.dispose()
    rmSync(dataFolder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await find()
  } catch (problem) {
    await close()
    throw problem
  }
  return {
    administrator,
    dataFolder,
    origin: worker => origins.get(worker)!,
    async become(next) {
      await runtime.setOptions(options(next))
      await find()
    },
    close,
  }
}
