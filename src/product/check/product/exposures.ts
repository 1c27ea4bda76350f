import { decimal, LARGEST_MINOR } from '../../../kernel/money.ts'
import {
  type ExposureDefinition,
  PERIL_AMOUNTS,
  type PerilDefaults,
  type PerilDefinition,
  type TemplateSource,
} from '../../configuration.ts'
import type { Archive } from '../archive.ts'
import { compileFields, type TableNames } from '../fields/fields.ts'
import { exposureFile, perilFile } from '../files.ts'
import { decodeFile } from '../json/decode.ts'
import { displayNameOf } from '../json/scalars.ts'
import type { ValueReport } from '../report.ts'
import { checkSets } from './templates.ts'

type ExposureContext = TableNames & {
  archive: Archive
  /** Returns undefined if the file is missing. */
  script: (path: string) => TemplateSource | undefined
  /** Whether a plugin or an external rater prices the product, so that scripts are optional. */
  isPricedElsewhere: boolean
  /** Whether a plugin prices the product, so that its scripts are never called. */
  isPricedByPlugin: boolean
}

/** A peril without a script, and the path of its file. */
type Unscripted = { readonly path: string; readonly peril: PerilDefinition }

const PREMIUM_SUFFIX = '.premium.liquid'

/** Compiles every folder under `…/policy/exposures`, each with its perils. */
export function compileExposures(folder: string, context: ExposureContext): ExposureDefinition[] {
  const { archive } = context
  const unscripted: Unscripted[] = []
  const exposures = new Map<string, ExposureDefinition>()
  const exposuresByPeril = new Map<string, string>()
  for (const folderName of archive.foldersIn(folder)) {
    const path = `${folder}/${folderName}`
    const exposure = compileExposure(path, folderName, { ...context, unscripted })
    if (exposure === undefined) continue
    const message = `Another exposure also has the name '${exposure.name}'. Rename one of them.`
    if (exposures.has(exposure.name))
      archive.report.at({ path: `${path}/exposure.json` }).error('duplicateName', message)
    exposures.set(exposure.name, exposure)
    for (const peril of exposure.perils.filter(({ premium }) => premium !== undefined)) {
      const other = exposuresByPeril.get(peril.name) ?? exposure.name
      exposuresByPeril.set(peril.name, other)
      const shared = `The peril '${peril.name}' is also in the exposure '${other}'; each is priced by its own script. Rename one of them to tell them apart.`
      if (other !== exposure.name)
        archive.report.at({ path: `${path}/perils` }).warning('sharedPerilName', shared)
    }
  }
  shareScripts([...exposures.values()], unscripted, context)
  return [...exposures.values()]
}

/**
 * Gives a peril without a script the script of a peril with the same name in another exposure: on the reference platform they
 * shared one script (brief 5.1). Reports a peril that has no script at all.
 */
function shareScripts(
  exposures: readonly ExposureDefinition[],
  unscripted: readonly Unscripted[],
  { archive, isPricedElsewhere }: ExposureContext,
): void {
  const scripted = new Map<string, { exposure: string; premium: TemplateSource }>()
  for (const { name: exposure, perils } of exposures)
    for (const { name, premium } of perils)
      if (premium !== undefined && !scripted.has(name)) scripted.set(name, { exposure, premium })
  for (const { path, peril } of unscripted) {
    const other = scripted.get(peril.name)
    const report = archive.report.at({ path })
    if (other) {
      peril.premium = other.premium
      const shared = `The peril '${peril.name}' has no script here and is priced by the script of the exposure '${other.exposure}'. If it should have its own, add ${peril.name}${PREMIUM_SUFFIX} next to it.`
      if (!isPricedElsewhere) report.warning('missingPremiumScript', shared)
    } else if (!isPricedElsewhere) report.error('missingPremiumScript', unpricedMessage(peril.name, path))
  }
}

const unpricedMessage = (name: string, path: string): string =>
  `Nothing prices the peril '${name}'. Add ${path.slice(path.lastIndexOf('/') + 1, -'.json'.length)}${PREMIUM_SUFFIX} next to it, or enable the plugin getPerilRates.`

function compileExposure(
  folder: string,
  folderName: string,
  context: ExposureContext & { readonly unscripted: Unscripted[] },
): ExposureDefinition | undefined {
  const { archive } = context
  const path = `${folder}/exposure.json`
  const file = archive.take(path)
  const message = 'The exposure has no exposure.json. Add it, or remove the folder.'
  if (file === undefined) archive.report.at({ path }).error('missingFile', message)
  const decoded = decodeFile(file, exposureFile, archive.report)
  const perils = compilePerils(`${folder}/perils`, context)
  if (decoded === undefined) return undefined
  const { value, report } = decoded
  const name = resolveName(value.name, folderName, report)
  return {
    name,
    displayName: displayNameOf(name, value.displayName),
    fields: compileFields(value.fields, 'exposure', report.at('fields'), context),
    perils,
  }
}

function compilePerils(
  folder: string,
  context: ExposureContext & { readonly unscripted: Unscripted[] },
): PerilDefinition[] {
  const { archive, unscripted } = context
  const names = archive.namesIn(folder)
  const stems = names.filter(name => name.endsWith('.json')).map(name => name.slice(0, -'.json'.length))
  const perils = new Map<string, PerilDefinition>()
  for (const stem of stems) {
    const peril = compilePeril(folder, stem, context)
    if (peril === undefined) continue
    if (peril.premium === undefined) unscripted.push({ path: `${folder}/${stem}.json`, peril })
    const message = `Another peril of this exposure also has the name '${peril.name}'. Rename one of them.`
    if (perils.has(peril.name))
      archive.report.at({ path: `${folder}/${stem}.json` }).error('duplicateName', message)
    perils.set(peril.name, peril)
  }
  const named = new Set([...stems, ...perils.keys()])
  for (const script of names.filter(name => name.endsWith(PREMIUM_SUFFIX))) {
    const stem = script.slice(0, -PREMIUM_SUFFIX.length)
    if (named.has(stem)) continue
    const path = `${folder}/${script}`
    archive.take(path)
    const message = `There is no peril '${stem}'. Add ${stem}.json, or remove the script.${archive.report.suggestion(stem, stems)}`
    archive.report.at({ path }).warning('orphanScript', message)
  }
  return [...perils.values()]
}

function compilePeril(folder: string, stem: string, context: ExposureContext): PerilDefinition | undefined {
  const { archive, script } = context
  const path = `${folder}/${stem}.json`
  const decoded = decodeFile(archive.take(path), perilFile, archive.report)
  const name = resolveName(decoded?.value.name, stem, decoded?.report)
  const premium =
    script(`${folder}/${stem}${PREMIUM_SUFFIX}`) ??
    (name === stem ? undefined : script(`${folder}/${name}${PREMIUM_SUFFIX}`))
  if (premium !== undefined && !context.isPricedByPlugin) checkSets(premium, 'premium', archive.report)
  if (decoded === undefined) {
    if (premium === undefined && !context.isPricedElsewhere)
      archive.report.at({ path }).error('missingPremiumScript', unpricedMessage(name, path))
    return undefined
  }
  const { value, report } = decoded
  const defaults: PerilDefaults = {}
  for (const amount of PERIL_AMOUNTS) {
    const given = value[amount]
    const message = `'${amount}' is ${given}; it must be from 0 to ${LARGEST_MINOR}, as in requests. Correct the amount.`
    if (
      given !== undefined &&
      given !== 'unlimited' &&
      (given.startsWith('-') || decimal(given).gt(LARGEST_MINOR))
    )
      report.at(amount).error('badBounds', message)
    if (given !== undefined) defaults[amount] = given
  }
  return {
    name,
    displayName: displayNameOf(name, value.displayName),
    fields: compileFields(value.fields, 'peril', report.at('fields'), context),
    defaults,
    ...(premium !== undefined && { premium }),
  }
}

/** The name inside the file overrides that of the file or folder. */
function resolveName(inside: string | undefined, outside: string, report: ValueReport | undefined): string {
  if (inside === undefined || report === undefined) return outside
  const differs = `The name is '${inside}', but the file or folder is called '${outside}'. The name counts; make them equal.`
  if (inside.normalize('NFC') !== outside) report.at('name').warning('nameDiffersFromFile', differs)
  const reserved = `'${inside}' is a reserved word. Choose another name.`
  if (inside === '__proto__') report.at('name').error('badName', reserved)
  return inside
}
