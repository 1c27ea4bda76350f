// Runs a Worker of the account as the provider does: with the configuration and secrets that it was deployed with, on the
// account's databases, buckets and queues. Its code is built once, from this checkout.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from 'miniflare'
import { unstable_getMiniflareWorkerOptions } from 'wrangler'
import { type Version, versionOf } from '../versions/bundle.ts'
import { readAccount } from './account.ts'

export type RunningWorker = {
  /** Calls it at the host where it was deployed. */
  fetch(
    path: string,
    init?: { method?: string; headers?: Record<string, string>; body?: string | ArrayBuffer },
  ): Promise<Response>
  /** Does what the provider's cron trigger does each minute. */
  housekeep(): Promise<void>
  close(): Promise<void>
}

let built: Promise<Version> | undefined

/** Runs the latest version deployed under the name. Its outgoing requests go to `outside`. */
export async function runDeployed(
  accountFolder: string,
  name: string,
  outside: (request: Request) => Promise<Response>,
): Promise<RunningWorker> {
  const { versions, domains } = readAccount(accountFolder).workers[name]!
  const { config, secrets } = versions.at(-1)!
  const file = join(accountFolder, `${name}.toml`)
  // Without `main`, the configuration may not have `run_worker_first` either.
  writeFileSync(file, config.replace(/^(?:main|run_worker_first) = .*\n/gm, ''))
  const { workerOptions } = unstable_getMiniflareWorkerOptions(file)
  // The static files of the reference are not tested here.
  const { bindings, assets: _, ...stores } = workerOptions as V4WorkerOptions
  built ??= versionOf(process.cwd())
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: join(accountFolder, 'v3'),
      handleStructuredLogs: () => undefined,
      log: new Log(LogLevel.NONE),
      workers: [
        {
          ...stores,
          name,
          modules: await built,
          modulesRoot: '/version',
          bindings: { ...bindings, ...secrets, REQUEST_LOG: 'off' },
          outboundService: outside as never,
        },
      ],
    }),
  )
  await runtime.ready
  return {
    fetch: async (path, init) =>
      (await runtime.dispatchFetch(`https://${domains[0]}${path}`, init as never)) as unknown as Response,
    async housekeep() {
      const worker = (await runtime.getWorker()) as unknown as { scheduled(about: object): Promise<unknown> }
      await worker.scheduled({ cron: '* * * * *' })
    },
    close: () => runtime.dispose(),
  }
}
