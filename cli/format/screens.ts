// The two files that only screens read. Checks read only the names of fields in them, so these schemas are for authors.
import { z } from 'zod'
import { about, flag, list, name, text } from '../../src/product/check/json/scalars.ts'

const formField = z.looseObject({
  name: about(name, 'The name of a field in policyholder.dictionary.json.', 'first_name'),
  prompt: about(text.optional(), 'The label of the input. Default: the title of the field.', 'First name'),
  required: about(flag.optional(), 'Whether the screen requires a value. Default: `false`.', true),
  updateable: about(flag.optional(), 'Whether the value can be changed later. Default: `true`.', true),
  visibleIf: about(
    z.record(z.string(), z.unknown()).optional(),
    'Shows the input only while each of these fields has the given value.',
    { kind: 'company' },
  ),
})

const section = z.looseObject({
  title: about(text.optional(), 'The heading.', 'Name'),
  fields: about(list(formField), 'The inputs, in order.', [{ name: 'first_name', prompt: 'First name' }]),
})

const page = z.looseObject({
  title: about(text.optional(), 'The heading.', 'Customer'),
  sections: about(list(section), 'The sections, in order.', [
    { title: 'Name', fields: [{ name: 'first_name' }] },
  ]),
})

/** policyholder/policyholder.form.json */
export const formFile = z.looseObject({
  pages: about(list(page).optional(), 'The pages of the policyholder form.', [
    { title: 'Customer', sections: [{ title: 'Name', fields: [{ name: 'first_name' }] }] },
  ]),
})

/** policyholder/policyholder.card.json */
export const cardFile = z.looseObject({
  leftText: about(
    text.optional(),
    'The text on the left of the line. `{{field}}` is the value of a field, `{{policyholder_id}}` the locator.',
    '{{first_name}} {{last_name}}',
  ),
  rightText: about(text.optional(), 'The text on the right of the line.', '{{postcode}} {{city}}'),
})
