// Versions of the configuration: when and by whom they were deployed, their archives, and what each one changed.
import { get, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { displayNames } from '../find.ts'
import { moment, words } from '../format.ts'
import { choiceForm, type Option, select } from '../lists/filters.ts'
import { badge, emptyNote, loadedSection, section, table } from '../parts.ts'
import type { DeployedVersion, Deployment, VersionChanges } from '../wire.ts'
import { addressOf } from './address.ts'
import { changeSections } from './changes.ts'
import { logEntryPage, logOfVersion, logSection } from './deployment-log.ts'
import { downloadButton, saveFrom } from './download.ts'
import { backLine, type Opened, type Shown } from './page.ts'
import { LOG, PAGES, TENANT, DEPLOYMENTS as WORDS } from './words.ts'

export const versionsDeployed = (signal: AbortSignal): Promise<DeployedVersion[]> =>
  get<DeployedVersion[]>('/deployments/versions', signal)

/** The numbers of the versions, newest first. */
export const versionsOf = (deployed: readonly DeployedVersion[]): string[] =>
  [...new Set(deployed.map(({ version }) => version))].sort((a, b) => Number(b) - Number(a))

export const deploymentsPage = (opened: Opened): Shown | Promise<Shown> => {
  const [version, locator] = opened.rest
  if (version === 'log' && locator !== undefined) return logEntryPage(locator, opened)
  return version === undefined ? listed(opened) : versionPage(version, opened)
}

const listed = (opened: Opened): Shown => ({
  title: PAGES.deployments.title,
  content: [
    backLine(undefined),
    loadedSection(WORDS.loads, async () => {
      const deployed = await versionsDeployed(opened.signal)
      return deployed.length === 0 ? emptyNote(WORDS.none) : deploymentTable(deployed, opened.held)
    }),
    logSection(opened),
  ],
})

/** Newest first. The version deployed last applies to new policies. */
const deploymentTable = (deployed: readonly DeployedVersion[], held: ReadonlySet<string>): View =>
  table<DeployedVersion>(
    PAGES.deployments.title,
    [
      {
        head: WORDS.version,
        cell: ({ version }) =>
          held.has('deployments.download')
            ? h('a', { href: addressOf(['deployments', version]) }, WORDS.versionNamed(version))
            : WORDS.versionNamed(version),
      },
      { head: WORDS.kind, cell: ({ kind }) => WORDS.kinds[kind] },
      { head: TENANT.when, cell: ({ deployedTimestamp }) => moment(deployedTimestamp) },
      { head: TENANT.by, cell: ({ username }) => username },
    ],
    deployed.toReversed(),
  )

async function versionPage(version: string, { query, signal, held }: Opened): Promise<Shown> {
  const path = `/deployments/${encodeURIComponent(version)}`
  const [deployed, { tenantAssets }] = await Promise.all([
    versionsDeployed(signal),
    get<Deployment>(path, signal),
  ])
  const earlier = versionsOf(deployed).filter(one => Number(one) < Number(version))
  const since = earlier.find(one => one === query.get('since')) ?? ''
  return {
    title: WORDS.versionNamed(version),
    content: [
      backLine('#/tenant/deployments', WORDS.all),
      section(
        WORDS.history,
        table<Deployment['tenantAssets'][number]>(
          WORDS.history,
          [
            { head: TENANT.when, cell: ({ deployedTimestamp }) => moment(deployedTimestamp) },
            { head: WORDS.kind, cell: ({ kind }) => WORDS.kinds[kind] },
            { head: WORDS.hash, cell: ({ hash }) => h('code', {}, hash) },
            {
              head: TENANT.state,
              cell: one => (one === tenantAssets[0] ? badge('issued', WORDS.inForceNow) : '–'),
            },
          ],
          tenantAssets,
        ),
        h('p', { class: 'soft small' }, WORDS.archiveAbout),
        downloadButton(WORDS.archive, async () => {
          saveFrom((await get<Deployment>(path)).url)
          return undefined
        }),
      ),
      section(
        LOG.log,
        loadedSection(LOG.loads, () => logOfVersion(version, held, signal)),
      ),
      section(
        WORDS.changes,
        earlier.length === 0
          ? emptyNote(WORDS.first)
          : [
              sinceForm(version, earlier, since),
              loadedSection(WORDS.loadsChanges, () => changesOf(path, since, signal)),
            ],
      ),
    ],
  }
}

const sinceForm = (version: string, earlier: readonly string[], since: string): View =>
  choiceForm(
    [
      select(
        'since',
        WORDS.compare,
        earlier.map((one): Option => [one, WORDS.versionNamed(one)]),
        since,
        WORDS.before,
      ),
    ],
    chosen => addressOf(['deployments', version], chosen),
  )

async function changesOf(path: string, since: string, signal: AbortSignal): Promise<Child> {
  const [changes, names] = await Promise.all([
    get<VersionChanges>(`${path}/changes?${queryOf({ since })}`, signal),
    displayNames(),
  ])
  const { fromVersion, toVersion, count, breaks, binds } = changes
  return [
    fromVersion !== undefined && h('p', { class: 'soft' }, WORDS.comparedWith(fromVersion, toVersion)),
    Number(count) === 0
      ? emptyNote(WORDS.same)
      : [
          h(
            'p',
            { class: Number(breaks) > 0 ? 'notice bad' : 'notice' },
            `${WORDS.count(Number(count), Number(breaks), Number(binds))}.`,
          ),
          changeSections(changes, product => names.get(product) ?? words(product)),
        ],
  ]
}
