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
  /** Undefined if the file is missing. */
  script: (path: string) => TemplateSource | undefined
  /** By a plugin or an external rater, so that scripts are optional. */
  isPricedElsewhere: boolean
}

const PREMIUM_SUFFIX = '.premium.liquid'

/** Reads every folder below `…/policy/exposures`, each with its perils. */
export function compileExposures(folder: string, context: ExposureContext): ExposureDefinition[] {
  const { archive } = context
  const exposures = new Map<string, ExposureDefinition>()
  const exposuresByPeril = new Map<string, string>()
  for (const folderName of archive.foldersIn(folder)) {
    const path = `${folder}/${folderName}`
    const exposure = compileExposure(path, folderName, context)
    if (exposure === undefined) continue
    const message = `Another exposure has the name '${exposure.name}' too. Rename one of them.`
    if (exposures.has(exposure.name))
      archive.report.at({ path: `${path}/exposure.json` }).error('duplicateName', message)
    exposures.set(exposure.name, exposure)
    for (const peril of exposure.perils) {
      const other = exposuresByPeril.get(peril.name) ?? exposure.name
      exposuresByPeril.set(peril.name, other)
      const shared = `The peril '${peril.name}' is in the exposure '${other}' too; each is priced by its own script. Rename one of them to keep them apart.`
      if (other !== exposure.name)
        archive.report.at({ path: `${path}/perils` }).warning('sharedPerilName', shared)
    }
  }
  return [...exposures.values()]
}

function compileExposure(
  folder: string,
  folderName: string,
  context: ExposureContext,
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
  const name = checkedName(value.name, folderName, report)
  return {
    name,
    displayName: displayNameOf(name, value.displayName),
    fields: compileFields(value.fields, 'exposure', report.at('fields'), context),
    perils,
  }
}

function compilePerils(folder: string, context: ExposureContext): PerilDefinition[] {
  const { archive } = context
  const names = archive.namesIn(folder)
  const stems = names.filter(name => name.endsWith('.json')).map(name => name.slice(0, -'.json'.length))
  const perils = new Map<string, PerilDefinition>()
  for (const stem of stems) {
    const peril = compilePeril(folder, stem, context)
    if (peril === undefined) continue
    const message = `Another peril of this exposure has the name '${peril.name}' too. Rename one of them.`
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
  const name = checkedName(decoded?.value.name, stem, decoded?.report)
  const premium =
    script(`${folder}/${stem}${PREMIUM_SUFFIX}`) ??
    (name === stem ? undefined : script(`${folder}/${name}${PREMIUM_SUFFIX}`))
  const unpriced = `Nothing prices the peril '${name}'. Add ${stem}${PREMIUM_SUFFIX} beside it, or enable the plugin getPerilRates.`
  if (premium !== undefined) checkSets(premium, 'premium', archive.report)
  else if (!context.isPricedElsewhere) archive.report.at({ path }).error('missingPremiumScript', unpriced)
  if (decoded === undefined) return undefined
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

/** The name in the file wins over that of the file or folder. */
function checkedName(inside: string | undefined, outside: string, report: ValueReport | undefined): string {
  if (inside === undefined || report === undefined) return outside
  const differs = `The name is '${inside}', but the file or folder is called '${outside}'. The name counts; make them equal.`
  if (inside.normalize('NFC') !== outside) report.at('name').warning('nameDiffersFromFile', differs)
  const reserved = `'${inside}' is a reserved word. Choose another name.`
  if (inside === '__proto__') report.at('name').error('badName', reserved)
  return inside
}
