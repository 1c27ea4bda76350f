// Reads and creates resources at the provider, through its tool: buckets, queues, Workers.
import type { Tool } from '../wrangler.ts'
import type { Bucket } from './needs.ts'

const jurisdictionOf = ({ jurisdiction }: Bucket): string[] =>
  jurisdiction === undefined ? [] : ['--jurisdiction', jurisdiction]

/** Whether a line of the list has the name, as a separate value, in a table or after `name:`. */
const isListed = (output: string, name: string): boolean =>
  output.split('\n').some(line => line.split(/[\s│|:]+/).includes(name))

/** Pages of queues that are searched: more than an account may have. */
const MOST_PAGES = 200

export const provider = (tool: Tool) => ({
  /** Whether the tool is signed in to an account. */
  async isSignedIn(): Promise<boolean> {
    return tool('whoami', '--json').then(
      () => true,
      () => false,
    )
  },
  async hasBucket(bucket: Bucket): Promise<boolean> {
    return isListed(await tool('r2', 'bucket', 'list', ...jurisdictionOf(bucket)), bucket.name)
  },
  async makeBucket(bucket: Bucket): Promise<void> {
    await tool('r2', 'bucket', 'create', bucket.name, ...jurisdictionOf(bucket))
  },
  async hasQueue(name: string): Promise<boolean> {
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const output = await tool('queues', 'list', '--page', String(page))
      if (isListed(output, name)) return true
      // A page without a table row is past the last one.
      if (!/[│|]\s*[0-9a-f]{32}\s*[│|]/.test(output)) return false
    }
    return false
  },
  /** Whether a Worker of that name was ever deployed. */
  async hasWorker(name: string): Promise<boolean> {
    try {
      await tool('deployments', 'list', '--name', name, '--json')
      return true
    } catch (problem) {
      // The provider's error code for a Worker that does not exist.
      if (String(problem).includes('10007')) return false
      throw problem
    }
  },
  async makeQueue(name: string): Promise<void> {
    await tool('queues', 'create', name)
  },
})
