// The plugin runner as a process next to the tests, as `npm start` runs it next to the service. A global setup of the `service`
// project.
import type { TestProject } from 'vitest/node'
import { startPluginRunner } from '../../scripts/plugin-runner.ts'
import { buildTestRunner } from './service-bundle.ts'
import { TEST_TOKEN_SECRET } from './test-secrets.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    pluginRunner: { address: string; start: string }
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runner = await startPluginRunner(TEST_TOKEN_SECRET, { longestMs: 60_000 }, await buildTestRunner())
  const { PLUGIN_RUNNER_ADDRESS: address, PLUGIN_RUNNER_START: start } = runner.vars
  project.provide('pluginRunner', { address, start })
  return () => runner.stop()
}
