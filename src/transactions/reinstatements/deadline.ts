/** Kind of the timers that go off when the deadline of a reinstatement has passed. */
export const DEADLINE_TIMER = 'reinstatement.deadline'
