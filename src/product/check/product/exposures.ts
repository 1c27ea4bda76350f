import type {
  ExposureDefinition,
  PerilDefaults,
  PerilDefinition,
  TemplateSource,
} from '../../configuration.ts'
import { compileFields } from '../fields/fields.ts'
import type { FileIndex } from '../file-index.ts'
import { decodeFile } from '../json/decode.ts'
import type { JsonPath } from '../json/read.ts'
import { displayNameOf } from '../names.ts'
import type { Place, Report } from '../report.ts'
import { exposureFile, type PerilFile, perilFile } from './files.ts'
import { checkSets } from './templates.ts'

type ExposureContext = {
  files: FileIndex
  report: Report
  hasTable: (name: string) => boolean
  tableNames: readonly string[]
  /** Reads and checks a Liquid file; undefined when it is not there. */
  script: (path: string) => TemplateSource | undefined
  /** Whether a plugin or an external rater prices perils that have no script. */
  isPricedElsewhere: boolean
}

const PREMIUM_SUFFIX = '.premium.liquid'

/** All exposures below `…/policy/exposures`, each with its perils. */
export function compileExposures(folder: string, context: ExposureContext): ExposureDefinition[] {
  const { files, report } = context
  const exposures = new Map<string, ExposureDefinition>()
  const exposuresByPeril = new Map<string, string>()
  for (const folderName of files.foldersIn(folder)) {
    const exposure = compileExposure(`${folder}/${folderName}`, folderName, context)
    if (exposure === undefined) continue
    if (exposures.has(exposure.name))
      report.error(
        { path: `${folder}/${folderName}/exposure.json` },
        'duplicateName',
        `Another exposure has the name '${exposure.name}' too. Rename one of them.`,
      )
    exposures.set(exposure.name, exposure)
    for (const peril of exposure.perils) {
      const other = exposuresByPeril.get(peril.name)
      if (other === undefined) exposuresByPeril.set(peril.name, exposure.name)
      else if (other !== exposure.name)
        report.warning(
          { path: `${folder}/${folderName}/perils` },
          'sharedPerilName',
          `The peril '${peril.name}' is in the exposure '${other}' too; each is priced by its own script. Rename one of them to keep them apart.`,
        )
    }
  }
  return [...exposures.values()]
}

function compileExposure(
  folder: string,
  folderName: string,
  context: ExposureContext,
): ExposureDefinition | undefined {
  const { files, report, hasTable, tableNames } = context
  const path = `${folder}/exposure.json`
  const file = files.take(path)
  if (file === undefined)
    report.error({ path }, 'missingFile', 'The exposure has no exposure.json. Add it, or remove the folder.')
  const decoded = file && decodeFile(file, () => exposureFile, report)
  const perils = compilePerils(`${folder}/perils`, context)
  if (decoded === undefined) return undefined
  const { value, place } = decoded
  const name = checkedName(value.name, folderName, place, report)
  return {
    name,
    displayName: value.displayName?.trim() || displayNameOf(name),
    fields: compileFields(value.fields, ['fields'], {
      owner: 'exposure',
      place,
      report,
      hasTable,
      tableNames,
    }),
    perils,
  }
}

function compilePerils(folder: string, context: ExposureContext): PerilDefinition[] {
  const { files, report } = context
  const names = files.namesIn(folder)
  const stems = names.filter(name => name.endsWith('.json')).map(name => name.slice(0, -'.json'.length))
  const perils = new Map<string, PerilDefinition>()
  for (const stem of stems) {
    const peril = compilePeril(folder, stem, context)
    if (peril === undefined) continue
    if (perils.has(peril.name))
      report.error(
        { path: `${folder}/${stem}.json` },
        'duplicateName',
        `Another peril of this exposure has the name '${peril.name}' too. Rename one of them.`,
      )
    perils.set(peril.name, peril)
  }
  const named = new Set(stems)
  const scripts = names.filter(name => name.endsWith(PREMIUM_SUFFIX))
  for (const script of scripts) {
    const stem = script.slice(0, -PREMIUM_SUFFIX.length)
    if (named.has(stem) || perils.has(stem)) continue
    files.take(`${folder}/${script}`)
    report.warning(
      { path: `${folder}/${script}` },
      'orphanScript',
      `There is no peril '${stem}'. Add ${stem}.json, or remove the script.${report.meant(stem, stems)}`,
    )
  }
  return [...perils.values()]
}

function compilePeril(folder: string, stem: string, context: ExposureContext): PerilDefinition | undefined {
  const { files, report, hasTable, tableNames, script } = context
  const path = `${folder}/${stem}.json`
  const decoded = decodeFile(files.take(path)!, () => perilFile, report)
  const name = checkedName(decoded?.value.name, stem, decoded?.place, report)
  const premium =
    script(`${folder}/${stem}${PREMIUM_SUFFIX}`) ??
    (name === stem ? undefined : script(`${folder}/${name}${PREMIUM_SUFFIX}`))
  if (premium !== undefined) checkSets(premium, 'premium', report)
  else if (!context.isPricedElsewhere)
    report.error(
      { path },
      'missingPremiumScript',
      `Nothing prices the peril '${name}'. Add ${stem}${PREMIUM_SUFFIX} beside it, or enable the plugin getPerilRates.`,
    )
  if (decoded === undefined) return undefined
  const { value, place } = decoded
  checkAmounts(value, place, report)
  return {
    name,
    displayName: value.displayName?.trim() || displayNameOf(name),
    fields: compileFields(value.fields, ['fields'], { owner: 'peril', place, report, hasTable, tableNames }),
    defaults: perilDefaults(value),
    ...(premium !== undefined && { premium }),
  }
}

const amounts = [
  'indemnityPerItem',
  'indemnityPerEvent',
  'indemnityInAggregate',
  'deductible',
  'lumpSumPayment',
] as const

function checkAmounts(file: PerilFile, place: (path: JsonPath) => Place, report: Report): void {
  for (const amount of amounts)
    if (file[amount]?.startsWith('-'))
      report.error(
        place([amount]),
        'badBounds',
        `'${amount}' is ${file[amount]}; it must not be below 0. Correct the amount.`,
      )
}

function perilDefaults(file: PerilFile): PerilDefaults {
  const defaults: PerilDefaults = {}
  for (const amount of amounts) if (file[amount] !== undefined) defaults[amount] = file[amount]
  return defaults
}

/** The name inside the file counts; where it is missing, that of the file or folder. */
function checkedName(
  inside: string | undefined,
  outside: string,
  place: ((path: JsonPath) => Place) | undefined,
  report: Report,
): string {
  if (inside === undefined || place === undefined) return outside
  if (inside.normalize('NFC') !== outside)
    report.warning(
      place(['name']),
      'nameDiffersFromFile',
      `The name is '${inside}', but the file or folder is called '${outside}'. The name counts; make them equal.`,
    )
  if (inside === '__proto__')
    report.error(place(['name']), 'badName', `'${inside}' is a reserved word. Choose another name.`)
  return inside
}
