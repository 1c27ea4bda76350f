// In which order files run: by project, so that files of a runtime follow one another; in each the longest first, so that
// none is alone at the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Process tests are a group of their own, the first (vitest.config.ts). Domain tests are short, and fill the end. */
const PROJECTS = ['process', 'service', 'domain']

/** Files that take the longest, the longest first. */
const LONGEST = [
  'operate-guide.process',
  'bad-day.process',
  'start.process',
  'kill.process',
  'webhooks.process',
  'environments.process',
  'growth.service',
  'faults.service',
  'two-tenants.service',
  'accepted.service',
  'rating.service',
  'clock.service',
  'own-bills.service',
  'schedule-change.service',
  'shards.service',
  'run.service',
  'pdf/test/growth.domain',
  'payments.domain',
  'proration.domain',
  'told-again.domain',
].map(name => `${name}.test.ts`)

function placeOf({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.findIndex(name => moduleId.endsWith(name))
  return PROJECTS.indexOf(project.name) * 100 + (place === -1 ? LONGEST.length : place)
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => placeOf(one) - placeOf(other))
  }
}
