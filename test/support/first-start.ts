// Before process tests: what each start would build is built, and one first start is made, which takes three times as long as
// a later one. Tests begin with copies of its data (service-process.ts).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { refreshGenerated } from '../../scripts/generated.ts'
import { builtWorker } from '../../scripts/worker-build.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { serviceProcess } from './service-process.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The data folder of a service that was started once, with the example, and is stopped. */
    dataOfFirstStart: string
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  await refreshGenerated()
  await builtWorker(CONFIG_FILE)
  const dataFolder = mkdtempSync(join(tmpdir(), 'bindery-first-start-'))
  const service = await serviceProcess('.', dataFolder)
  await service.stop()
  project.provide('dataOfFirstStart', dataFolder)
  return () => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 5 })
}
