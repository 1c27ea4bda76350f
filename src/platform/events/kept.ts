// Timers of what is made in portions and kept for a time: reports and impacts.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../commit.ts'
import type { TimerKind } from '../tables.ts'

type KeptKind = Extract<TimerKind, 'report.run' | 'impact.run'>

/** Such a record and its files go so long after it last changed. */
export const KEPT_MS = 30 * 86_400_000

const timer = (kind: KeptKind, subject: Uuid, dueAt: number): NewTimer => ({
  kind,
  subject,
  dueAt: dueAt as Instant,
  payload: {},
})

/** Removes it in the end. Whatever changes it sets one: those that come earlier find that its time has not come. */
export const removalTimer = (kind: KeptKind, subject: Uuid, updatedAt: Instant): NewTimer =>
  timer(kind, subject, updatedAt + KEPT_MS)

/** One that wakes it if the call is lost, and one that removes it in the end. */
export const keptTimers = (kind: KeptKind, subject: Uuid, at: Instant): NewTimer[] => [
  timer(kind, subject, at),
  removalTimer(kind, subject, at),
]
