// The stores of the service, reached from outside it: the local ones are the files that `npm start` serves.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bindingTarget, type MigrationTarget } from '../src/platform/database/target.ts'
import { prepareDataFolder } from './data-folder.ts'
import type { Environment } from './environments.ts'
import { replaceFile } from './replace-file.ts'
import { joinedConfig, storesConfig } from './write-config.ts'

export type Stores = {
  env: Env
  /** A bound database, to migrate. */
  target(binding: string): MigrationTarget
  close(): Promise<void>
}

/** An Error where the data folder has no databases yet, rather than to make empty ones without tables. */
export function requireStarted(dataFolder: string): void {
  if (!existsSync(join(dataFolder, 'v3')))
    throw new Error(
      `There are no databases in ${dataFolder} yet: npm start makes them (BINDERY_DATA names another folder).`,
    )
}

/** Opens the stores: those in the data folder, or those of an environment at the provider; with `control`, of databases that one alone. */
export async function openStores(
  dataFolder: string,
  environment?: Environment,
  which: 'all' | 'control' = 'all',
): Promise<Stores> {
  prepareDataFolder(dataFolder)
  const config = storesConfig(joinedConfig(environment), which)
  const opened = environment
    ? await openRemoteStores(config, join(dataFolder, `stores.${environment.name}.toml`))
    : await openLocalStores(config, join(dataFolder, 'v3'))
  const bound = opened.env as unknown as Record<string, D1Database | undefined>
  return {
    env: opened.env,
    target(binding) {
      const client = bound[binding]
      if (!client) throw new Error(`${binding} is not bound.`)
      return bindingTarget(binding, client)
    },
    close: opened.dispose,
  }
}

type OpenStores = { env: Env; dispose(): Promise<void> }

async function openRemoteStores(config: string, configPath: string): Promise<OpenStores> {
  replaceFile(configPath, config)
  // Takes a second to load: not before something is to be seen.
  const { getPlatformProxy } = await import('wrangler')
  return await getPlatformProxy<Env>({ configPath, remoteBindings: true })
}

/** Opens the files in the folder as the stores that the configuration binds, by the runtime alone. */
export async function openLocalStores(config: string, folder: string): Promise<OpenStores> {
  const { convertV4MiniflareOptions, Miniflare } = await import('miniflare')
  const sections = config.split(/^(?=\[)/m).map(section => ({
    header: /^\[+(\w+)/.exec(section)?.[1],
    values: Object.fromEntries(
      [...section.matchAll(/^(\w+) = "([^"]*)"/gm)].map(([, key, value]) => [key!, value!]),
    ),
  }))
  const stores = (header: string, id: string) =>
    Object.fromEntries(
      sections
        .filter(section => section.header === header)
        .map(({ values }) => [values.binding!, { id: values[id]! }]),
    )
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: resolve(folder),
      cf: false,
      telemetry: { enabled: false },
      workers: [
        {
          name: 'stores',
          modules: true,
          script: 'export default {}',
          bindings: sections.find(({ header }) => header === 'vars')?.values ?? {},
          d1Databases: stores('d1_databases', 'database_id'),
          r2Buckets: stores('r2_buckets', 'bucket_name'),
        },
      ],
    }),
  )
  return { env: await runtime.getBindings<Env>(), dispose: () => runtime.dispose() }
}
