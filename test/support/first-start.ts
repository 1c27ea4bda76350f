// Before process tests: what each start would build is built, and one first start is made, which takes three times as long as
// a later one. Tests begin with copies of its data (service-process.ts).
import type { TestProject } from 'vitest/node'
import { refreshGenerated } from '../../scripts/generated.ts'
import { builtWorker } from '../../scripts/worker-build.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { startFirst } from './service-process.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The data folder of a service that was started once, with the example, and is stopped. */
    dataOfFirstStart: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await refreshGenerated()
  await builtWorker(CONFIG_FILE)
  const service = await startFirst('.')
  await service.stop()
  project.provide('dataOfFirstStart', service.dataFolder)
  return () => service.remove()
}
