/** Kind of the timers of schedules. */
export const SCHEDULE_TIMER = 'event.schedule'
