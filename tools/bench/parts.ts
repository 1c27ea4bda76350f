// The parts that can be measured separately: their figures, and the text shown for them.
import { join } from 'node:path'
import { documentLines, measureDocuments } from './documents.ts'
import { heapLine, measureHeap } from './heap-over-time.ts'
import { measureLiquidPerils } from './liquid-perils.ts'
import { measureMigration, migrationLines } from './migration/migration.ts'
import type { Part, Sizes } from './options.ts'
import { measurePluginCall } from './plugin-call.ts'
import { bundleLine, liquidLine, pluginCallLine, startUpLine } from './report.ts'
import { measureReports, reportsLines } from './reports.ts'
import { measureStartUp } from './start-up.ts'
import { measureTables, tableLines } from './tables.ts'
import { measureWebhooks, webhookLines } from './webhooks.ts'

export type PartResult = { figures: object; text: string }

type Say = (line: string) => void
type Measure = (folder: string, sizes: Sizes, say: Say) => Promise<PartResult>

const MEASURES: Record<Part, Measure> = {
  async 'start-up'(folder, sizes) {
    const { startUp, bundle } = await measureStartUp(folder, sizes.evaluations)
    return { figures: { startUp, bundle }, text: `${startUpLine(startUp)}\n${bundleLine(bundle)}` }
  },
  async plugin(folder, sizes) {
    const plugin = await measurePluginCall(folder, sizes.pluginRounds)
    return { figures: { plugin }, text: pluginCallLine(plugin) }
  },
  async liquid(_, sizes) {
    const liquid = await measureLiquidPerils(sizes.rounds)
    return { figures: { liquid }, text: liquidLine(liquid) }
  },
  async documents(folder, _, say) {
    const documents = await measureDocuments(folder, say)
    return { figures: { documents }, text: documentLines(documents) }
  },
  async tables(folder, sizes, say) {
    const tables = await measureTables(folder, sizes, say)
    return { figures: { tables }, text: tableLines(tables) }
  },
  async webhooks(folder, _, say) {
    const webhooks = await measureWebhooks(folder, say)
    return { figures: { webhooks }, text: webhookLines(webhooks) }
  },
  async migration(folder, sizes, say) {
    const migration = await measureMigration(folder, sizes.accounts, say)
    return { figures: { migration }, text: migrationLines(migration) }
  },
  async reports(folder, sizes, say) {
    const reports = await measureReports(folder, sizes.accounts, say)
    return { figures: { reports }, text: reportsLines(reports) }
  },
  async heap(folder, sizes, say) {
    const heap = await measureHeap(folder, sizes, say)
    return { figures: { heap }, text: heapLine(heap) }
  },
}

export const measurePart = (part: Part, folder: string, sizes: Sizes, say: Say): Promise<PartResult> =>
  MEASURES[part](join(folder, part), sizes, say)
