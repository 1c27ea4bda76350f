// Resources and groups as rows of the home shard.
import { and, asc, eq, getTableColumns, inArray, ne, or, type SQL, sql } from 'drizzle-orm'
import { notFound } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import type { Guard } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import { putRows } from '../platform/database/rows.ts'
import { type Database, type Query, statement } from '../platform/database.ts'
import { homeDatabase } from '../platform/tenancy.ts'
import type { ResourceType } from '../product/resources.ts'
import type { SelectionQuery } from './contract.ts'
import {
  notInForce,
  type Resource,
  type ResourceGroup,
  type ResourceRevision,
  selectInForce,
  unknownStaticName,
} from './resource.ts'
import { resourceGroupMembers, resourceGroups, resourceRevisions, resources } from './tables.ts'

const names = (of: readonly string[]): SQL => sql`(select value from json_each(${JSON.stringify(of)}))`

const resourcesWhere = ({ build }: Database, which: SQL | undefined) =>
  build.select().from(resources).where(which)

async function readResources(database: Database, which: SQL | undefined): Promise<Resource[]> {
  const [rows] = await database.batch([resourcesWhere(database, which)])
  return rows as Resource[]
}

/** Finds a resource by its name, not its static name. One round trip. */
export const findResource = async (database: Database, name: string): Promise<Resource | undefined> =>
  (await readResources(database, eq(resources.name, name)))[0]

/** Selects a resource by its name, not its static name. */
export const resourceQuery = (database: Database, name: string) =>
  resourcesWhere(database, eq(resources.name, name))

/** Finds the resources of these names, in any order. Unknown names are left out. One round trip. */
export const findResources = (database: Database, wanted: readonly string[]): Promise<Resource[]> =>
  readResources(database, sql`${resources.name} in ${names(wanted)}`)

/** Finds the resources that have the name or the static name. One round trip. */
export const nameTakenBy = (
  database: Database,
  { name, staticName }: Pick<Resource, 'name' | 'staticName'>,
): Promise<Resource[]> =>
  readResources(database, or(eq(resources.name, name), eq(resources.staticName, staticName)))

/** A page of resources in the order of their creation, one more than `count` if there are more. */
export const listQuery = (
  database: Database,
  { type, offset, count }: { type?: ResourceType; offset: number; count: number },
) =>
  database.build
    .select()
    .from(resources)
    .where(type && eq(resources.type, type))
    .orderBy(asc(resources.createdAt), asc(resources.name))
    .limit(count + 1)
    .offset(offset)

/** Returns all resources with the static names, and every group that contains one, for `selectInForce`, in one round trip. */
export async function findCandidates(
  database: Database,
  staticNames: readonly string[],
): Promise<{ resources: Resource[]; groups: ResourceGroup[] }> {
  return candidatesOf(await database.sharedBatch(candidateQueries(database, staticNames)))
}

/** The queries of `findCandidates`, for callers that read more in the same round trip. */
export function candidateQueries(database: Database, staticNames: readonly string[]) {
  const values = { names: JSON.stringify(staticNames) }
  return [
    database.bind(CANDIDATES, values),
    database.bind(GROUPS_OF_CANDIDATES, values),
    database.bind(MEMBERS_OF_CANDIDATES, values),
  ] as const
}

const ofNames = sql`${resources.staticName} in (select value from json_each(${sql.placeholder('names')}))`

/** The static names for which the tenant has a template, in force or not. */
export async function templatesAmong(
  database: Database,
  staticNames: readonly string[],
): Promise<readonly string[]> {
  const [rows] = await database.batch([database.bind(TEMPLATES, { names: JSON.stringify(staticNames) })])
  return rows.map(({ staticName }) => staticName)
}

const CANDIDATES = statement(build => build.select().from(resources).where(ofNames))

const TEMPLATES = statement(build =>
  build
    .selectDistinct({ staticName: resources.staticName })
    .from(resources)
    .where(and(ofNames, eq(resources.type, 'documentTemplate'))),
)

const GROUPS_OF_CANDIDATES = statement(build =>
  build
    .select()
    .from(resourceGroups)
    .where(
      inArray(
        resourceGroups.locator,
        build
          .select({ locator: resourceGroupMembers.groupLocator })
          .from(resourceGroupMembers)
          .innerJoin(resources, eq(resources.name, resourceGroupMembers.resourceName))
          .where(ofNames),
      ),
    ),
)

const MEMBERS_OF_CANDIDATES = statement(build =>
  build
    .select(getTableColumns(resourceGroupMembers))
    .from(resourceGroupMembers)
    .innerJoin(resources, eq(resources.name, resourceGroupMembers.resourceName))
    .where(ofNames),
)

/** Converts the results of `candidateQueries`, each group with the names of its candidates. */
export const candidatesOf = ([found, groups, members]: readonly [
  readonly (typeof resources.$inferSelect)[],
  readonly GroupRow[],
  readonly MemberRow[],
]): { resources: Resource[]; groups: ResourceGroup[] } => ({
  resources: found as Resource[],
  groups: withMembers(groups, members),
})

/**
 * Returns the resource of that name, or the one in force for that static name, in one round trip. Throws 404 (resources brief 1.4):
 * `notFound` if no resource has the name, `resourceNotInForce` if none with the static name is in force for that time and
 * jurisdiction.
 */
export async function readResource(
  context: Pick<RequestContext, 'env' | 'tenant' | 'calls' | 'now'>,
  type: ResourceType,
  name: string,
  { byStaticName, date, jurisdiction }: SelectionQuery,
): Promise<Resource> {
  const database = homeDatabase(context)
  if (!byStaticName) {
    const resource = await findResource(database, name)
    if (resource?.type !== type) throw notFound(type, name)
    return resource
  }
  const { resources, groups } = await findCandidates(database, [name])
  const ofType = resources.filter(one => one.type === type)
  if (ofType.length === 0) throw unknownStaticName(type, name)
  const selecting = { at: date ?? context.now, jurisdiction }
  const { chosen } = selectInForce(ofType, groups, selecting)
  if (!chosen) throw notInForce(name, selecting)
  return chosen.resource
}

/** Returns the resource with its present contents, in one round trip. */
export async function findWithContents(
  database: Database,
  name: string,
): Promise<{ resource: Resource; revision: ResourceRevision } | undefined> {
  const named = eq(resources.name, name)
  const [[resource], [revision]] = await database.batch([
    resourcesWhere(database, named),
    database.build
      .select()
      .from(resourceRevisions)
      .where(
        inArray(
          resourceRevisions.locator,
          database.build.select({ revision: resources.revision }).from(resources).where(named),
        ),
      ),
  ])
  return resource && revision
    ? { resource: resource as Resource, revision: revision as ResourceRevision }
    : undefined
}

/** Finds the size, hash and media type of a revision. Returns undefined if it was never recorded. One round trip. */
export async function findRevision(database: Database, locator: Uuid): Promise<ResourceRevision | undefined> {
  const [rows] = await database.batch([
    database.build.select().from(resourceRevisions).where(eq(resourceRevisions.locator, locator)),
  ])
  return rows[0] as ResourceRevision | undefined
}

type GroupRow = typeof resourceGroups.$inferSelect
type MemberRow = typeof resourceGroupMembers.$inferSelect

function withMembers(groups: readonly GroupRow[], members: readonly MemberRow[]): ResourceGroup[] {
  const byGroup = Map.groupBy(members, one => one.groupLocator)
  return groups.map(group => {
    const resourceNames = (byGroup.get(group.locator) ?? []).map(one => one.resourceName)
    return { ...group, resourceNames } as unknown as ResourceGroup
  })
}

/** Finds a group with all its members. One round trip. */
export const findGroup = async (database: Database, locator: Uuid): Promise<ResourceGroup | undefined> =>
  (await readGroups(database, eq(resourceGroups.locator, locator), 0, 1))[0]

type GroupList = { excludeRetired: boolean; excludeActive: boolean; offset: number; count: number }

/** Groups in the order of their creation, one more than `count` if there are more. */
export const listGroups = (
  database: Database,
  { excludeRetired, excludeActive, offset, count }: GroupList,
): Promise<ResourceGroup[]> =>
  readGroups(
    database,
    and(
      excludeRetired ? eq(resourceGroups.retired, false) : undefined,
      excludeActive ? eq(resourceGroups.retired, true) : undefined,
    ),
    offset,
    count,
  )

async function readGroups(
  database: Database,
  condition: SQL | undefined,
  offset: number,
  count: number,
): Promise<ResourceGroup[]> {
  const { build } = database
  const page = sql`select ${resourceGroups.locator} from ${resourceGroups} where ${condition ?? sql`true`} order by ${resourceGroups.createdAt}, ${resourceGroups.locator} limit ${count + 1} offset ${offset}`
  const [groups, members] = await database.batch([
    build
      .select()
      .from(resourceGroups)
      .where(sql`${resourceGroups.locator} in (${page})`)
      .orderBy(asc(resourceGroups.createdAt), asc(resourceGroups.locator)),
    build.select().from(resourceGroupMembers).where(sql`${resourceGroupMembers.groupLocator} in (${page})`),
  ])
  return withMembers(groups, members)
}

/** Stores a resource with new contents: its row, and the row of the revision. */
export const resourceRows = (database: Database, resource: Resource, revision: ResourceRevision): Query[] => [
  ...putRows(database, resources, [resource]),
  ...putRows(database, resourceRevisions, [revision]),
]

/** Stores the group, and its members in place of the earlier ones. */
export const groupRows = (database: Database, group: ResourceGroup): Query[] => [
  ...putRows(database, resourceGroups, [group]),
  database.build.delete(resourceGroupMembers).where(eq(resourceGroupMembers.groupLocator, group.locator)),
  ...putRows(
    database,
    resourceGroupMembers,
    group.resourceNames.map(resourceName => ({ groupLocator: group.locator, resourceName })),
  ),
]

/** Holds while no resource has the name, and none of another type has the static name. */
export const newNameGuard = ({ name, staticName, type }: Resource): Guard => ({
  name: 'guard_resource',
  holds: sql`not exists (select 1 from ${resources} where ${resources.name} = ${name} or (${resources.staticName} = ${staticName} and ${resources.type} <> ${type}))`,
})

/** Holds while the resource still has the contents that were read. */
export const contentsGuard = ({ name, revision }: Resource): Guard => ({
  name: 'guard_resource',
  holds: sql`exists (select 1 from ${resources} where ${resources.name} = ${name} and ${resources.revision} = ${revision})`,
})

/** Holds while no other group has the name and, unless the group is new, it is unchanged since it was read. */
export const groupGuard = (group: ResourceGroup, read: ResourceGroup | undefined): Guard => ({
  name: 'guard_resource',
  holds: sql`not exists (select 1 from ${resourceGroups} where ${resourceGroups.name} = ${group.name} and ${resourceGroups.locator} <> ${group.locator})${
    read === undefined
      ? sql``
      : sql` and exists (select 1 from ${resourceGroups} where ${resourceGroups.locator} = ${read.locator} and ${resourceGroups.version} = ${read.version})`
  }`,
})

/** Whether a group other than `but` has the name. One round trip. */
export async function hasGroupNamed(database: Database, name: string, but: Uuid): Promise<boolean> {
  const [rows] = await database.batch([
    database.build
      .select({ locator: resourceGroups.locator })
      .from(resourceGroups)
      .where(and(eq(resourceGroups.name, name), ne(resourceGroups.locator, but))),
  ])
  return rows.length > 0
}
