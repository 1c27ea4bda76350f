// A copy of examples/motor with a mistake in most of its files, each of another kind, and what the check must say of it.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const EXAMPLE = join(import.meta.dirname, '../../examples/motor/configuration')
const POLICY = 'products/private_motor/policy'
const EXPOSURES = `${POLICY}/exposures`

export type Mistake = {
  what: string
  path: string
  /** The text to replace and its replacement, or the new path of the file, or its removal. */
  edit: readonly [string, string] | { renamed: string } | 'removed'
  /** The file of the finding, if it is not the edited one. */
  foundIn?: string
  code: string
  /** Text on the reported line. Absent if the mistake concerns the file as a whole. */
  line?: string
  /** What the message must contain: what is wrong, and what to do. */
  says: readonly string[]
}

export const MISTAKES: readonly Mistake[] = [
  {
    what: 'a time zone that there is not',
    path: 'config.json',
    edit: ['Europe/Berlin', 'Europe/Berln'],
    code: 'unknownTimeZone',
    line: '"timezone"',
    says: ["'Europe/Berln' is not a time zone", "Did you mean 'Europe/Berlin'?"],
  },
  {
    what: 'a currency that there is not',
    path: 'config.json',
    edit: ['"EUR"', '"EURO"'],
    code: 'unknownCurrency',
    line: '"currency"',
    says: ["'EURO' is not an ISO 4217 currency code", "Did you mean 'EUR'?"],
  },
  {
    what: 'a property with a typing error',
    path: `${POLICY}/policy.json`,
    edit: ['"type": "phone", "optional": true', '"type": "phone", "optinal": true'],
    code: 'unknownProperty',
    line: '"optinal"',
    says: ["'fields[4].optinal' is not a known property", "Did you mean 'optional'?"],
  },
  {
    what: 'a pattern that does not compile',
    path: `${POLICY}/policy.json`,
    edit: ['BRK-[0-9]{4}', 'BRK-[0-9{4}'],
    code: 'badRegex',
    line: 'BRK-[0-9{4}',
    says: ['The pattern does not compile', 'RE2 syntax'],
  },
  {
    what: 'a payment schedule of no type',
    path: `${POLICY}/policy.json`,
    edit: ['"type": "quarterly"', '"type": "quaterly"'],
    code: 'badValue',
    line: '"quaterly"',
    says: ["'paymentSchedules[", "'quaterly'", "Did you mean 'quarterly'?"],
  },
  {
    what: 'a field of a type that there is not',
    path: `${EXPOSURES}/vehicle/exposure.json`,
    edit: ['"title": "Kind", "type": "select"', '"title": "Kind", "type": "slect"'],
    code: 'unknownFieldType',
    line: '"slect"',
    says: ["'vehicle_kind' has the type 'slect'", "Did you mean 'select'?"],
  },
  {
    what: 'a table that there is not',
    path: `${EXPOSURES}/vehicle/exposure.json`,
    edit: ['"table": "vehicle_types"', '"table": "vehicle_typs"'],
    code: 'missingTable',
    line: '"vehicle_typs"',
    says: ["the table 'vehicle_typs', which no product has", "Did you mean 'vehicle_types'?"],
  },
  {
    what: 'two fields of one name',
    path: `${EXPOSURES}/driver_protection/exposure.json`,
    edit: ['"fields": [', '"fields": [\n    { "name": "occupation_class", "type": "string" },'],
    code: 'duplicateName',
    line: '"name": "occupation_class",\n      "title"',
    says: ["'occupation_class' is defined twice", 'Rename or remove one'],
  },
  {
    what: 'conditions that go round in a circle',
    path: `${EXPOSURES}/trailer/exposure.json`,
    edit: [
      '"fields": [',
      `"fields": [
    { "name": "a", "type": "string", "condition": { "b": "x" } },
    { "name": "b", "type": "string", "condition": { "a": "x" } },`,
    ],
    code: 'circularConditions',
    line: '"name": "a"',
    says: ['depends on itself through other fields: a → b → a', 'Remove one of these conditions'],
  },
  {
    what: 'a least value above the greatest',
    path: 'policyholder/policyholder.dictionary.json',
    edit: ['"minimum": 0, "maximum": 20', '"minimum": 30, "maximum": 20'],
    code: 'badBounds',
    line: '"name": "children"',
    says: ["The minimum 30 of 'children' is above its maximum 20"],
  },
  {
    what: 'a default amount that is none',
    path: `${EXPOSURES}/vehicle/perils/glass.json`,
    edit: ['"deductible": 0', '"deductible": "none"'],
    code: 'badValue',
    line: '"deductible"',
    says: ["'deductible' must be a plain decimal number, not 'none'"],
  },
  {
    what: 'a peril that nothing rates',
    path: `${EXPOSURES}/vehicle/perils/theft.premium.liquid`,
    edit: 'removed',
    foundIn: `${EXPOSURES}/vehicle/perils/theft.json`,
    code: 'missingPremiumScript',
    says: ["Nothing prices the peril 'theft'", 'Add theft.premium.liquid next to it'],
  },
  {
    what: 'a premium of a peril that there is not',
    path: `${EXPOSURES}/driver_protection/perils/personal_accident.premium.liquid`,
    edit: { renamed: `${EXPOSURES}/driver_protection/perils/personal_acident.premium.liquid` },
    code: 'orphanScript',
    says: ["There is no peril 'personal_acident'", "Did you mean 'personal_accident'?"],
  },
  {
    what: 'a filter that there is not',
    path: `${EXPOSURES}/vehicle/perils/own_damage.premium.liquid`,
    edit: ['| set_year_technical_premium', '| set_year_tecnical_premium'],
    code: 'unknownFilter',
    line: 'set_year_tecnical_premium',
    says: ["'set_year_tecnical_premium'", "Did you mean 'set_year_technical_premium'?"],
  },
  {
    what: 'a block of Liquid that is not closed',
    path: `${EXPOSURES}/vehicle/perils/glass.premium.liquid`,
    edit: ['{% endif %}\n', ''],
    code: 'blockNotClosed',
    line: '{% if data.peril_characteristics',
    says: ["'if' is not closed", "Add '{% endif %}'"],
  },
  {
    what: 'a row that lacks a column',
    path: `${POLICY}/tables/own_damage_rate.csv`,
    edit: ['0035-AXZ,0.0176', '0035-AXZ'],
    code: 'badTable',
    line: '0035-AXZ',
    says: ['The row has 1 cell, but the header has 2', 'Add or remove commas'],
  },
  {
    what: 'a key that a table has twice',
    path: `${POLICY}/tables/region_factor.csv`,
    edit: ['R4,1.08', 'R3,1.08'],
    code: 'duplicateTableKey',
    line: 'R3,1.08',
    says: ["The key 'R3' is already in line 4", 'Remove one of the two rows'],
  },
  {
    what: 'JSON with a comma too many',
    path: `${POLICY}/renewals.json`,
    edit: ['"generatingEvent": "issue"\n    }\n  ]', '"generatingEvent": "issue"\n    },\n  ]'],
    code: 'badSyntax',
    line: '\n  ]',
    says: ["Remove the comma before this ']'"],
  },
  {
    what: 'a template that there is not',
    path: `${POLICY}/endorsements.json`,
    edit: [
      '"reprice": "all",\n      "documents": [\n        {\n          "displayName": "Endorsement",\n          "fileName": "endorsement.pdf",\n          "templateName": "endorsement.template.liquid"',
      '"reprice": "all",\n      "documents": [\n        {\n          "displayName": "Endorsement",\n          "fileName": "endorsement.pdf",\n          "templateName": "endorsment.template.liquid"',
    ],
    code: 'missingTemplate',
    line: '"endorsment.template.liquid"',
    says: ["uses the template 'endorsment.template.liquid'", "Did you mean 'endorsement.template.liquid'?"],
  },
  {
    what: 'a word that is not among those allowed',
    path: `${POLICY}/endorsements.json`,
    edit: ['"reprice": "never"', '"reprice": "nevr"'],
    code: 'badValue',
    line: '"nevr"',
    says: ["one of 'never', 'always', 'all', 'input', not 'nevr'", "Did you mean 'never'?"],
  },
  {
    what: 'a document that is made at no such time',
    path: `${POLICY}/cancellations.json`,
    edit: [
      '"fileName": "reinstatement.pdf",\n            "templateName": "reinstatement.template.liquid",\n            "generatingEvent": "issue"',
      '"fileName": "reinstatement.pdf",\n            "templateName": "reinstatement.template.liquid",\n            "trigger": "isued"',
    ],
    code: 'badValue',
    line: '"isued"',
    says: ["'validated', 'priced', 'underwritten', 'accepted', 'issued'", "Did you mean 'issued'?"],
  },
  {
    what: 'a fee that there is not',
    path: `${POLICY}/policy.calculations.liquid`,
    edit: ['add_fee: "policy_fee"', 'add_fee: "policy_fe"'],
    code: 'unknownFee',
    line: '"policy_fe"',
    says: ["the fee 'policy_fe', which is not declared in fees.json", "Did you mean 'policy_fee'?"],
  },
  {
    what: 'a file in a folder that is written with a capital letter',
    path: `${POLICY}/taxes/taxes.json`,
    edit: { renamed: `${POLICY}/Taxes/taxes.json` },
    code: 'unknownFile',
    says: ['is not part of a configuration', `Did you mean '${POLICY}/taxes/taxes.json'?`],
  },
  {
    what: 'a script of a plugin that does not parse',
    path: 'scripts/main/underwriter.js',
    edit: ['function getUnderwritingResult', 'funtion getUnderwritingResult'],
    code: 'badScript',
    line: 'funtion',
    says: ['The script does not parse'],
  },
]

/** Enables the plugin whose script does not parse. Otherwise nothing needs the script. */
const SWITCH = ['"main/underwriter.js", "enabled": false', '"main/underwriter.js", "enabled": true'] as const

/** Where a mistake must be found. */
export type Planted = { path: string; line?: number }

/** Copies the example to the folder and plants all mistakes in it. Returns the place of each, in the order of the list. */
export function plantMistakes(folder: string): Planted[] {
  cpSync(EXAMPLE, folder, { recursive: true })
  replaceIn(join(folder, POLICY, 'policy.json'), SWITCH)
  for (const { path, edit } of MISTAKES) {
    const file = join(folder, path)
    if (edit === 'removed') rmSync(file)
    else if ('renamed' in edit) {
      mkdirSync(dirname(join(folder, edit.renamed)), { recursive: true })
      renameSync(file, join(folder, edit.renamed))
    } else replaceIn(file, edit)
  }
  return MISTAKES.map(({ path, edit, foundIn, line }) => {
    const at = foundIn ?? (typeof edit === 'object' && 'renamed' in edit ? edit.renamed : path)
    return line === undefined ? { path: at } : { path: at, line: lineOf(join(folder, at), line) }
  })
}

function replaceIn(file: string, [from, to]: readonly [string, string]): void {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} does not say: ${from}`)
  writeFileSync(file, text.replace(from, to))
}

/** Returns the line on which the text begins, or the next one if the text begins with a line break. */
function lineOf(file: string, words: string): number {
  const text = readFileSync(file, 'utf8')
  const offset = text.indexOf(words)
  if (offset < 0) throw new Error(`${file} does not say: ${words}`)
  return text.slice(0, offset + (words.startsWith('\n') ? 1 : 0)).split('\n').length
}
