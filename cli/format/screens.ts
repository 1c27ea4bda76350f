// The two files for screens. Checks report only unknown names of fields in them, so these schemas are for authors.
import { z } from 'zod'
import { flag, list, name, text, withDescription } from '../../src/product/check/json/scalars.ts'

const formField = z.looseObject({
  name: withDescription(name, 'The name of a field in policyholder.dictionary.json.', 'first_name'),
  prompt: withDescription(
    text.optional(),
    'The label of the input. Default: the title of the field.',
    'First name',
  ),
  required: withDescription(flag.optional(), 'Whether the screen requires a value. Default: `false`.', true),
  updateable: withDescription(
    flag.optional(),
    'Whether the value can be changed later. Default: `true`.',
    true,
  ),
  visibleIf: withDescription(
    z.record(z.string(), z.unknown()).optional(),
    'Shows the input only while each of these fields has the given value.',
    { kind: 'company' },
  ),
})

const section = z.looseObject({
  title: withDescription(text.optional(), 'The heading.', 'Name'),
  fields: withDescription(list(formField), 'The inputs, in order.', [
    { name: 'first_name', prompt: 'First name' },
  ]),
})

const page = z.looseObject({
  title: withDescription(text.optional(), 'The heading.', 'Customer'),
  sections: withDescription(list(section), 'The sections, in order.', [
    { title: 'Name', fields: [{ name: 'first_name' }] },
  ]),
})

/** policyholder/policyholder.form.json */
export const formFile = z.looseObject({
  pages: withDescription(list(page).optional(), 'The pages of the policyholder form.', [
    { title: 'Customer', sections: [{ title: 'Name', fields: [{ name: 'first_name' }] }] },
  ]),
})

/** policyholder/policyholder.card.json */
export const cardFile = z.looseObject({
  leftText: withDescription(
    text.optional(),
    'The text on the left of the line. `{{field}}` is the value of a field, `{{policyholder_id}}` the locator.',
    '{{first_name}} {{last_name}}',
  ),
  rightText: withDescription(text.optional(), 'The text on the right of the line.', '{{postcode}} {{city}}'),
})
