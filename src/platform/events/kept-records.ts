// Timers of records that are built in portions and kept for a limited time: reports and impacts.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../commit.ts'
import type { TimerKind } from '../tables.ts'

type KeptKind = Extract<TimerKind, 'report.run' | 'impact.run'>

/** Such a record and its files are removed this long after its last change. */
export const KEPT_MS = 30 * 86_400_000

const timer = (kind: KeptKind, subject: Uuid, dueAt: number): NewTimer => ({
  kind,
  subject,
  dueAt: dueAt as Instant,
  payload: {},
})

/**
 * Returns the timer that finally removes the record. Every change of the record sets one. Earlier timers find that its time has
 * not come.
 */
export const removalTimer = (kind: KeptKind, subject: Uuid, updatedAt: Instant): NewTimer =>
  timer(kind, subject, updatedAt + KEPT_MS)

/** Returns a timer that wakes the record's object if the call is lost, and one that finally removes the record. */
export const keptTimers = (kind: KeptKind, subject: Uuid, at: Instant): NewTimer[] => [
  timer(kind, subject, at),
  removalTimer(kind, subject, at),
]
