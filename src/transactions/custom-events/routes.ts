import { forTenant, type Route } from '../../platform/http/route.ts'
import { EventScheduleListResponse, ScheduleListQuery } from './contract.ts'
import { deleteSchedule, listSchedules, resumeSchedule } from './service.ts'

const { delete: remove, get, patch } = forTenant('Events')
const PATH = '/event/{tenantLocator}/events/schedules'

export const scheduleRoutes: readonly Route[] = [
  get(`${PATH}/list`, {
    summary: 'List the schedules of custom events',
    description:
      'One for each issued policy and each custom event that the configuration schedules, oldest first.',
    permission: ['events.read', 'events.list'],
    query: ScheduleListQuery,
    answer: { schema: EventScheduleListResponse, description: 'The schedules.' },
    handle: ({ query }, context) => listSchedules(query, 'active', context),
  }),
  get(`${PATH}/failed-list`, {
    summary: 'List the failed schedules of custom events',
    description: 'Every attempt to emit their event failed. They wait to be resumed.',
    permission: ['events.read', 'events.list'],
    query: ScheduleListQuery,
    answer: { schema: EventScheduleListResponse, description: 'The schedules.' },
    handle: ({ query }, context) => listSchedules(query, 'failed', context),
  }),
  patch(`${PATH}/{locator}/resume`, {
    summary: 'Resume a failed schedule',
    description:
      'The missed event is emitted immediately. Responds with 409 for a schedule that has not failed.',
    permission: 'events.write',
    answer: { description: 'Resumed.' },
    handle: ({ params }, context) => resumeSchedule(params.locator, context),
  }),
  remove(`${PATH}/{locator}`, {
    summary: 'Delete a schedule',
    description:
      'The event is no longer emitted for its policy, even if later transactions move the times of the policy.',
    permission: 'events.write',
    answer: { description: 'Deleted.' },
    handle: ({ params }, context) => deleteSchedule(params.locator, context),
  }),
]
