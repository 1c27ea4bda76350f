// Resources by their static names, for what is made at one time of several of them: each name is asked for once, and those
// that are known beforehand in one round trip.
import type { Database } from '../../platform/database.ts'
import { RESOURCE_NAME, type ResourceType } from '../../product/resources.ts'
import type { Resource } from '../resource.ts'
import { type Selecting, selectInForce } from '../selection.ts'
import { findCandidates } from '../store.ts'

export class NamedResources {
  readonly #database: Database
  readonly #known = new Map<string, ReturnType<typeof findCandidates>>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Reads what there is of the names, in one round trip; none where all are known. What is no static name is passed over. */
  async expect(names: readonly string[]): Promise<void> {
    const unknown = [...new Set(names)].filter(name => RESOURCE_NAME.test(name) && !this.#known.has(name))
    if (unknown.length === 0) return
    const read = findCandidates(this.#database, unknown)
    for (const name of unknown) this.#known.set(name, read)
    await read
  }

  /** The resource of the type that is in force under the static name. */
  async inForce(name: string, type: ResourceType, where: Selecting): Promise<Resource | undefined> {
    await this.expect([name])
    const { resources, groups } = (await this.#known.get(name)) ?? { resources: [], groups: [] }
    const own = resources.filter(one => one.staticName === name && one.type === type)
    return selectInForce(own, groups, where).chosen?.resource
  }
}
