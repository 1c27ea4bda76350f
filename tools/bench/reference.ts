// The reference: every operation compared with its floor, and measurements without requests. Or a comparison with the service of
// another commit.
import { join } from 'node:path'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { startOtherCommit } from './against.ts'
import { plansOf, readPlans } from './kept-plans.ts'
import { type LiquidPerils, measureLiquidPerils } from './liquid-perils.ts'
import { type MigrationFigures, measureMigration } from './migration/migration.ts'
import { startNaiveNode } from './naive-node/process.ts'
import { type Operation, operationsFor, type World } from './operations.ts'
import { REFERENCE_ACCOUNTS, type Sizes } from './options.ts'
import type { PartResult } from './parts.ts'
import { describePlan, type Plan } from './plan.ts'
import { measurePluginCall, type PluginCallCost } from './plugin-call.ts'
import { measureQuoteToIssue, type QuoteToIssue } from './quote-to-issue.ts'
import {
  bundleLine,
  changeRows,
  deliveryLine,
  liquidLine,
  migratedLine,
  operationRows,
  pluginCallLine,
  quoteToIssueLine,
  quoteToIssueRows,
  startUpLine,
  table,
} from './report.ts'
import { tripsBeforeResponse } from './round-trips.ts'
import { type Measured, measureAll } from './rounds.ts'
import { floorSide, type Side, serviceSide } from './sides.ts'
import { type BundleSize, measureStartUp, type StartUp } from './start-up.ts'
import { measureWebhooks, type WebhookLoad } from './webhooks.ts'
import { startWorker } from './worker-process.ts'
import { fill, prepareStores } from './world.ts'

type Say = (line: string) => void

/** The content of the JSON file, in addition to the commit and the sizes. docs/bench.md describes it. */
export type Reference = {
  operations: Measured[]
  plans: Record<string, Plan>
  quoteToIssue: QuoteToIssue
  liquid: LiquidPerils
  plugin: PluginCallCost
  webhooks: WebhookLoad[]
  migration: MigrationFigures
  startUp: StartUp
  bundle: BundleSize
}

export async function measureReference(folder: string, sizes: Sizes, say: Say): Promise<PartResult> {
  say('start-up and bundle')
  const { startUp, bundle } = await measureStartUp(join(folder, 'bundles'), sizes.evaluations)
  const load = await measureUnderLoad(folder, sizes, say)
  say('perils by templates')
  const liquid = await measureLiquidPerils(sizes.rounds)
  say('a plugin call')
  const plugin = await measurePluginCall(join(folder, 'plugin'), sizes.pluginRounds)
  say('deliveries to a webhook')
  const webhooks = await measureWebhooks(join(folder, 'webhooks'), () => undefined, 1)
  say('migrating accounts')
  const migration = await measureMigration(join(folder, 'migration'), REFERENCE_ACCOUNTS, () => undefined)
  const figures: Reference = { ...load, liquid, plugin, webhooks, migration, startUp, bundle }
  return { figures, text: referenceText(figures) }
}

const referenceText = (figures: Reference): string =>
  [
    '',
    table(operationRows(figures.operations)),
    '',
    table(quoteToIssueRows(figures.quoteToIssue)),
    '',
    ...referenceLines(figures),
  ].join('\n')

/** Everything except the tables, one line each. */
export const referenceLines = (figures: Reference): string[] => [
  ...otherPlans(figures),
  quoteToIssueLine(figures.quoteToIssue),
  liquidLine(figures.liquid),
  pluginCallLine(figures.plugin),
  ...figures.webhooks.map(deliveryLine),
  migratedLine(figures.migration),
  startUpLine(figures.startUp),
  bundleLine(figures.bundle),
]

/** Starts the service, the floor and the naive process, measures them, and stops them. */
async function measureUnderLoad(
  folder: string,
  sizes: Sizes,
  say: Say,
): Promise<Pick<Reference, 'operations' | 'plans' | 'quoteToIssue'>> {
  const { world, plans, ours, theirs, stop } = await startSides(operationsFor(undefined), folder, say)
  const naiveNode = await startNaiveNode(join(folder, 'naive-node'))
  const operations = await measureAll([...plans.keys()], ours, theirs, sizes, say)
  say('quote to issue')
  const quoteToIssue = await measureQuoteToIssue(ours, theirs, naiveNode, world, sizes)
  await Promise.all([stop(), naiveNode.stop()])
  return { operations, plans: byName(plans), quoteToIssue }
}

/** Measures some operations, and those that create their records, against the floor. Leaves out the rest of the reference. */
export async function measureSome(
  names: readonly string[],
  folder: string,
  sizes: Sizes,
  say: Say,
): Promise<PartResult> {
  const { plans, ours, theirs, stop } = await startSides(operationsFor(names), folder, say)
  const operations = await measureAll([...plans.keys()], ours, theirs, sizes, say)
  await stop()
  const figures = { operations, plans: byName(plans) }
  return { figures, text: [table(operationRows(operations)), ...otherPlans(figures)].join('\n') }
}

type Sides = {
  world: World
  plans: Map<Operation, Plan>
  ours: Side
  theirs: Side
  stop(): Promise<void>
}

/** Starts the service and the floor with the kept plans of these operations. */
async function startSides(operations: readonly Operation[], folder: string, say: Say): Promise<Sides> {
  const dataFolder = join(folder, 'service')
  say('creating databases')
  const administrator = await prepareStores(dataFolder)

  const kept = readPlans()
  const plans = plansOf(kept, operations)
  say(`the floor repeats the platform calls of ${kept.commit}`)
  for (const [{ name }, plan] of plans) say(`  ${name}: ${describePlan(plan)}`)

  say('starting service and floor')
  const service = await startWorker({ config: CONFIG_FILE, dataFolder, script: 'src/worker.ts' })
  const { world, records } = await fill(service.origin, administrator)
  const floor = await startWorker({
    config: 'tools/bench/floor/wrangler.toml',
    script: 'tools/bench/floor/worker.ts',
    dataFolder: join(folder, 'floor'),
  })
  const ours = serviceSide(service, world, records)
  const theirs = await floorSide(floor, plans, world, records)
  const stop = async (): Promise<void> => {
    ours.connection.close()
    theirs.connection.close()
    await Promise.all([service.stop(), floor.stop()])
  }
  return { world, plans, ours, theirs, stop }
}

const byName = (plans: ReadonlyMap<Operation, Plan>): Record<string, Plan> =>
  Object.fromEntries([...plans].map(([{ name }, plan]) => [name, plan]))

/** Lists operations with more or fewer round trips than their plan, which affects their ratio. */
function otherPlans({ operations, plans }: Pick<Reference, 'operations' | 'plans'>): string[] {
  return operations.flatMap(({ name, service }) => {
    const plan = plans[name]!
    const batches = plan.worker.length + (plan.object?.length ?? 0)
    const told = Number(/d1 (\d+)/.exec(tripsBeforeResponse(service.roundTrips))?.[1] ?? 0)
    if (told === batches) return []
    return [`'${name}': most responses took ${told} D1 round trips, the floor ${batches}.`]
  })
}

/** Measures the service of this commit and that of another, alternately. */
export async function measureChanges(
  commit: string,
  names: readonly string[] | undefined,
  folder: string,
  sizes: Sizes,
  say: Say,
): Promise<PartResult> {
  say(`building the service of ${commit}`)
  const other = await startOtherCommit(commit, folder)
  say('creating databases')
  const dataFolder = join(folder, 'service')
  const administrator = await prepareStores(dataFolder)
  const service = await startWorker({ config: CONFIG_FILE, dataFolder, script: 'src/worker.ts' })
  const filled = await fill(service.origin, administrator)
  const filledOther = await fill(other.worker.origin, other.administrator)
  const ours = serviceSide(service, filled.world, filled.records)
  const theirs = serviceSide(other.worker, filledOther.world, filledOther.records)
  const operations = await measureAll(operationsFor(names), ours, theirs, sizes, say)
  ours.connection.close()
  theirs.connection.close()
  await Promise.all([service.stop(), other.worker.stop()])
  return { figures: { against: commit, operations }, text: table(changeRows(operations)) }
}
