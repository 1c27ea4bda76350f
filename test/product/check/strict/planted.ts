// Mistakes that price a policy wrongly without any visible error. Each is planted alone in a sound strict product, with the place
// where the check must find it. `in` names the product: that of `npx bindery new`, or an example.
export type Base = 'starter' | 'motor' | 'home'

export type Planted = {
  readonly what: string
  readonly in?: Base
  /**
   * By path from the policy folder of the product, or from the root with `/scripts/…`: the text to replace and its replacement,
   * or a whole file.
   */
  readonly edits: Readonly<Record<string, readonly [from: string, to: string] | string>>
  readonly code: string
  /** The file of the finding. By default, the first edited file. */
  readonly foundIn?: string
  /** Text of the reported line. */
  readonly line: string
  /** Text that the message must contain. */
  readonly says?: string
}

const THEFT = 'exposures/bicycle/perils/theft.premium.liquid'
const DAMAGE = 'exposures/bicycle/perils/damage.premium.liquid'
const BICYCLE = 'exposures/bicycle/exposure.json'
const RATES = 'tables/theft_rate.csv'
const FEES = 'policy.calculations.liquid'
const GUIDELINES = 'underwriting.guidelines.liquid'
const SCHEDULE = 'schedule.template.liquid'
const TAX = 'taxes/insurance_tax.premium.liquid'
const MOTOR = 'exposures/vehicle/perils'
const RATER = '/scripts/main/rater.js'
const UNDERWRITER = '/scripts/main/underwriter.js'
const INSTALLMENTS = '/scripts/main/installments.js'

const DAMAGE_FORMULA = 'data.exposure_characteristics.field_values.value | times: 0.021'

const plugin = (file: string): readonly [string, string] => [
  `"path": "main/${file}", "enabled": false`,
  `"path": "main/${file}", "enabled": true`,
]

const unknownPaths: Planted[] = [
  {
    what: 'premum for premium',
    edits: { [TAX]: ['.premium |', '.premum |'] },
    code: 'unknownPath',
    line: 'premum',
    says: "Did you mean 'premium'?",
  },
  {
    what: 'a field with a typing error, by way of a variable',
    edits: { [THEFT]: ['values.value |', 'values.valeu |'] },
    code: 'unknownPath',
    line: 'valeu',
    says: "Did you mean 'value'?",
  },
  {
    what: 'a variable with a typing error',
    edits: { [THEFT]: ['{{ year_premium | round', '{{ year_premum | times: 1 | round'] },
    code: 'unknownPath',
    line: 'year_premum',
    says: "Did you mean 'year_premium'?",
  },
  {
    what: 'a field of the policy that is asked of the exposure',
    edits: { [DAMAGE]: ['field_values.value', 'field_values.channel'] },
    code: 'unknownPath',
    line: 'channel',
    says: 'data.policy_characteristics.field_values.channel',
  },
  {
    what: 'a record that is skipped in a path',
    edits: { [SCHEDULE]: ['data.policyholder.entity.values', 'data.policyholder.values'] },
    code: 'unknownPath',
    line: 'data.policyholder.values',
    says: "There is 'data.policyholder.entity.values'.",
  },
  {
    what: 'the fields of an exposure without their characteristics',
    edits: { [SCHEDULE]: ['exposure.characteristics.last.field_values', 'exposure.field_values'] },
    code: 'unknownPath',
    line: 'exposure.field_values',
    says: "There is 'exposure.characteristics.last.field_values'.",
  },
  {
    what: 'the fields without their record',
    edits: { [DAMAGE]: ['.field_values.value', '.value'] },
    code: 'unknownPath',
    line: '.value |',
    says: ".field_values.value'",
  },
  {
    what: 'camelCase in a template',
    edits: { [DAMAGE]: ['exposure_characteristics', 'exposureCharacteristics'] },
    code: 'unknownPath',
    line: 'exposureCharacteristics',
    says: "Did you mean 'exposure_characteristics'?",
  },
  {
    what: 'the premium in the script that makes it',
    edits: {
      [DAMAGE]: [
        DAMAGE_FORMULA,
        'data.peril_characteristics.premium | plus: data.exposure_characteristics.field_values.value',
      ],
    },
    code: 'unknownPath',
    line: 'peril_characteristics.premium',
  },
  {
    what: 'a name of a list that only its entries have',
    edits: {
      [GUIDELINES]: [
        '{% for exposure in data.policy.exposures %}',
        '{% for exposure in data.policy.characteristics.exposures %}',
      ],
    },
    code: 'unknownPath',
    line: 'characteristics.exposures',
  },
  {
    what: 'an unknown path in a document',
    edits: { [SCHEDULE]: ['policy.display_id', 'policy.dispay_id'] },
    code: 'unknownPath',
    line: 'dispay_id',
    says: "Did you mean 'display_id'?",
  },
  {
    what: 'a field of a group with a typing error',
    in: 'motor',
    edits: { [`${MOTOR}/liability.premium.liquid`]: ['driver.birth_date', 'driver.birthdate'] },
    code: 'unknownPath',
    line: 'driver.birthdate',
    says: "Did you mean 'birth_date'?",
  },
  {
    what: 'a member of the input of a plugin with a typing error',
    in: 'motor',
    edits: {
      [RATER]: ['data.policyExposurePerils', 'data.policyExposurePeril'],
      'policy.json': plugin('rater.js'),
    },
    code: 'unknownPath',
    line: 'data.policyExposurePeril)',
    says: "Did you mean 'policyExposurePerils'?",
  },
  {
    what: 'a function of socotraApi with a typing error',
    in: 'motor',
    edits: {
      [RATER]: [
        'function mileageFactor',
        "const unused = () => socotraApi.tablelookup(0, 'region_factor', 'R1')\nfunction mileageFactor",
      ],
      'policy.json': plugin('rater.js'),
    },
    code: 'unknownPath',
    line: 'tablelookup',
    says: "Did you mean 'tableLookup'?",
  },
  {
    what: 'a member of an entry of a list, in a plugin',
    in: 'motor',
    edits: {
      [RATER]: ['exposure.characteristics)', 'exposure.charateristics)'],
      'policy.json': plugin('rater.js'),
    },
    code: 'unknownPath',
    line: 'exposure.charateristics',
  },
  {
    what: 'a destructured member, in a plugin',
    in: 'motor',
    edits: {
      [INSTALLMENTS]: ['charge.coverageStartTimestamp', 'charge.coverageStart'],
      'policy.json': plugin('installments.js'),
    },
    code: 'unknownPath',
    line: 'charge.coverageStart)',
  },
  {
    what: 'snake_case in a plugin',
    in: 'motor',
    edits: {
      [UNDERWRITER]: [
        'data.policy.characteristics[data.policy.characteristics.length - 1]',
        'data.policy.characteristics[data.policy_characteristics.length - 1]',
      ],
      'policy.json': plugin('underwriter.js'),
    },
    code: 'unknownPath',
    line: 'data.policy_characteristics.length',
  },
]

const unknownTables: Planted[] = [
  {
    what: 'a table with a typing error',
    edits: { [THEFT]: ['"theft_rate"', '"theft_rates"'] },
    code: 'missingTable',
    line: 'theft_rates',
    says: "Did you mean 'theft_rate'?",
  },
  {
    what: 'a table by way of a variable',
    edits: {
      [THEFT]: [
        '{% assign rate = "theft_rate" | lookup',
        '{% assign table = "theft_rat" %}{% assign rate = table | lookup',
      ],
    },
    code: 'missingTable',
    line: 'table | lookup',
    says: "Did you mean 'theft_rate'?",
  },
  {
    what: 'a table in a plugin, by way of a function of it',
    in: 'motor',
    edits: { [RATER]: ["'liability_base'", "'liability_bse'"], 'policy.json': plugin('rater.js') },
    code: 'missingTable',
    line: 'liability_bse',
    says: "Did you mean 'liability_base'?",
  },
  {
    what: 'a table in a plugin',
    in: 'motor',
    edits: {
      [RATER]: [
        'function mileageFactor',
        "const unused = () => socotraApi.tableLookup(0, 'region_factors', 'R1')\nfunction mileageFactor",
      ],
      'policy.json': plugin('rater.js'),
    },
    code: 'missingTable',
    line: 'region_factors',
    says: "Did you mean 'region_factor'?",
  },
  {
    what: 'a table of choices that a plugin looks up in',
    in: 'motor',
    edits: { [RATER]: ["'liability_base'", "'vehicle_types'"], 'policy.json': plugin('rater.js') },
    code: 'notALookupTable',
    line: "'vehicle_types'",
  },
  {
    what: 'a table that is not there any more',
    edits: { [RATES]: '', [THEFT]: ['"theft_rate"', '"theft_rate" '] },
    code: 'missingTable',
    foundIn: THEFT,
    line: '"theft_rate" ',
  },
]

const numbersWithLetters: Planted[] = [
  {
    what: 'a letter O in a rate',
    edits: { [RATES]: ['city,0.045', 'city,0.O45'] },
    code: 'badNumber',
    line: 'city,0.O45',
    says: "write '0.045'",
  },
  {
    what: 'a letter O at the beginning of a rate',
    edits: { [RATES]: ['electric,0.062', 'electric,O.062'] },
    code: 'badNumber',
    line: 'electric,O.062',
  },
  {
    what: 'a letter l for a one',
    edits: { [RATES]: ['race,0.071', 'race,0.07l'] },
    code: 'badNumber',
    line: 'race,0.07l',
    says: "write '0.071'",
  },
  {
    what: 'a comma for a point',
    edits: { [RATES]: ['race,0.071', 'race,"0,071"'] },
    code: 'badNumber',
    line: '"0,071"',
    says: "Write a decimal with a point, not a comma: '0.071'",
  },
  {
    what: 'a percentage',
    edits: { [RATES]: ['city,0.045', 'city,4.5%'] },
    code: 'badNumber',
    line: '4.5%',
    says: "'0.045'",
  },
  {
    what: 'a currency beside an amount, in a table of plugins',
    in: 'motor',
    edits: {
      'tables/liability_base.csv': ['2135-AAB,142.80', '2135-AAB,142.80 EUR'],
      'policy.json': plugin('rater.js'),
    },
    code: 'badNumber',
    line: '142.80 EUR',
  },
  {
    what: 'a comma in a number of a template',
    edits: { [DAMAGE]: ['times: 0.021', 'times: "0,021"'] },
    code: 'badNumber',
    line: '"0,021"',
    says: "Write a decimal with a point, not a comma: '0.021'",
  },
  {
    what: 'a letter O in a column that is only printed',
    in: 'motor',
    edits: { 'tables/vehicle_types.csv': ['3333-BKH,Ford,Fiesta,2018', '3333-BKH,Ford,Fiesta,2O18'] },
    code: 'badNumber',
    line: '2O18',
  },
]

const textInSums: Planted[] = [
  {
    what: 'a column of words',
    edits: { [RATES]: 'key,value\ncity,low\nelectric,medium\nrace,high\n' },
    code: 'textInSum',
    line: 'key,value',
    says: 'theft.premium.liquid:',
  },
  {
    what: 'a word in a column of numbers',
    edits: { [RATES]: ['race,0.071', 'race,none'] },
    code: 'textInSum',
    line: 'race,none',
  },
  {
    what: 'an empty cell in a column of numbers',
    edits: { [RATES]: ['race,0.071', 'race,'] },
    code: 'textInSum',
    line: 'race,',
  },
  {
    what: 'the choice in the place of its rate',
    edits: { [THEFT]: ['times: rate', 'times: values.kind'] },
    code: 'textInSum',
    line: 'times: values.kind',
    says: "'city'",
  },
  {
    what: 'a text field in a sum',
    edits: {
      [BICYCLE]: ['"name": "kind"', '"name": "frame_number", "type": "string" },\n    { "name": "kind"'],
      [THEFT]: ['times: rate', 'times: rate | plus: values.frame_number'],
    },
    code: 'textInSum',
    foundIn: THEFT,
    line: 'values.frame_number',
  },
  {
    what: 'a list in a sum',
    in: 'motor',
    edits: {
      [`${MOTOR}/theft.premium.liquid`]: ['times: protection_factor', 'times: vehicle.anti_theft_devices'],
    },
    code: 'textInSum',
    line: 'times: vehicle.anti_theft_devices',
    says: 'a list',
  },
]

const delimiters: Planted[] = [
  {
    what: 'semicolons',
    edits: { [RATES]: 'key;value\ncity;0.045\nelectric;0.062\nrace;0.071\n' },
    code: 'wrongDelimiter',
    line: 'key;value',
    says: 'semicolons',
  },
  {
    what: 'tabs',
    edits: { [RATES]: 'key\tvalue\ncity\t0.045\nelectric\t0.062\nrace\t0.071\n' },
    code: 'wrongDelimiter',
    line: 'key',
    says: 'tabs',
  },
  {
    what: 'bars',
    edits: { [RATES]: 'key|value\ncity|0.045\nelectric|0.062\nrace|0.071\n' },
    code: 'wrongDelimiter',
    line: 'key',
    says: 'bars',
  },
  {
    what: 'semicolons in a table of choices',
    in: 'motor',
    edits: { 'tables/vehicle_types.csv': 'type_code;make;model;year\n0005-CPG;BMW;320d Touring;2022\n' },
    code: 'wrongDelimiter',
    line: 'type_code;make',
  },
  {
    what: 'semicolons with decimal commas',
    edits: { [RATES]: 'key;value\ncity;0,045\nelectric;0,062\nrace;0,071\n' },
    code: 'wrongDelimiter',
    line: 'key;value',
  },
]

const rows: Planted[] = [
  {
    what: 'a key in another case',
    edits: { [RATES]: ['city,0.045', 'City,0.045'] },
    code: 'rowNeverMatches',
    line: 'City,0.045',
    says: "'city'",
  },
  {
    what: 'a key with a typing error',
    edits: { [RATES]: ['electric,0.062', 'electrc,0.062'] },
    code: 'rowNeverMatches',
    line: 'electrc',
    says: "Did you mean 'electric'?",
  },
  {
    what: 'a key with a blank before it',
    edits: { [RATES]: ['race,0.071', ' race,0.071'] },
    code: 'rowNeverMatches',
    line: ' race',
    says: 'blank',
  },
  {
    what: 'a key beyond the greatest value of a number',
    in: 'motor',
    edits: { 'tables/claims_free_factor.csv': ['35,0.20', '35,0.20\n36,0.19'] },
    code: 'rowNeverMatches',
    line: '36,0.19',
  },
  {
    what: 'a key that the table of choices does not have',
    in: 'home',
    edits: { 'tables/protection_factor.csv': ['PA-SCR,1.02', 'PA-SCR,1.02\nPA-ERI,1.01'] },
    code: 'rowNeverMatches',
    line: 'PA-ERI',
  },
  {
    what: 'a key that is there already',
    edits: { [RATES]: ['race,0.071', 'city,0.071\nrace,0.071'] },
    code: 'duplicateTableKey',
    line: 'city,0.071',
  },
  {
    what: 'a branch for a value that the field never has',
    edits: { [THEFT]: ['== "street"', '== "streets"'] },
    code: 'neverHolds',
    line: '"streets"',
    says: "Did you mean 'street'?",
  },
  {
    what: 'a case for a value that the field never has',
    in: 'motor',
    edits: { [`${MOTOR}/liability.premium.liquid`]: ['{% when "commuting" %}', '{% when "comuting" %}'] },
    code: 'neverHolds',
    line: 'comuting',
  },
]

const missingRows: Planted[] = [
  {
    what: 'a value of a select field without a row',
    edits: { [RATES]: ['race,0.071\n', ''] },
    code: 'missingRow',
    line: 'electric,0.062',
    says: "no row for 'race'",
  },
  {
    what: 'a new value of a select field',
    edits: { [BICYCLE]: ['"race"]', '"race", "cargo"]'] },
    code: 'missingRow',
    foundIn: RATES,
    line: 'race,0.071',
    says: "'cargo'",
  },
  {
    what: 'a number without a row',
    in: 'motor',
    edits: { 'tables/claims_free_factor.csv': ['17,0.28\n', ''] },
    code: 'missingRow',
    line: '35,0.20',
    says: "'17'",
  },
  {
    what: 'a row of a table of choices without a rate',
    in: 'motor',
    edits: { 'tables/own_damage_rate.csv': ['8566-BRK,0.0179\n', ''] },
    code: 'missingRow',
    line: '3333-BKH',
    says: "'8566-BRK'",
  },
  {
    what: 'a value of a field of a group without a row',
    in: 'home',
    edits: { 'tables/item_rate.csv': ['instrument,0.0080\n', ''] },
    code: 'missingRow',
    line: 'other,0.0120',
    says: "'instrument'",
  },
  {
    what: 'a key that a plugin writes out',
    in: 'motor',
    edits: {
      [RATER]: ["factor('region_factor', valueOf(policy, 'region_class'))", "factor('region_factor', 'R7')"],
      'policy.json': plugin('rater.js'),
    },
    code: 'missingRow',
    line: "'R7'",
  },
]

const BANDS = 'tables/age_bands.csv'

const ranges: Planted[] = [
  {
    what: 'branches with a hole',
    in: 'motor',
    edits: {
      [`${MOTOR}/liability.premium.liquid`]: [
        '{% elsif vehicle.annual_mileage_km <= 25000 %}',
        '{% elsif vehicle.annual_mileage_km > 15001 and vehicle.annual_mileage_km <= 25000 %}',
      ],
    },
    code: 'rangeHole',
    line: '{% if vehicle.annual_mileage_km <= 9000 %}',
    says: "'vehicle.annual_mileage_km' 15001",
  },
  {
    what: 'branches that leave out the bound itself',
    edits: {
      [DAMAGE]: `{% assign value = data.exposure_characteristics.field_values.value %}
{% if value < 1000 %}
  {% assign rate = 0.03 %}
{% elsif value > 1000 %}
  {% assign rate = 0.02 %}
{% endif %}
{{ value | times: rate | round: 2 | set_year_premium }}
`,
    },
    code: 'rangeHole',
    line: '{% if value < 1000 %}',
    says: ' 1000',
  },
  {
    what: 'branches that overlap',
    edits: {
      [DAMAGE]: `{% assign value = data.exposure_characteristics.field_values.value %}
{% if value >= 0 and value <= 1000 %}
  {% assign rate = 0.03 %}
{% elsif value >= 900 and value <= 5000 %}
  {% assign rate = 0.02 %}
{% else %}
  {% assign rate = 0.01 %}
{% endif %}
{{ value | times: rate | round: 2 | set_year_premium }}
`,
    },
    code: 'rangeOverlap',
    line: 'value >= 900',
    says: '900 to 1000',
  },
  {
    what: 'a branch that is never taken',
    in: 'motor',
    edits: {
      [`${MOTOR}/liability.premium.liquid`]: [
        '{% elsif vehicle.annual_mileage_km <= 25000 %}',
        '{% elsif vehicle.annual_mileage_km <= 12000 %}',
      ],
    },
    code: 'rangeOverlap',
    line: '<= 12000',
    says: 'never taken',
  },
  {
    what: 'a branch outside of the bounds of the field',
    in: 'motor',
    edits: {
      [`${MOTOR}/liability.premium.liquid`]: [
        '{% if vehicle.annual_mileage_km <= 9000 %}',
        '{% if vehicle.annual_mileage_km < 0 %}',
      ],
    },
    code: 'rangeOverlap',
    line: '< 0 %}',
    says: 'never taken',
  },
  {
    what: 'a table with a hole',
    edits: { [BANDS]: 'from,to,factor\n0,17,1.4\n18,25,1.2\n30,64,1\n65,99,1.1\n' },
    code: 'rangeHole',
    line: '30,64,1',
    says: '25 and 30',
  },
  {
    what: 'a table with an overlap',
    edits: { [BANDS]: 'age_min,age_max,factor\n0,17,1.4\n18,25,1.2\n24,64,1\n65,,1.1\n' },
    code: 'rangeOverlap',
    line: '24,64,1',
  },
  {
    what: 'a table with an overlap in one of its groups',
    edits: {
      [BANDS]: 'region,from,to,factor\nA,0,10,1\nA,10,20,2\nB,0,10,1\nB,5,20,2\nC,0,10,1\nC,10,20,1\n',
    },
    code: 'rangeOverlap',
    line: 'B,5,20,2',
    says: 'of B',
  },
  {
    what: 'keys that are ranges, with a hole',
    edits: { [BANDS]: 'key,value\n0-9,1.4\n10-19,1.2\n21-29,1\n30+,0.9\n' },
    code: 'rangeHole',
    line: '21-29,1',
  },
  {
    what: 'a range that ends before it begins',
    edits: { [BANDS]: 'from,to,factor\n0,17,1.4\n25,18,1.2\n26,64,1\n' },
    code: 'rangeOverlap',
    line: '25,18,1.2',
  },
]

const unused: Planted[] = [
  {
    what: 'a field of the exposure',
    edits: { [THEFT]: ['values.kept', 'values.kind'], [SCHEDULE]: [', kept in: {{ values.kept }}', ''] },
    code: 'unusedField',
    foundIn: BICYCLE,
    line: '"kept"',
  },
  {
    what: 'a field of the policy',
    edits: { 'policy.json': [', "informational": true', ''] },
    code: 'unusedField',
    line: '"channel"',
  },
  {
    what: 'a new field that was forgotten in the premium',
    edits: {
      [BICYCLE]: [
        '"name": "kind"',
        '"name": "lock", "type": "select", "values": ["none", "chain"] },\n    { "name": "kind"',
      ],
    },
    code: 'unusedField',
    line: '"lock"',
  },
  {
    what: 'a field of a peril',
    in: 'motor',
    edits: {
      [`${MOTOR}/glass.premium.liquid`]: [
        'data.peril_characteristics.field_values.original_parts',
        'data.operation',
      ],
    },
    code: 'unusedField',
    foundIn: `${MOTOR}/glass.json`,
    line: '"original_parts"',
  },
  {
    what: 'a field of a group',
    in: 'home',
    edits: {
      'policy.json': [
        '"values": ["fire", "water", "wind", "theft", "other"], "informational": true',
        '"values": ["fire", "water", "wind", "theft", "other"]',
      ],
    },
    code: 'unusedField',
    line: '"name": "cause"',
    says: "group 'losses'",
  },
]

const premiums: Planted[] = [
  {
    what: 'a factor that is 0',
    edits: { [DAMAGE]: ['times: 0.021', 'times: 0'] },
    code: 'premiumAlwaysZero',
    line: 'times: 0 ',
  },
  {
    what: 'a variable that is 0 to begin with, and never changed',
    edits: {
      [THEFT]: ['{% assign year_premium = values.value | times: rate %}', '{% assign year_premium = 0 %}'],
    },
    code: 'premiumAlwaysZero',
    line: 'set_year_premium',
  },
  {
    what: 'a premium in one branch only',
    edits: {
      [DAMAGE]: `{% assign values = data.exposure_characteristics.field_values %}
{% if values.kind == "race" %}
  {{ values.value | times: 0.03 | set_year_premium }}
{% elsif values.kind == "city" %}
  {{ values.value | times: 0.02 | set_year_premium }}
{% endif %}
`,
    },
    code: 'premiumUnset',
    line: '{% if values.kind == "race" %}',
  },
  {
    what: 'a case without one of its values',
    in: 'motor',
    edits: {
      'exposures/driver_protection/perils/personal_accident.premium.liquid': [
        '{% when "manual" or "driving" %}',
        '{% when "manual" %}',
      ],
    },
    code: 'unsetVariable',
    line: 'assign year_premium',
    says: "'rate'",
  },
  {
    what: 'a premium in a loop over what may be empty',
    in: 'home',
    edits: {
      'exposures/personal_property/perils/scheduled_property.premium.liquid': `{% assign groups = data.exposure_characteristics.field_groups_by_locator %}
{% for locator in data.exposure_characteristics.field_values.items %}
  {% assign item = groups[locator] %}
  {% assign rate = "item_rate" | lookup: item.category %}
  {{ item.item_value | times: rate | round: 2 | add_premium }}
{% endfor %}
`,
    },
    code: 'premiumUnset',
    line: '{% for locator',
  },
  {
    what: 'a factor that may be left out',
    edits: {
      [BICYCLE]: [
        '"type": "number", "decimalPlaces": 2,',
        '"type": "number", "optional": true, "decimalPlaces": 2,',
      ],
    },
    code: 'premiumCanBeZero',
    foundIn: DAMAGE,
    line: 'set_year_premium',
    says: 'field_values.value',
  },
  {
    what: 'a variable that is set in one branch only',
    edits: {
      [THEFT]: [
        '{% assign rate = "theft_rate" | lookup: values.kind %}',
        '{% if values.kept == "cellar" %}{% assign rate = "theft_rate" | lookup: values.kind %}{% endif %}',
      ],
    },
    code: 'unsetVariable',
    line: 'times: rate',
  },
  {
    what: 'a script that sets the technical premium only',
    edits: { [DAMAGE]: ['set_year_premium', 'set_year_technical_premium'] },
    code: 'scriptSetsNothing',
    line: '',
  },
]

const repairs: Planted[] = [
  {
    what: 'a brace too many',
    edits: { [DAMAGE]: ['{{ data', '{{{ data'] },
    code: 'extraBrace',
    line: '{{{',
  },
  {
    what: 'an output within a tag',
    edits: { [THEFT]: ['values.value | times', '{{ values.value }} | times'] },
    code: 'bracesInMarkup',
    line: '{{ values.value }} | times',
  },
  {
    what: 'a case that is not closed',
    edits: {
      [DAMAGE]: `{% case data.exposure_characteristics.field_values.kind %}
{% when "race" %}{% assign rate = 0.03 %}
{% else %}{% assign rate = 0.02 %}
{{ ${DAMAGE_FORMULA.replace('0.021', 'rate')} | set_year_premium }}
`,
    },
    code: 'blockNotClosed',
    line: '{% case',
  },
  {
    what: 'a filter without its input',
    edits: { [FEES]: ['{{ 5 | add_fee', '{{ | plus: 5 | add_fee'] },
    code: 'missingInput',
    line: '| plus: 5',
  },
  {
    what: 'curly quotes',
    edits: { [THEFT]: ['"street"', '“street”'] },
    code: 'curlyQuote',
    line: '“street”',
  },
  {
    what: 'an output with one brace',
    edits: { [GUIDELINES]: ['{{ "none" |', '{ "none" |'] },
    code: 'markupNotOpened',
    line: '{ "none" |',
  },
  {
    what: 'a second equals sign',
    edits: { [THEFT]: ['assign year_premium = values', 'assign year_premium = = values'] },
    code: 'doubledEqualsSign',
    line: '= = values',
  },
]

const effects: Planted[] = [
  {
    what: 'a decision that is none of the three',
    edits: { [GUIDELINES]: ['"none" | set_', '"refer" | set_'] },
    code: 'unknownDecision',
    line: '"refer"',
    says: 'Write accept, reject, or none',
  },
  {
    what: 'a fee in a premium',
    edits: { [DAMAGE]: `{{ 5 | add_fee: "policy_fee" }}\n{{ ${DAMAGE_FORMULA} | set_year_premium }}` },
    code: 'effectIgnored',
    line: 'add_fee',
    says: 'policy.calculations.liquid',
  },
  {
    what: 'a decision that is none of the three, by way of a variable',
    edits: {
      [GUIDELINES]: `{% assign decision = "accept" %}
{% if data.policy.exposures.size > 5 %}{% assign decision = "decline" %}{% endif %}
{{ decision | set_underwriting_decision }}`,
    },
    code: 'unknownDecision',
    line: '{{ decision',
    says: "'decline'",
  },
  {
    what: 'a premium in the script of the fees',
    edits: { [FEES]: ['| add_fee', '| set_year_premium }}\n{{ 5 | add_fee'] },
    code: 'effectIgnored',
    line: 'set_year_premium',
    says: 'the premium script of a peril',
  },
  {
    what: 'a note of underwriting in a premium',
    edits: { [THEFT]: ['{{ year_premium', '{{ "Dear." | add_underwriting_note }}{{ year_premium'] },
    code: 'effectIgnored',
    line: 'add_underwriting_note',
  },
  {
    what: 'a decision in a document',
    edits: { [SCHEDULE]: ['</body>', '{{ "none" | set_underwriting_decision }}</body>'] },
    code: 'effectIgnored',
    line: 'set_underwriting_decision',
  },
  {
    what: 'guidelines that decide nothing',
    edits: { [GUIDELINES]: '{{ "Refer to an underwriter." | add_underwriting_note }}' },
    code: 'scriptSetsNothing',
    line: '',
    says: 'every policy is referred',
  },
  {
    what: 'a fee that is not declared, by way of a variable',
    edits: { [FEES]: '{% assign name = "polcy_fee" %}{{ 5 | add_fee: name }}' },
    code: 'unknownFee',
    line: 'add_fee: name',
    says: "Did you mean 'policy_fee'?",
  },
  {
    what: 'a key that is a number',
    edits: { [THEFT]: ['lookup: values.kind', 'lookup: 7'] },
    code: 'keyNotText',
    line: 'lookup: 7',
    says: '7 is a number',
  },
  {
    what: 'a key that is worked out',
    edits: {
      [THEFT]: [
        '{% assign rate = "theft_rate" | lookup: values.kind',
        '{% assign band = values.value | divided_by: 1000 | floor %}\n{% assign rate = "theft_rate" | lookup: band',
      ],
    },
    code: 'keyNotText',
    line: 'lookup: band',
    says: 'append',
  },
]

export const PLANTED: Readonly<Record<string, readonly Planted[]>> = {
  'unknown paths': unknownPaths,
  'unknown tables': unknownTables,
  'numbers with letters': numbersWithLetters,
  'text in sums': textInSums,
  delimiters,
  'rows that never match': rows,
  'missing rows': missingRows,
  'ranges with holes or overlaps': ranges,
  'unused fields': unused,
  'premiums of nothing': premiums,
  'effects and keys that fail': effects,
  'repairs of untidy templates': repairs,
}
