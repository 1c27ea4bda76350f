// Timers of impacts.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'

/** An impact goes so long after it last changed. */
export const KEPT_MS = 30 * 86_400_000

const timer = (subject: Uuid, dueAt: number): NewTimer => ({
  ...{ kind: 'impact.run', subject, dueAt: dueAt as Instant, payload: {} },
})

/** Removes it in the end. Whatever changes its state sets one: those that come earlier find that its time has not come. */
export const removalTimer = (subject: Uuid, updatedAt: Instant): NewTimer =>
  timer(subject, updatedAt + KEPT_MS)

/** One that wakes it if the call is lost, and one that removes it in the end. */
export const timersOf = (subject: Uuid, at: Instant): NewTimer[] => [
  timer(subject, at),
  removalTimer(subject, at),
]
