// Before process tests, which begin with three starts at once: what each of them would build is built.
import { refreshGenerated } from '../../scripts/generated.ts'
import { builtWorker } from '../../scripts/worker-build.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'

export default async function setup(): Promise<void> {
  await refreshGenerated()
  await builtWorker(CONFIG_FILE)
}
