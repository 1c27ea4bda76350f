// Sound premiums that could be mistaken for errors. The check must find nothing in them.
import { expect, test } from 'vitest'
import { compiled, edited, textOf } from './strict-archive.ts'

const VALUES = '{% assign values = data.exposure_characteristics.field_values %}\n'

const SOUND: readonly (readonly [what: string, premium: string])[] = [
  [
    'a word that a branch sets, and others ask for',
    `{% if values.value > 5000 %}{% assign dear = "yes" %}{% else %}{% assign dear = "no" %}{% endif %}
{% if dear == "yes" %}{% assign rate = 0.03 %}{% endif %}
{% if dear == "no" %}{% assign rate = 0.02 %}{% endif %}
{{ values.value | times: rate | set_year_premium }}`,
  ],
  [
    'the same question asked twice, of what is worked out',
    `{% assign year = data.policy_characteristics.start_timestamp | timestamp_millis_print: "YYYY" %}
{% if year contains "7" %}{% assign rate = 0.03 %}{% endif %}
{% unless year contains '7' %}{% assign rate = 0.02 %}{% endunless %}
{{ values.value | times: rate | set_year_premium }}`,
  ],
  [
    'a case of what is worked out, and a second one of the same values',
    `{% assign day = data.policy_characteristics.start_timestamp | timestamp_millis_print: "EEE" %}
{% case day %}{% when "Mon" %}{% assign rate = 0.03 %}{% when "Tue" %}{% assign base = 10 %}{% else %}{% assign base = 5 %}{% endcase %}
{% case day %}{% when "Mon" %}{% assign base = rate | times: 100 %}{% endcase %}
{{ values.value | times: 0.02 | plus: base | set_year_premium }}`,
  ],
  [
    'a case that has every value of a select field',
    `{% case values.kept %}{% when "cellar" %}{% assign rate = 0.02 %}{% when "yard", "street" %}{% assign rate = 0.03 %}{% endcase %}
{{ values.value | times: rate | set_year_premium }}`,
  ],
  [
    'branches that have every value between the bounds of the field',
    `{% if values.value < 1000 %}{% assign rate = 0.03 %}{% elsif values.value <= 15000 %}{% assign rate = 0.02 %}{% endif %}
{{ values.value | times: rate | set_year_premium }}`,
  ],
  [
    'two bands of many, and the rest as it was',
    `{% assign factor = 1 %}
{% if values.value < 500 %}{% assign factor = 1.2 %}{% elsif values.value > 5000 %}{% assign factor = 0.9 %}{% endif %}
{{ values.value | times: 0.02 | times: factor | set_year_premium }}`,
  ],
  [
    'a variable that is asked for before it is set',
    `{% for exposure in data.policy.exposures %}{% unless count %}{% assign count = 0 %}{% endunless %}{% assign count = count | plus: 1 %}{% endfor %}
{{ values.value | times: 0.02 | plus: count | set_year_premium }}`,
  ],
  [
    'a default in the place of a variable that a loop may set',
    `{% for exposure in data.policy.exposures %}{% if forloop.index > 1 %}{% assign several = 0.95 %}{% endif %}{% endfor %}
{% assign factor = several | default: 1 %}
{{ values.value | times: 0.02 | times: factor | set_year_premium }}`,
  ],
  [
    'a premium of 0 for one value',
    `{% if values.kind == "city" %}{{ 0 | set_year_premium }}{% else %}{{ values.value | times: 0.02 | set_year_premium }}{% endif %}`,
  ],
  [
    'a field by a name that is worked out',
    `{% assign name = "va" | append: "lue" %}{{ values[name] | times: 0.02 | set_year_premium }}`,
  ],
]

test.each(SOUND)('nothing is found in %s', async (_, premium) => {
  const files = edited('starter', { 'exposures/bicycle/perils/damage.premium.liquid': VALUES + premium })
  const { findings } = await compiled(files)
  expect(findings.map(one => `${one.line} ${one.code} ${one.message}`)).toEqual([])
})

test('an optional field that is tested, or has a default or minimum, is not reported as a possible premium of 0', async () => {
  for (const premium of [
    '{% if values.value %}{{ values.value | times: 0.02 | set_year_premium }}{% else %}{{ 30 | set_year_premium }}{% endif %}',
    '{{ values.value | default: 500 | times: 0.02 | set_year_premium }}',
    '{{ values.value | times: 0.02 | at_least: 30 | set_year_premium }}',
    '{{ values.value | times: 0.02 | plus: 30 | set_year_premium }}',
  ]) {
    const files = edited('starter', {
      'exposures/bicycle/exposure.json': ['"type": "number",', '"type": "number", "optional": true,'],
      'exposures/bicycle/perils/damage.premium.liquid': VALUES + premium,
      'exposures/bicycle/perils/theft.premium.liquid': `${VALUES}{% assign rate = "theft_rate" | lookup: values.kind %}{{ rate | times: 100 | set_year_premium }}`,
    })
    const { findings } = await compiled(files)
    expect(
      findings.map(one => `${one.line} ${one.code} ${one.message}`),
      premium,
    ).toEqual([])
  }
})

test('a group counts as used when its entries are read through the map of groups', async () => {
  const found = async (loop: string) => {
    const files = edited('starter', {
      'exposures/bicycle/exposure.json': [
        '"name": "kind"',
        '"name": "riders", "type": "group", "fields": [{ "name": "age", "type": "number" }] },\n    { "name": "kind"',
      ],
      'exposures/bicycle/perils/damage.premium.liquid': `${VALUES}{% assign rate = 0.02 %}${loop}
{{ values.value | times: rate | set_year_premium }}`,
    })
    return (await compiled(files)).findings.map(one => `${one.code} ${one.message.replace(/\. .*/, '')}`)
  }
  const loop = `{% for pair in data.exposure_characteristics.field_groups_by_locator %}
  {% if pair[1].age < 20 %}{% assign rate = 0.03 %}{% endif %}
{% endfor %}`
  expect(await found(loop)).toEqual([])
  expect(await found('')).toEqual([
    "unusedField No premium, tax, fee, underwriting or document uses the field 'riders' of the exposure 'bicycle'",
  ])
})

test('table rows that only another product looks up are not reported', async () => {
  const files = edited('starter', {
    'tables/theft_rate.csv': 'key,value\ncity,0.045\nelectric,0.062\nrace,0.071\ncargo,0.08\n',
  })
  const alone = await compiled(files)
  expect(alone.findings.map(one => one.code)).toEqual(['rowNeverMatches'])
  for (const [path, content] of Object.entries(files)) {
    const other = path.replace('starter_product', 'cargo_bikes')
    const text = textOf(content).replace('["city", "electric", "race"]', '["cargo"]')
    if (other !== path && !path.endsWith('.csv')) files[other] = text.replace('"race"', '"cargo"')
  }
  expect((await compiled(files)).findings.map(one => `${one.path} ${one.code} ${one.message}`)).toEqual([])
})

test('contiguous range tables are not reported, no matter how their keys and ends are written', async () => {
  for (const table of [
    'from,to,factor\n0,10,1\n10,20,2\n20,,3\n',
    'from,to,factor\n0,9,1\n10,19,2\n20,29,3\n',
    'from,to,factor\n0,9.99,1\n10,19.99,2\n20,*,3\n',
    'age_min,age_max,sex,factor\n0,17,M,1\n0,17,F,1.1\n18,99,M,2\n18,99,F,2.1\n',
    'region,from,to,factor\nA,0,10,1\nA,10,20,2\nB,5,10,1\nB,10,15,2\n',
    'min,max,class,factor\n0,10,1,0.5\n0,10,2,0.6\n5,20,1,0.7\n',
    'key,value\n0-9,1\n10-19,2\n20+,3\n',
    'start,end,note\nMonday,Friday,x\nSaturday,Sunday,y\n',
  ]) {
    const { findings } = await compiled(edited('starter', { 'tables/bands.csv': table }))
    expect(
      findings.map(one => `${one.line} ${one.code} ${one.message}`),
      table,
    ).toEqual([])
  }
})
