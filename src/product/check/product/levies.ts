// Fees and taxes: what a product adds to the premium.
import type { FeeDefinition, TaxDefinition, TemplateSource } from '../../configuration.ts'
import type { FileIndex } from '../file-index.ts'
import { decodeFile } from '../json/decode.ts'
import { present } from '../json/scalars.ts'
import { checkUniqueNames, displayNameOf } from '../names.ts'
import type { Report } from '../report.ts'
import { feesFile, taxesFile } from './files.ts'
import { checkSets } from './templates.ts'

export function compileFees(path: string, files: FileIndex, report: Report): FeeDefinition[] {
  const file = files.take(path)
  const decoded = file && decodeFile(file, () => feesFile, report)
  if (decoded === undefined) return []
  const list = present(decoded.value.fees)
  checkUniqueNames(
    list.map(([index, { name }]) => ({ name, path: ['fees', index, 'name'] })),
    'fee',
    decoded.place,
    report,
  )
  return list.map(([, { name, displayName, proration }]) => ({
    name,
    displayName: displayName?.trim() || displayNameOf(name),
    proration,
  }))
}

/** The taxes of `…/policy/taxes`. No plugin computes a tax, so each needs its script. */
export function compileTaxes(
  folder: string,
  files: FileIndex,
  script: (path: string) => TemplateSource | undefined,
  report: Report,
): TaxDefinition[] {
  const file = files.take(`${folder}/taxes.json`)
  const decoded = file && decodeFile(file, () => taxesFile, report)
  const list = present(decoded?.value.taxes)
  const taxes = list.map(([index, { name, displayName }]): TaxDefinition => {
    const premium = script(`${folder}/${name}.premium.liquid`)
    if (premium === undefined)
      report.error(
        decoded!.place(['taxes', index]),
        'missingTaxScript',
        `The tax '${name}' has no script. Add taxes/${name}.premium.liquid, or remove the tax.`,
      )
    else checkSets(premium, 'tax', report)
    return {
      name,
      displayName: displayName?.trim() || displayNameOf(name),
      ...(premium !== undefined && { premium }),
    }
  })
  if (decoded !== undefined)
    checkUniqueNames(
      list.map(([index, { name }]) => ({ name, path: ['taxes', index, 'name'] })),
      'tax',
      decoded.place,
      report,
    )
  for (const name of files.namesIn(folder)) {
    const stem = /^(.*)\.premium\.liquid$/.exec(name)?.[1]
    if (stem === undefined || taxes.some(tax => tax.name.normalize('NFC') === stem)) continue
    files.take(`${folder}/${name}`)
    report.warning(
      { path: `${folder}/${name}` },
      'orphanScript',
      `There is no tax '${stem}'. Add it to taxes.json, or remove the script.${report.meant(
        stem,
        taxes.map(tax => tax.name),
      )}`,
    )
  }
  return taxes
}
