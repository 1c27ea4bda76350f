import type { EntityResponse, PolicyholderResponse } from './contract.ts'
import type { Policyholder, SubEntity } from './policyholder.ts'

/** A policyholder as answers show it; sub-entities in the order in which they were added. */
export function policyholderResponse(policyholder: Policyholder): PolicyholderResponse {
  const { locator, version, completed, entity } = policyholder
  const times = timestamps(policyholder)
  return {
    locator,
    version,
    ...times,
    entity: {
      locator: entity.locator,
      ...shared(policyholder, completed),
      ...times,
      values: entity.values,
      subEntitiesByLocator: Object.fromEntries(
        entity.subEntities.map(one => [one.locator, subEntityResponse(one, policyholder)]),
      ),
    },
  }
}

const subEntityResponse = (subEntity: SubEntity, policyholder: Policyholder): EntityResponse => ({
  locator: subEntity.locator,
  ontologyUri: subEntity.ontologyUri,
  ...shared(policyholder, subEntity.completed),
  ...timestamps(subEntity),
  values: subEntity.values,
})

const timestamps = ({ createdAt, updatedAt }: Pick<SubEntity, 'createdAt' | 'updatedAt'>) => ({
  createdTimestamp: String(createdAt),
  updatedTimestamp: String(updatedAt),
})

const shared = (
  { accountLocator, version }: Policyholder,
  completed: boolean,
): Pick<EntityResponse, 'accountLocator' | 'completed' | 'flags' | 'revision'> => ({
  accountLocator,
  completed,
  flags: [completed ? 'flag.entity.workflow.complete' : 'flag.entity.workflow.started'],
  revision: String(version),
})
