// Premiums that are sound, in ways that could be taken for mistakes: nothing may be found in them.
import { expect, test } from 'vitest'
import { compiled, edited } from './strict-archive.ts'

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

test.each(SOUND)('%s', async (_, premium) => {
  const files = edited('starter', { 'exposures/bicycle/perils/damage.premium.liquid': VALUES + premium })
  const { findings } = await compiled(files)
  expect(findings.map(one => `${one.line} ${one.code} ${one.message}`)).toEqual([])
})

test('an optional field that is tested, or given a default, makes no premium 0', async () => {
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
