// What was sent of a migration that was never recorded.
import type { TimerOwner } from '../../platform/events/timers.ts'
import { unlessRecorded } from '../../platform/events/unrecorded.ts'
import { deleteSources } from './files.ts'
import { migrations } from './tables.ts'

export const deleteUnrecorded: TimerOwner = unlessRecorded(migrations, (migration, place) =>
  deleteSources(place, migration),
)
