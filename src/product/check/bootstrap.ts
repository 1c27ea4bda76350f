// Checks bootstrap/resources, which a tenant starts with (resources brief 2). Checks that everything that belongs together is
// present. The contents of a file are checked when its resource is created; those of templates and tables also before a deployment.

import { z } from 'zod'
import { compileVelocity } from '../../../packages/velocity/velocity.ts'
import { readDateTime } from '../../kernel/time.ts'
import type { Configuration } from '../configuration.ts'
import {
  BOOTSTRAP_FOLDERS,
  BOOTSTRAP_PATH,
  type Bootstrap,
  type BootstrapFolder,
  type BootstrapGroup,
  type BootstrapResource,
  clashes,
  hostsProblem,
  LONGEST_FONT_STATIC_NAME,
  LONGEST_JURISDICTION,
  LONGEST_RESOURCE_NAME,
  MOST_GROUP_RESOURCES,
  normalHosts,
  RESOURCE_NAME,
  type ResourceDeclarations,
  type ResourceType,
} from '../resources.ts'
import { type Archive, readSource } from './archive.ts'
import { type Decoded, decodeFile } from './json/decode.ts'
import { name, text, textList, withDescription } from './json/scalars.ts'
import { isVelocity, type LiquidCheck } from './product/templates.ts'
import type { ValueReport } from './report.ts'
import type { TableFile } from './strict/analysis.ts'

/** Entries of bootstrap/resources/config.json, by resource and group name (resources brief 2). */
const resourceInstance = z.strictObject({
  staticName: withDescription(
    name,
    'Name for use in templates, plugins and declarations: a letter or `$`, optionally after `_`, then letters, digits, `_` and `$`; at most 128 characters.',
    'rates',
  ),
  jurisdictions: withDescription(
    textList.default([]),
    'Jurisdictions in which the resource is in force. Default: everywhere.',
    ['CA'],
  ),
  /** For secrets only. */
  allowedHosts: withDescription(
    textList.optional(),
    'For secrets only: the hosts to which the secret can be sent. Default: any.',
    ['rater.example.com'],
  ),
})

const resourceGroup = z.strictObject({
  selectionStartTime: withDescription(
    text,
    'When the resources of the group come into force.',
    '2026-01-01T00:00:00Z',
  ),
  resourceNames: withDescription(
    textList.default([]),
    'The resources of the group, at most 5,000, with only one of each static name per jurisdiction.',
    ['rates_2026'],
  ),
})

export const bootstrapFile = z.strictObject({
  resourceInstances: withDescription(
    z.record(z.string(), resourceInstance.optional()).default({}),
    'The resources, by the names of their files in `resourceFiles/<folder>/` without the extension.',
    { rates_2026: { staticName: 'rates', jurisdictions: ['CA'] } },
  ),
  resourceGroups: withDescription(
    z.record(z.string(), resourceGroup.optional()).default({}),
    'Resources that come into force together, and when, by the name of the group.',
    { 2026: { selectionStartTime: '2026-01-01T00:00:00Z', resourceNames: ['rates_2026'] } },
  ),
})

/** Values by the name of the item. */
const secretFile = z.record(z.string(), z.unknown())

const CONFIG = `${BOOTSTRAP_PATH}/config.json`
const FILES = `${BOOTSTRAP_PATH}/resourceFiles`

/** The declarations in config.json that bootstrap resources must match. */
type Declared = Pick<Configuration, 'jurisdictions' | 'resources'>

type File = { readonly path: string; readonly type: ResourceType }

/** Compiles the bootstrap resources; undefined if the folder is missing or empty. */
export function compileBootstrap(archive: Archive, declared: Declared): Bootstrap | undefined {
  const found = filesByName(archive)
  const file = archive.take(CONFIG)
  const message = 'There is no config.json that describes the resource files. Add it, or leave the files out.'
  if (!file && found.size > 0) archive.report.at({ path: CONFIG }).error('badBootstrap', message)
  const decoded = decodeFile(file, bootstrapFile, archive.report)
  if (!decoded) return undefined
  const resources = compileResources(decoded, found, declared)
  for (const [name, [first]] of found) {
    const unused = `config.json has no resource '${name}', so the file is ignored. Add the resource to resourceInstances, or leave the file out.`
    if (!Object.hasOwn(decoded.value.resourceInstances, name))
      archive.report.at({ path: first!.path }).warning('unknownFile', unused)
  }
  const groups = compileGroups(decoded, resources)
  return resources.length + groups.length === 0 ? undefined : { resources, groups }
}

/** Reports as warnings templates that do not compile. They are rejected when their resource is created, after the deployment. */
export function checkBootstrapTemplates(
  { resources }: Bootstrap,
  archive: Archive,
  compileLiquid: LiquidCheck,
): void {
  for (const { type, path } of resources) {
    const file = type.startsWith('documentTemplate') ? archive.take(path) : undefined
    const source = file && readSource(file, archive.report)
    if (source === undefined) continue
    const compile = isVelocity(path) ? compileVelocity : compileLiquid
    const { findings } = compile({ path, source })
    archive.report.add(findings.map(one => ({ ...one, severity: 'WARNING' as const })))
  }
}

/**
 * Lists the tables of the bootstrap, for the checks of their contents; their bytes are not unpacked yet. Marks the files of all
 * resources of the bootstrap as part of the configuration.
 */
export const bootstrapTables = (
  bootstrap: Bootstrap | undefined,
  archive: Archive,
  { resources: declarations }: Declared,
): TableFile[] =>
  (bootstrap?.resources ?? []).flatMap(({ type, path, staticName }) => {
    const file = archive.take(path)
    const isTable = type === 'table' || type === 'rangeTable' || type === 'constraintTable'
    return isTable && file
      ? [{ path, staticName, type, declarations, sizeBytes: file.sizeBytes, bytes: file.bytes }]
      : []
  })

/** Files by their base names, which are the names of resources. */
function filesByName({ namesIn, take, report }: Archive): Map<string, File[]> {
  const found = new Map<string, File[]>()
  for (const folder of Object.keys(BOOTSTRAP_FOLDERS) as BootstrapFolder[]) {
    const folderPath = `${FILES}/${folder}`
    const fileNames = namesIn(folderPath)
    for (const fileName of fileNames) {
      const path = `${folderPath}/${fileName}`
      const file = take(path)
      const type = BOOTSTRAP_FOLDERS[folder]
      if (type === 'secret') decodeFile(file, secretFile, report)
      const name = type === 'secret' ? fileName.replace(/\.json$/i, '') : fileName.replace(/\..*$/s, '')
      found.set(name, [...(found.get(name) ?? []), { path, type }])
    }
    const message =
      'Everyone who can download the archive can read these secrets. It is better to create them with POST /resource/{tenantLocator}/secrets.'
    if (folder === 'secrets' && fileNames.length > 0)
      report.at({ path: folderPath }).warning('secretInArchive', message)
  }
  return found
}

type ConfigFile = Decoded<ReturnType<typeof bootstrapFile.parse>>

function compileResources(
  { value, report }: ConfigFile,
  found: ReadonlyMap<string, readonly File[]>,
  { resources: declared, jurisdictions: known }: Declared,
): BootstrapResource[] {
  const typeOfStaticName = new Map<string, ResourceType>()
  const resources: BootstrapResource[] = []
  for (const [name, entry] of Object.entries(value.resourceInstances)) {
    if (entry === undefined) continue
    const own = report.at('resourceInstances', name)
    const wrong: Wrong = message => own.error('badBootstrap', message)
    const [file, other] = found.get(name) ?? []
    if (!file) {
      wrong(
        `'${name}' has no file. Add ${FILES}/<${Object.keys(BOOTSTRAP_FOLDERS).join(' | ')}>/${name} with its extension.`,
      )
      continue
    }
    if (other) wrong(`'${name}' has two files, '${file.path}' and '${other.path}'. Leave one out.`)
    const { staticName } = entry
    const type = typeOf(file.type, staticName, declared)
    checkNames(name, staticName, type, wrong)
    const otherType = typeOfStaticName.get(staticName) ?? type
    if (otherType !== type)
      wrong(
        `The static name '${staticName}' is used for a ${otherType} and for a ${type}. Rename one of them.`,
      )
    typeOfStaticName.set(staticName, otherType)
    const jurisdictions = [...new Set(entry.jurisdictions)]
    checkJurisdictions(name, jurisdictions, known, wrong)
    const allowedHosts = entry.allowedHosts && normalHosts(entry.allowedHosts)
    if (allowedHosts) checkHosts(allowedHosts, type, own.at('allowedHosts'))
    resources.push({
      name,
      type,
      staticName,
      jurisdictions,
      ...(allowedHosts && { allowedHosts }),
      path: file.path,
    })
  }
  return resources
}

const NAME_RULE =
  'it must begin with a letter or $, optionally after _, and contain only letters, digits, _ and $.'

type Wrong = (message: string) => void

function checkNames(name: string, staticName: string, type: ResourceType, wrong: Wrong): void {
  if (!isName(name, type)) wrong(`'${name}' is not a name for a resource: ${NAME_RULE}`)
  const longest = type === 'customFont' ? LONGEST_FONT_STATIC_NAME : LONGEST_RESOURCE_NAME
  if (!RESOURCE_NAME.test(staticName) || staticName.length > longest)
    wrong(`'${staticName}' is not a static name: ${NAME_RULE}`)
}

/** `known` are the jurisdictions that config.json declares; undefined permits any. */
function checkJurisdictions(
  name: string,
  jurisdictions: readonly string[],
  known: readonly string[] | undefined,
  wrong: Wrong,
): void {
  if (jurisdictions.some(one => one === '' || one.length > LONGEST_JURISDICTION))
    wrong(`A jurisdiction of '${name}' is empty or longer than ${LONGEST_JURISDICTION} characters.`)
  const undeclared = jurisdictions.find(one => known && !known.includes(one))
  if (undeclared !== undefined)
    wrong(
      `'${name}' is for '${undeclared}', which config.json does not declare. Correct it, or add it to 'jurisdictions'.`,
    )
}

function checkHosts(hosts: readonly string[], type: ResourceType, report: ValueReport): void {
  const message = `'allowedHosts' lists where a secret can be sent, but a ${type} is not a secret. Leave it out.`
  if (type !== 'secret') report.error('badBootstrap', message)
  const problem = hostsProblem(hosts)
  if (problem !== undefined) report.error('badBootstrap', `'allowedHosts' has ${problem}.`)
}

/** The brief has no folder for range tables, so declared range tables may be among the other tables. */
const typeOf = (
  type: ResourceType,
  staticName: string,
  declared: ResourceDeclarations | undefined,
): ResourceType =>
  type === 'table' && declared && Object.hasOwn(declared.rangeTables, staticName) ? 'rangeTable' : type

const isName = (name: string, type: ResourceType): boolean =>
  name.length <= LONGEST_RESOURCE_NAME && (type === 'secret' ? name !== '' : RESOURCE_NAME.test(name))

function compileGroups(
  { value, report }: ConfigFile,
  resources: readonly BootstrapResource[],
): BootstrapGroup[] {
  const known = new Map(resources.map(one => [one.name, one]))
  return Object.entries(value.resourceGroups).flatMap(([name, entry]): BootstrapGroup[] => {
    if (entry === undefined) return []
    const own = report.at('resourceGroups', name)
    const reportBadBootstrap = (message: string): void => own.error('badBootstrap', message)
    const resourceNames = [...new Set(entry.resourceNames)]
    if (name === '' || name.length > LONGEST_RESOURCE_NAME)
      reportBadBootstrap(`The name of a group must have 1 to ${LONGEST_RESOURCE_NAME} characters.`)
    if (resourceNames.length > MOST_GROUP_RESOURCES)
      reportBadBootstrap(`A group can have at most ${MOST_GROUP_RESOURCES} resources.`)
    for (const one of resourceNames)
      if (!Object.hasOwn(value.resourceInstances, one))
        reportBadBootstrap(`There is no resource '${one}' in resourceInstances. Add it or correct the name.`)
    for (const [one, other] of clashes(resourceNames.flatMap(member => known.get(member) ?? [])))
      reportBadBootstrap(
        `'${one.name}' and '${other.name}' both have the static name '${one.staticName}' for the same jurisdictions; a group can contain only one of them.`,
      )
    const selectionStart = readDateTime(entry.selectionStartTime)
    const badTime = `'${entry.selectionStartTime}' is not a time. Write it like 2026-11-21T12:00:00Z.`
    if (selectionStart !== undefined) return [{ name, selectionStart, resourceNames }]
    own.at('selectionStartTime').error('badBootstrap', badTime)
    return []
  })
}
