// The two files that only screens read. Checks read only the names of fields in them, so these schemas are for authors.
import { z } from 'zod'
import { about, flag, list, name, text } from '../../src/product/check/json/scalars.ts'

const formField = z.looseObject({
  name: about(name, 'A field of policyholder.dictionary.json.', 'first_name'),
  prompt: about(
    text.optional(),
    'What stands beside the input. Left out: the title of the field.',
    'First name',
  ),
  required: about(
    flag.optional(),
    'Whether the screen asks until there is a value. Left out: `false`.',
    true,
  ),
  updateable: about(flag.optional(), 'Whether it can be changed later. Left out: `true`.', true),
  visibleIf: about(
    z.record(z.string(), z.unknown()).optional(),
    'Shows the input only while each of these fields has this value.',
    { kind: 'company' },
  ),
})

const section = z.looseObject({
  title: about(text.optional(), 'The headline.', 'Name'),
  fields: about(list(formField), 'The inputs, in their order.', [
    { name: 'first_name', prompt: 'First name' },
  ]),
})

const page = z.looseObject({
  title: about(text.optional(), 'The headline.', 'Customer'),
  sections: about(list(section), 'Its parts, in their order.', [
    { title: 'Name', fields: [{ name: 'first_name' }] },
  ]),
})

/** policyholder/policyholder.form.json */
export const formFile = z.looseObject({
  pages: about(list(page).optional(), 'How a screen asks for a policyholder.', [
    { title: 'Customer', sections: [{ title: 'Name', fields: [{ name: 'first_name' }] }] },
  ]),
})

/** policyholder/policyholder.card.json */
export const cardFile = z.looseObject({
  leftText: about(
    text.optional(),
    'What stands on the left of the line; `{{field}}` is the value of a field, `{{policyholder_id}}` the locator.',
    '{{first_name}} {{last_name}}',
  ),
  rightText: about(text.optional(), 'What stands on the right.', '{{postcode}} {{city}}'),
})
