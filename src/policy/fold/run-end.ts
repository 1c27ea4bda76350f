import type { Uuid } from '../../kernel/locators.ts'
import { earlier, type Instant } from '../../kernel/time.ts'
import type { ExposureRun, PerilRun } from '../records/aggregate.ts'

/** Until when a run holds: up to the first of its cuts that count. Before its start, it never does. */
export const endOfRun = (
  { end, cuts }: Pick<ExposureRun | PerilRun, 'end' | 'cuts'>,
  counted: ReadonlySet<Uuid>,
): Instant => cuts.reduce((first, cut) => (counted.has(cut.by) ? earlier(first, cut.from) : first), end)
