// Before process tests, builds what each start would build and makes one first start, which takes three times as long as later
// ones. Tests begin with copies of its data (service-process.ts). A service that files can share starts when the first of them
// requests it.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { refreshGenerated } from '../../scripts/generated.ts'
import { buildWorker } from '../../scripts/worker-build.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { KEPT_OPEN } from './kept-open.ts'
import { type ServiceProcess, startFirst, startServiceProcess } from './service-process.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The data folder of a stopped service that was started once, with the example. */
    dataOfFirstStart: string
    /** Address of a server that starts the shared service if needed and returns its origin and data folder. */
    sharedServiceAt: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await refreshGenerated()
  await buildWorker(CONFIG_FILE)
  const first = await startFirst('.')
  await first.stop()
  project.provide('dataOfFirstStart', first.dataFolder)

  let shared: Promise<ServiceProcess> | undefined
  const server = createServer(KEPT_OPEN, async (_, response) => {
    shared ??= startServiceProcess(first.dataFolder)
    try {
      const { origin, dataFolder } = await shared
      response.end(JSON.stringify({ origin, dataFolder }))
    } catch (problem) {
      response.writeHead(500).end(String(problem))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  project.provide('sharedServiceAt', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    await (await shared?.catch(() => undefined))?.remove()
    await first.remove()
  }
}
