// The plans of the floor, recorded once from a commit and kept. Calls of the platform that the service has saved since then count
// in its favour.
import { readFileSync, writeFileSync } from 'node:fs'
import { startOtherCommit, type Wrapper } from './against.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import type { Plan } from './plan.ts'
import { recordPlans } from './record.ts'
import { fill } from './world.ts'

const FILE = 'tools/bench/floor/plans.json'

/** The content of the file. Plans are by the names of operations. */
export type KeptPlans = { readonly commit: string; readonly plans: Readonly<Record<string, Plan>> }

export const readPlans = (): KeptPlans => JSON.parse(readFileSync(FILE, 'utf8')) as KeptPlans

/** Returns the plans of these operations. Throws an Error that names an operation without a plan. */
export function plansOf(
  { commit, plans }: KeptPlans,
  operations: readonly Operation[],
): Map<Operation, Plan> {
  return new Map(
    operations.map(operation => {
      const plan = plans[operation.name]
      if (!plan)
        throw new Error(
          `There is no recorded plan of '${operation.name}'. Record all plans again: npm run bench -- --record-floor ${commit}.`,
        )
      return [operation, plan]
    }),
  )
}

const RECORDER: Wrapper = {
  script: 'tools/bench/recorder/worker.ts',
  imports: [
    'tools/bench/recorder/calls.ts',
    'tools/bench/recorder/observed-databases.ts',
    'tools/bench/plan.ts',
  ],
}

/** Records the plans of all operations of the commit's service, and writes them to the file. */
export async function recordFloor(commit: string, folder: string): Promise<KeptPlans> {
  const { worker, administrator } = await startOtherCommit(commit, folder, RECORDER)
  const { world, records } = await fill(worker.origin, administrator)
  const plans = await recordPlans(OPERATIONS, worker, world, records)
  await worker.stop()
  const kept = { commit, plans: Object.fromEntries([...plans].map(([{ name }, plan]) => [name, plan])) }
  writeFileSync(FILE, `${JSON.stringify(kept, undefined, 2)}\n`)
  return kept
}
