// An archive that is deployed or repairs a version, and the findings about it other than its own mistakes.
import type { Tenant } from '../../../platform/tenancy.ts'
import type { Configuration, Finding } from '../../../product/configuration.ts'
import type { Change } from '../../../product/difference/change.ts'
import type { IncompatibleChange } from './compatibility.ts'

/** An archive that compiled. */
export type Upload = {
  readonly zip: Uint8Array<ArrayBuffer>
  /** SHA-256 of the zip, hex. */
  readonly hash: string
  readonly configuration: Configuration
  /** Warnings. */
  readonly findings: readonly Finding[]
}

/** `foreseenFor`: nothing is deployed yet, so a tenant without versions may still get them by the deploy. */
export function deployFindings(
  upload: Upload,
  version: number,
  inUse: readonly IncompatibleChange[],
  foreseenFor?: Pick<Tenant, 'versioned'>,
): Finding[] {
  const mayReplace = foreseenFor && !foreseenFor.versioned && !asksForVersions(upload.configuration)
  const advice = mayReplace
    ? 'POST /configuration/deployTest replaces the only version and therefore rejects this. POST /configuration/studio/deploy keeps the version of each policy.'
    : 'Policies created with earlier versions keep those.'
  return [
    ...inUse.map(change => finding('WARNING', change, advice)),
    ...(version === 1 ? [] : lateBootstrap(upload)),
  ]
}

/** Whether the archive has the feature that requests versions (resources brief 10.3). */
export const asksForVersions = ({ features }: Configuration): boolean =>
  features['property.product.versioning.m2.enabled'] === true

/** Returns an error for each change that policies of the version cannot follow. Any of them rejects the repair. */
export function repairProblems(
  { versioned }: Pick<Tenant, 'versioned'>,
  version: number,
  inUse: readonly IncompatibleChange[],
): Finding[] {
  const advice = versioned
    ? `Policies of version ${version} need it. Put it back, or deploy a new version.`
    : 'Policies need it, and the tenant keeps only one version. Put it back, or deploy with POST /configuration/studio/deploy, which keeps the version of each policy.'
  return inUse.map(change => finding('ERROR', change, advice))
}

/** Returns findings on changed fields that policies of the repaired version must satisfy when they are next changed. */
export const repairFindings = (upload: Upload, binding: readonly Change[]): Finding[] => [
  ...binding.map(({ path, subject, kind, detail, inForce }): Finding => {
    const what = `The ${subject} is ${kind === 'added' ? 'new' : 'changed'} (${detail}).`
    const then = 'Policies must satisfy it when they are next changed or renewed.'
    const message = [what, then, inForce?.why].filter(Boolean).join(' ')
    return { severity: 'WARNING', path, code: 'policiesBound', message }
  }),
  ...lateBootstrap(upload),
]

/** Returns the warnings of the archive, except those about raters that the tenant has connected. */
export const archiveWarnings = ({ findings }: Upload, connected: readonly string[]): Finding[] =>
  findings.filter(({ integration }) => integration === undefined || !connected.includes(integration))

/** Warns about bootstrap resources, which are created only with a new tenant's first configuration. */
function lateBootstrap({ configuration }: Upload): Finding[] {
  const message =
    "Bootstrap resources are created only with the tenant's first configuration. Upload them as resources."
  const found: Finding = { severity: 'WARNING', path: 'bootstrap/', code: 'ignoredFolder', message }
  return configuration.bootstrap === undefined ? [] : [found]
}

const finding = (
  severity: Finding['severity'],
  { path, code, message }: IncompatibleChange,
  advice: string,
): Finding => ({ severity, path, code, message: `${message} ${advice}` })
