// The order in which test files run: by project, so that files of one runtime follow each other, and within a project the longest
// first, so that no long file runs alone at the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Process tests are a separate group, the first (vitest.config.ts). Domain tests are short and fill the end. */
const PROJECTS = ['process', 'service', 'domain']

/**
 * The files that take longest, in descending order. Two kinds of process tests are placed differently: those that mostly wait
 * (`bad-day`, `kill`, and `webhooks` when one of these is done) run in parallel with others, and those of the plugin runner
 * (`hostile`, `neighbour`, `runner`) do not run in parallel with each other.
 */
const LONGEST = [
  'bad-day.process',
  'journeys/kill.process',
  'start.process',
  'tenant.process',
  'axe.process',
  'webhooks.process',
  'console.process',
  'large.process',
  'desk-more.process',
  'hostile.process',
  'rolling-deploy.process',
  'desk.process',
  'readme.process',
  'neighbour.process',
  'reporting/kill.process',
  'reference.process',
  'runner.process',
  'growth.long.service',
  'faults.long.service',
  'accepted.long.service',
  'rating.service',
  'clock.service',
  'two-tenants.service',
  'run.service',
  'plugins/transactions.service',
  'turns.long.service',
  'shards.service',
  'assembly.long.service',
  'large-life.long.service',
  'pdf/test/growth.long.domain',
  'payments.domain',
  'proration.domain',
  'policy-end.domain',
  'book-from-responses.domain',
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
